"""llms.txt, the documentation at a glance for language models (llmstxt.org), which conf.py puts beside the pages."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parent
INTRODUCTION = """\
# densvec

> Python package that embeds words as Gaussian densities (Bayesian Skip-gram), behind gensim's Word2Vec interface. A
> word is a Gaussian whose variance says how general it is; each occurrence of a word gets a Gaussian of its own,
> inferred from its context. It runs on a CPU, without a transformer.

- Install: `pip install densvec`; a small English model is part of it: `wv = densvec.load("english")`.
- Train: `densvec.BayesianSkipGram(sentences)`, or `RawText("book.txt")` of `densvec.corpora` for raw text; then
  `wv = model.wv`. From a shell: `densvec train book.txt -o book.dv`.
- Ask: `wv.infer("the [[bank]] of the river")`, `wv.substitutes(word, sentence)`, `wv.hypernyms(word)`,
  `wv.generality(word)`, `wv.most_similar(word, metric="kl")`, `wv.senses(word, corpus)`.
- Files: one safetensors file, `wv.save(path)` and `densvec.load(path)`; nothing in it is ever executed.
"""


def address() -> str:
    """Return where the documentation is, as pyproject.toml says."""
    settings = (DOCS.parent / "pyproject.toml").read_text(encoding="utf-8")
    return re.findall(r'^Documentation = "(.+)"$', settings, re.MULTILINE)[0] + "/en/latest"


def first_words(page: str) -> tuple[str, str]:
    """Return the title of a page, and its first sentence."""
    title, _, rest = re.sub(r"(?ms)^```.*?^```$", "", page).partition("\n")
    paragraphs = (" ".join(part.split()) for part in rest.split("\n\n"))
    prose = next((part for part in paragraphs if part and part[0] not in "#|!<$-:"), "")
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", prose)
    return title.lstrip("# "), re.split(r"(?<=[\w)`][.?])\s(?=[A-Z(`*])", plain)[0].rstrip(":")


def text() -> str:
    """Return the file: every page of every table of contents in index.md, in its order."""
    found, base = [INTRODUCTION], address()
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for caption, names in re.findall(r"```\{toctree\}.*?:caption: ([^\n]+)\n(.*?)```", index, re.DOTALL):
        found.append(f"## {caption}\n")
        for name in names.split():
            title, sentence = first_words((DOCS / f"{name}.md").read_text(encoding="utf-8"))
            found.append(f"- [{title}]({base}/{name}.html): {sentence}")
        found.append("")
    return "\n".join(found)
