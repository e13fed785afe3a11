"""What can be wrong with a request, as a status and a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from densvec.answers.messages import sentence

__all__ = [
    "FAULTS_OF_THE_REQUEST",
    "BusyError",
    "NotFoundError",
    "document_of",
    "sentence_of",
    "shortened",
    "status_of",
]

FAULTS_OF_THE_REQUEST = (KeyError, ValueError, IndexError, TypeError)
"""What the library raises for arguments that make no sense."""


class NotFoundError(KeyError):
    """What was asked for does not exist."""


class BusyError(RuntimeError):
    """There is more to do than can be done in time."""


def status_of(error: Exception) -> int:
    """Return the status that an exception stands for.

    Examples
    --------
    >>> status_of(KeyError("unknown word")), status_of(ValueError("topn=-1")), status_of(OSError("disk"))
    (404, 422, 500)
    """
    if isinstance(error, KeyError):
        return 404
    if isinstance(error, BusyError):
        return 503
    return 422 if isinstance(error, FAULTS_OF_THE_REQUEST) else 500


def document_of(error: Exception) -> dict[str, str]:
    """Return an exception as the answer to a request."""
    if status_of(error) == 500:
        return {
            "error": "something went wrong here, which is not the fault of the request: the log says what"
        }
    return {"error": shortened(sentence(error))}


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
    if str(fault.get("type", "")).startswith("json"):
        return f"the body is not JSON: {fault.get('ctx', {}).get('error', fault['msg'])}"
    if isinstance(fault.get("input"), bytes):
        return "the body should be JSON, sent with the header 'Content-Type: application/json'"
    place = ".".join(
        str(part) for part in fault["loc"] if part not in ("body", "query", "one", "many", "path")
    )
    message = str(fault["msg"]).removeprefix("Value error, ")
    if message.startswith("Input should"):
        text = f"{place or 'the body'} {message.removeprefix('Input ')}"
    else:
        message = message[:1].lower() + message[1:]
        text = f"{place}: {message}" if place else message
    got = repr(fault.get("input"))
    if fault.get("type") == "missing":
        return text
    return f"{text}: got {got if len(got) <= 80 else got[:77] + '...'}"
