"""What a release needs agrees with itself: version, addresses, requirements, and the systems that are promised."""

import json
import re
import sys
from pathlib import Path

import pytest

import densvec
from densvec.files.safetensors import HEADER_LIMIT

if sys.version_info < (3, 11):
    pytest.skip("tomllib is part of Python 3.11", allow_module_level=True)
import tomllib

ROOT = Path(__file__).parents[1]
if not (ROOT / ".github").is_dir():
    pytest.skip("these are files of a checkout", allow_module_level=True)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
METADATA = PROJECT["project"]
URLS = METADATA["urls"]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    [
        "CITATION.cff", ".ci/conda/recipe.yaml", ".github/ISSUE_TEMPLATE/config.yml", "examples/tour.ipynb",
        "README.md", "docs/paper/paper.md",
    ],
)  # fmt: skip
def test_addresses_are_those_of_pyproject(name):
    """Whoever moves the project changes pyproject.toml, and finds here what else has the address."""
    found = re.findall(
        r"https://(?:github\.com|colab\.research\.google\.com/github)/[\w.-]+/densvec", text(name)
    )
    home = URLS["Homepage"]
    colab = home.replace("https://github.com", "https://colab.research.google.com/github")
    assert found or "readthedocs" in text(name)
    assert set(found) <= {home, colab}
    documentation = set(re.findall(r"https://[\w.-]+\.readthedocs\.io", text(name)))
    assert documentation <= {URLS["Documentation"]}


def test_all_addresses_are_of_one_place():
    assert {"Homepage", "Documentation", "Issues", "Changelog"} <= URLS.keys()
    assert URLS["Issues"].startswith(URLS["Homepage"])
    assert URLS["Changelog"].startswith(URLS["Homepage"])


def test_the_version_is_the_same_everywhere():
    version = densvec.__version__
    assert f"\nversion: {version}\n" in text("CITATION.cff")
    assert f"\n  version: {version}\n" in text(".ci/conda/recipe.yaml")
    assert re.search(rf"^## {re.escape(version)} ", text("CHANGELOG.md"), re.MULTILINE)


def test_every_python_is_named_built_and_tested():
    named = set(
        re.findall(r"Python :: (3\.\d+)\"", "\n".join(f'{each}"' for each in METADATA["classifiers"]))
    )
    built = {
        f"3.{minor}"
        for minor in re.findall(r"cp3(\d+)-\*", " ".join(PROJECT["tool"]["cibuildwheel"]["build"]))
    }
    assert named == built
    oldest, newest = sorted(named, key=lambda name: int(name[2:]))[:: len(named) - 1]
    assert METADATA["requires-python"] == f">={oldest}"
    assert f'python: ["{oldest}", "{newest}"]' in text(".github/workflows/tests.yml")


def test_conda_asks_for_what_pip_asks_for():
    recipe = text(".ci/conda/recipe.yaml")
    run = re.search(r"\n  run:\n((?:    - .*\n)+)", recipe)[1]
    assert run.replace(" ", "").split() == ["-python", *(f"-{each}" for each in METADATA["dependencies"])]
    host = re.search(r"\n  host:\n((?:    - .*\n)+)", recipe)[1].replace(" ", "").lower().split()
    needed = {f"-{each.lower()}" for each in PROJECT["build-system"]["requires"]}
    assert needed <= set(host)
    assert METADATA["license"] in recipe
    assert METADATA["description"] in recipe


def test_the_container_is_safe_by_default():
    lines = text("Dockerfile").splitlines()
    assert "USER densvec" in lines
    assert any(line.startswith("HEALTHCHECK") for line in lines)
    entry = json.loads(next(line for line in lines if line.startswith("ENTRYPOINT")).partition(" ")[2])
    assert entry[:2] == ["densvec", "serve"]
    from densvec.cli import main

    assert main([*entry[1:], "english"]) == 2  # it can be reached from elsewhere, so it wants a token
    copied = {line[1:] for line in text(".dockerignore").splitlines() if line.startswith("!")}
    assert copied >= {"densvec", "setup.py", "pyproject.toml", *METADATA["license-files"][:1]}


def test_the_checks_before_a_commit_are_those_of_make_lint():
    makefile = text("Makefile").partition("\nlint:")[2].partition("\n\n")[0]
    hooks = re.findall(
        r"entry: (?:env PATH=\S+ )?\.venv/bin/([\w-]+)(?: (check|format))?", text(".pre-commit-config.yaml")
    )
    assert set(hooks) == set(re.findall(r"\$\(BIN\)/([\w-]+)(?: (check|format))?", makefile))


def test_security_says_what_the_loader_does():
    assert f"({HEADER_LIMIT >> 20} MiB at most)" in text(".github/SECURITY.md")


def test_the_paper_has_figures_of_the_readme_and_cites_what_it_lists():
    paper, readme = text("docs/paper/paper.md"), text("README.md").splitlines()
    rows = [line for line in paper.splitlines() if re.search(r"^\| .*\d", line)]
    assert len(rows) > 5
    assert [row for row in rows if row not in readme] == []
    cited = set(re.findall(r"@(\w+\d{4})", paper))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", text("docs/paper/paper.bib"), re.MULTILINE))
