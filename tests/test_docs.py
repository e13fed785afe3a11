"""The documentation: its code runs, prints what it says, and its links and pictures are there."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doc_pages import FIRST, ROOT, alike, blocks, pages, run_page, write

PAGES = pages()


@pytest.fixture(scope="session")
def first(tmp_path_factory):
    """Return where the first page ran, with the files that it leaves to the others, and its outcome."""
    directory = tmp_path_factory.mktemp("tutorial")
    return directory, run_page(FIRST, directory)


@pytest.mark.parametrize("page", PAGES)
def test_page_runs_and_prints_what_it_says(page, first, tmp_path):
    directory, outcome = first
    if page != FIRST:
        shutil.copytree(directory, tmp_path / "page")
        outcome = run_page(page, tmp_path / "page")
    assert not outcome.stale(), "\n\n".join(
        [*outcome.stale(), "python -m tests.doc_pages --write puts it right"]
    )


def test_few_blocks_are_excused():
    found = [block for page in PAGES for block in blocks((ROOT / page).read_text(encoding="utf-8"))]
    code = [block for block in found if block.language in ("python", "console")]
    excused = [block for block in code if block.excuse]
    assert len(excused) <= len(code) / 8
    # A language that nothing runs would slip through unnoticed.
    assert {block.language for block in found} <= {
        "python",
        "console",
        "text",
        "json",
        "math",
        "bibtex",
        "toctree",
        "eval-rst",
    }


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_and_pictures_exist(page):
    path = ROOT / page
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'src="([^"]+)"', text):
        if re.match(r"[a-z]+:|#", target):
            continue
        name = target.split("#")[0]
        assert (path.parent / name).exists(), f"{page} links to {name}"
        if name.endswith(".png"):
            assert (path.parent / name).stat().st_size < 100_000


def test_it_builds_without_warnings(tmp_path):
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    pytest.importorskip("furo")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "docs", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for page in PAGES:
        if page != "README.md":
            assert (tmp_path / Path(page).relative_to("docs").with_suffix(".html")).exists()
    assert_llms_has_every_page((tmp_path / "llms.txt").read_text(encoding="utf-8"))


def assert_llms_has_every_page(text):
    """The overview for language models links to every page but its own start, with a sentence about each."""
    found = re.findall(r"^- \[[^]]+\]\(https://[^)]+/en/latest/(.+)\.html\): \S.{10}", text, re.MULTILINE)
    named = {f"docs/{name}.md" for name in found}
    assert named == {*PAGES} - {"README.md", "docs/index.md"}
    assert "```" not in text


# The tool itself


def test_outputs_are_compared_by_their_words():
    assert alike(["bird 0.51", "owl 0.40"], ["bird 0.52", "owl 0.39"])
    assert not alike(["bird 0.51"], ["fruit 0.51"])
    assert not alike(["bird"], [])
    assert alike([], [])


def test_a_page_can_be_rewritten(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.doc_pages.ROOT", tmp_path)
    (tmp_path / "page.md").write_text("```python\nprint('new')\n```\n\n```text\nold\nlines\n```\n\nend\n")
    outcome = run_page("page.md", tmp_path)
    assert len(outcome.stale()) == 1
    assert write("page.md", outcome)
    assert (tmp_path / "page.md").read_text() == "```python\nprint('new')\n```\n\n```text\nnew\n```\n\nend\n"
    assert not run_page("page.md", tmp_path).stale()


def test_output_that_is_not_shown_may_be_filled_in(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.doc_pages.ROOT", tmp_path)
    page = "```python\nprint('new')\n```\n\nand\n\n```console\n$ ls -1\n```\n"
    (tmp_path / "page.md").write_text(page)
    outcome = run_page("page.md", tmp_path)
    assert not outcome.stale()
    assert not write("page.md", outcome)
    assert write("page.md", outcome, fill=True)
    filled = "```python\nprint('new')\n```\n\n```text\nnew\n```\n\nand\n\n```console\n$ ls -1\npage.md\n```\n"
    assert (tmp_path / "page.md").read_text() == filled


def test_a_failing_block_fails_its_page(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.doc_pages.ROOT", tmp_path)
    (tmp_path / "page.md").write_text("<!-- not run: no such thing -->\n```python\n1 / 0\n```\n")
    assert not run_page("page.md", tmp_path).prints
    for text in (
        "```python\n1 / 0\n```\n",
        "```console\n$ densvec info nothing.dv\n```\n",
        "```console\n$ rm x\n```\n",
    ):
        (tmp_path / "page.md").write_text(text)
        with pytest.raises((ZeroDivisionError, RuntimeError, ValueError)):
            run_page("page.md", tmp_path)
