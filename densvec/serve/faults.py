"""What can be wrong with a request, as a status and a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from densvec.answers.messages import sentence

FAULTS_OF_THE_REQUEST = (KeyError, ValueError, IndexError, TypeError)
"""What the library raises for arguments that make no sense."""


class BusyError(RuntimeError):
    """There is too much to do."""


def answer_to(error: Exception) -> tuple[dict[str, str], int]:
    """Return an exception as the answer to a request, and its status.

    Examples
    --------
    >>> answer_to(KeyError("unknown word")), answer_to(ValueError("topn=-1"))
    (({'error': 'unknown word'}, 404), ({'error': 'topn=-1'}, 422))
    >>> answer_to(OSError("disk"))[1]
    500
    """
    if not isinstance(error, (BusyError, *FAULTS_OF_THE_REQUEST)):
        text = "something went wrong here, which is not the fault of the request: the log says what"
        return {"error": text}, 500
    status = 503 if isinstance(error, BusyError) else 404 if isinstance(error, KeyError) else 422
    return {"error": shortened(sentence(error))}, status


def shortened(text: str) -> str:
    """Return a text without its middle if it is long, because it repeats a long word of the request.

    Examples
    --------
    >>> shortened("there is no '" + 1000 * "x" + "' here").count("x")
    481
    """
    return text if len(text) <= 500 else f"{text[:200]}…{text[-300:]}"


def sentence_of(faults: Sequence[Mapping[str, Any]]) -> str:
    """Return the first of pydantic's findings as a sentence.

    Examples
    --------
    >>> sentence_of([{"loc": ("body", "topn"), "msg": "Input should be a valid integer", "input": "ten"}])
    "topn should be a valid integer: got 'ten'"
    >>> sentence_of([{"loc": ("body", "top"), "msg": "Extra inputs are not permitted", "input": 3}])
    'top: extra inputs are not permitted: got 3'
    """
    fault = faults[0]
    kind, message, given = str(fault.get("type", "")), str(fault["msg"]), fault.get("input")
    if kind.startswith("json"):
        return f"the body is not JSON: {fault.get('ctx', {}).get('error', message)}"
    if isinstance(given, bytes):
        return "the body should be JSON, sent with the header 'Content-Type: application/json'"
    left_out = ("body", "query", "one", "many", "path")
    place = ".".join(str(part) for part in fault["loc"] if part not in left_out)
    message = message.removeprefix("Value error, ")
    if message.startswith("Input should"):
        text = f"{place or 'the body'} {message.removeprefix('Input ')}"
    else:
        text = f"{place}: {message[:1].lower()}{message[1:]}" if place else message
    got = repr(given)
    return text if kind == "missing" else f"{text}: got {got if len(got) <= 80 else got[:77] + '...'}"
