"""Fonts for words of all scripts."""

from __future__ import annotations

import functools
import warnings

__all__ = ["families_for"]


def families_for(text: str) -> list[str]:
    """Return the font families to write a text with: matplotlib's own, and one that has what that lacks.

    If no installed font has all characters, a warning says what to install, and boxes are drawn.

    Examples
    --------
    >>> import matplotlib
    >>> families_for("kiwi") == matplotlib.rcParams["font.family"]
    True
    """
    import matplotlib as mpl

    own = list(mpl.rcParams["font.family"])
    missing = frozenset(character for character in text if ord(character) > 0x24F and not character.isspace())
    return own if not missing else [*own, *_families_with(missing, tuple(own))]


@functools.lru_cache(maxsize=1024)
def _families_with(characters: frozenset[str], own: tuple[str, ...]) -> tuple[str, ...]:
    """Return the name of a family that has these characters, or nothing if the usual ones do, or none does."""
    from matplotlib import font_manager

    if characters <= _characters_of(font_manager.findfont(font_manager.FontProperties(family=list(own)))):
        return ()
    fonts = sorted(font_manager.fontManager.ttflist, key=lambda font: ("Noto" not in font.name, font.name))
    for font in fonts:
        if "LastResort" in font.name.replace(" ", ""):  # it has a box for every character
            continue
        if font.weight == 400 and font.style == "normal" and characters <= _characters_of(font.fname):
            return (font.name,)
    shown = "".join(sorted(characters))[:20]
    warnings.warn(
        f"no font on this machine has {shown!r}: install one (Debian: apt install fonts-noto-cjk fonts-noto-core), "
        "delete matplotlib's font cache, and draw again",
        UserWarning,
        stacklevel=2,
    )
    return ()


@functools.lru_cache(maxsize=512)
def _characters_of(path: str) -> frozenset[str]:
    from matplotlib import ft2font

    try:
        return frozenset(map(chr, ft2font.FT2Font(path).get_charmap()))
    except (OSError, RuntimeError):  # a damaged font
        return frozenset()
