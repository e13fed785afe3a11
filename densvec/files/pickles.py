"""Pickles read as data: what their objects are called and hold. None is made, and nothing is imported or called."""

from __future__ import annotations

import pickle
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

_SPARSEST = 4  # bytes of a pickle for each object, mark and memo in it, at least
_PLAIN = (
    "PROTO FRAME STOP NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG1 BINFLOAT SHORT_BINSTRING BINSTRING "
    "SHORT_BINUNICODE BINUNICODE BINUNICODE8 SHORT_BINBYTES BINBYTES BINBYTES8 EMPTY_TUPLE BINPUT LONG_BINPUT BINGET "
    "LONG_BINGET"
)
_MAKING = "MARK MEMOIZE EMPTY_LIST EMPTY_DICT TUPLE TUPLE1 TUPLE2 TUPLE3 GLOBAL STACK_GLOBAL"


@dataclass(slots=True, eq=False)
class Held:
    """An object of a pickle that is not made: what it is called, what it was to be made of, and its state.

    What was to be added to it as to a list or a dictionary is not kept.
    """

    name: str
    arguments: Any = None  # None for a class or a function itself
    state: Any = None


def read_pickle(file: IO[bytes], size: int, allowed: re.Pattern[str]) -> Any:
    """Return what a pickle of so many bytes holds: plain values, and a `Held` for every object.

    A name, ``module.name``, that is not allowed is a ValueError, and so is damage. Memory grows with what is really
    there, if the file never makes room for more than it has, as ``mmap`` and ``BytesIO`` do.
    """
    try:
        return _Unpickler(file, size, allowed).load()
    except (pickle.UnpicklingError, struct.error, EOFError, LookupError) as error:
        raise ValueError(f"the pickle is truncated or damaged: {error!r}") from error


class _Unpickler(pickle._Unpickler):
    """Python's unpickler with the operations that such files need, and the ones that act replaced.

    It is the one in Python, not the one in C, which ten bytes can make take gigabytes (by the number of a memo).
    """

    stack: list[Any]
    append: Callable[[Any], None]
    pop_mark: Callable[[], list[Any]]

    def __init__(self, file: IO[bytes], size: int, allowed: re.Pattern[str]) -> None:
        super().__init__(file, encoding="latin-1")  # Python 2 has such strings for names and for bytes
        self.allowed = allowed
        self.left = size // _SPARSEST + 1000  # how many more objects, marks and memos there may be

    def find_class(self, module: str, name: str) -> Any:
        """Return what stands for a class or a function, if it is allowed."""
        full = f"{module}.{name}"
        if "." in name or not self.allowed.fullmatch(full):
            raise ValueError(f"the pickle asks for {full[:80]!r}, which no such file needs: nothing was run")
        return Held(full)

    def make(self) -> None:
        """Put what stands for the result of a call on the stack."""
        arguments, function = self.stack.pop(), self.stack.pop()
        if not isinstance(function, Held) or function.arguments is not None or type(arguments) is not tuple:
            raise ValueError("the pickle calls what is neither a class nor a function")
        self.append(Held(function.name, arguments))

    def make_set(self) -> None:
        """Put a list for a set on the stack: the hashes of what it holds might take forever."""
        items = self.pop_mark()
        self.append(items)

    def build(self) -> None:
        """Give an object its state."""
        state, held = self.stack.pop(), self.stack[-1]
        if not isinstance(held, Held) or held.arguments is None or held.state is not None:
            raise ValueError("the pickle gives a state to what can have none")
        held.state = state

    def extend(self, items: list[Any]) -> None:
        """Add items to a list or a set."""
        target = self.stack[-1]
        if isinstance(target, list):
            target += items
        elif not isinstance(target, Held):
            raise ValueError(f"the pickle adds items to a {type(target).__name__}")

    def update(self, items: list[Any]) -> None:
        """Add keys and values to a dictionary, whose keys must be words or numbers."""
        target, keys = self.stack[-1], items[::2]
        if isinstance(target, Held):
            return
        if not isinstance(target, dict) or not {str, int}.issuperset(map(type, keys)):
            raise ValueError("the pickle has a dictionary whose keys are neither words nor numbers")
        target.update(zip(keys, items[1::2], strict=True))

    def last_two(self) -> list[Any]:
        """Take the last two items from the stack."""
        return [self.stack.pop(), self.stack.pop()][::-1]


def _counted(operation: Callable[[Any], None]) -> Callable[[_Unpickler], None]:
    """Return an operation that makes an object, of which a byte can make one that takes a hundred."""

    def load(self: _Unpickler) -> None:
        self.left -= 1
        if self.left < 0:
            raise ValueError("the pickle has more objects than a file of this size can need")
        operation(self)

    return load


def _of_python(names: str) -> dict[bytes, Any]:
    """Return Python's own operations of these names."""
    codes = [getattr(pickle, name) for name in names.split()]
    return {code: pickle._Unpickler.dispatch[code[0]] for code in codes}


_making = {
    **_of_python(_MAKING),
    pickle.EMPTY_SET: lambda self: self.append([]),
    pickle.FROZENSET: _Unpickler.make_set,
    pickle.NEWOBJ: _Unpickler.make,
    pickle.REDUCE: _Unpickler.make,
}
_operations = {
    **_of_python(_PLAIN),
    **{code: _counted(operation) for code, operation in _making.items()},
    pickle.BYTEARRAY8: pickle._Unpickler.dispatch[pickle.BINBYTES8[0]],
    pickle.APPEND: lambda self: self.extend([self.stack.pop()]),
    pickle.APPENDS: lambda self: self.extend(self.pop_mark()),
    pickle.ADDITEMS: lambda self: self.extend(self.pop_mark()),
    pickle.SETITEM: lambda self: self.update(self.last_two()),
    pickle.SETITEMS: lambda self: self.update(self.pop_mark()),
    pickle.BUILD: _Unpickler.build,
}
_Unpickler.dispatch = {code[0]: operation for code, operation in _operations.items()}
