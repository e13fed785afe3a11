"""Keys and the numbers of their rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from densvec.text.spelling import UnknownKeyError

__all__ = ["BYTES", "KEY_TYPES", "Keys", "refuse_bytes"]

KEY_TYPES = (str, int, np.integer)
"""What names one key: a word, or the number of its row."""

BYTES = (bytes, bytearray, memoryview)
"""Text that was not decoded: the items of bytes are numbers, which would be taken for rows."""


class Keys:
    """Which keys there are, and which row belongs to each."""

    index_to_key: list[str]
    key_to_index: dict[str, int]

    def __len__(self) -> int:
        return len(self.index_to_key)

    def __contains__(self, key: object) -> bool:
        return self.has_index_for(key)

    def has_index_for(self, key: Any) -> bool:
        """Return whether `key` is known.

        Parameters
        ----------
        key : str or int
            A word, or the number of a row.

        Examples
        --------
        >>> wv.has_index_for("dog"), wv.has_index_for("unicorn"), "dog" in wv
        (True, False, True)
        """
        return self.get_index(key, -1) >= 0

    def get_index(self, key: Any, default: int | None = None) -> int:
        """Return the row of `key`.

        Parameters
        ----------
        key : str or int
            A word, or the number of a row.
        default : int, optional
            What to return for an unknown key.

        Raises
        ------
        KeyError
            If the key is unknown and there is no default.

        Examples
        --------
        >>> wv.get_index("dog"), wv.get_index("unicorn", -1)
        (1, -1)
        """
        index = self.key_to_index.get(key, -1)
        if index >= 0:
            return index
        if isinstance(key, bool):
            raise TypeError(f"{key} is neither a word nor the number of a row; {str(key)!r} would be a word")
        if isinstance(key, (int, np.integer)) and 0 <= key < len(self.index_to_key):
            return key  # type: ignore[return-value]  # a row number stands for itself
        if default is not None:
            return default
        refuse_bytes(key)
        raise UnknownKeyError(key, self.key_to_index)

    def _rows(self, keys: Iterable[Any]) -> list[int]:
        """Return the rows of several keys; an unknown one is a KeyError."""
        refuse_bytes(keys)
        return [self.get_index(key) for key in keys]


def refuse_bytes(words: Any) -> None:
    """Raise TypeError if words are given as bytes.

    Examples
    --------
    >>> refuse_bytes(b"the dog")
    Traceback (most recent call last):
    TypeError: b'the dog' is bytes, and words are text: decode it first, b'the dog'.decode()
    """
    if isinstance(words, BYTES):
        shown = bytes(words[:40])
        raise TypeError(f"{shown!r} is bytes, and words are text: decode it first, {shown!r}.decode()")
