"""The map in CONTRIBUTING.md shows the house as it is."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAP = re.search(r"## Where things live\n(.*?)\n## ", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)[1]
PACKAGE = Path(__import__("densvec").__file__).parent


def test_everything_is_on_the_map():
    modules = {path.name for path in PACKAGE.glob("*.py") if not path.name.startswith("_")}
    folders = {f"{path.name}/" for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert sorted(name for name in modules | folders if name not in MAP) == []


def test_nothing_else_is_on_the_map():
    named = set(re.findall(r"\b[a-z0-9_]+\.py\b", MAP))
    found = {
        path.name for folder in (PACKAGE, ROOT / "examples", ROOT / "tests") for path in folder.rglob("*.py")
    }
    assert sorted(named - found) == []


def test_the_licence_of_the_english_model_is_in_the_metadata():
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'license = "MIT AND CC-BY-SA-4.0"' in settings
    assert '"densvec/pretrained/LICENSE"' in settings
    for path in ("densvec/pretrained/LICENSE", "README.md", "docs/english.md"):
        assert (
            "CC BY-SA" in (ROOT / path).read_text(encoding="utf-8")
            or "ShareAlike" in (ROOT / path).read_text()
        )
