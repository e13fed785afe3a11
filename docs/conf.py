"""How Sphinx builds the documentation: `make docs`."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import llms

import densvec

project = "densvec"
author = "The densvec developers"
copyright = "2026, The densvec developers"
release = version = densvec.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build", "paper"]
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

default_role = "code"  # in docstrings, `name` is code
html_theme = "furo"
html_title = f"densvec {release}"
html_show_sphinx = False

autodoc_typehints = "none"  # numpydoc's types are written for people
autodoc_mock_imports = ["mteb"]  # which is not among what builds this
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": False}
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

suppress_warnings = [
    "misc.highlighting_failure",  # JSON with an ellipsis in it
    "ref.python",  # names of parameters, such as word, that several classes have as attributes
]


def setup(app: Any) -> None:
    """Let Sphinx write llms.txt at the end."""
    app.connect("build-finished", _write_llms)


def _write_llms(app: Any, error: Exception | None) -> None:
    if error is None:
        Path(app.outdir, "llms.txt").write_text(llms.text(), encoding="utf-8")
