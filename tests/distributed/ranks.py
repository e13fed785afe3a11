"""Ranks for tests: processes that are forked from one that has imported torch, over loopback."""

from __future__ import annotations

import multiprocessing
import os
import socket
import traceback
from collections.abc import Callable
from typing import Any

PRELOADED = ["torch.distributed", "densvec", "densvec.distributed.loop", "densvec.datasets", __name__]

_context = multiprocessing.get_context("forkserver") if hasattr(os, "fork") else None
if _context is not None:
    _context.set_forkserver_preload(PRELOADED)


def run_ranks(
    body: Callable[..., Any],
    size: int,
    *arguments: Any,
    timeout: float = 300.0,
    environment: dict[str, str] | None = None,
) -> list[Any]:
    """Call a function on each of some ranks; return what it returned, by rank.

    An exception is returned as its class's name and its text. A rank that ended without either returns None.
    """
    assert _context is not None
    port = _free_port()
    pipes = [_context.Pipe(duplex=False) for _ in range(size)]
    processes = [
        _context.Process(
            target=_be_rank, args=(rank, size, port, sent, environment or {}, body, arguments), daemon=True
        )
        for rank, (_, sent) in enumerate(pipes)
    ]
    for process in processes:
        process.start()
    for _, sent in pipes:
        sent.close()
    results = []
    try:
        for received, _ in pipes:
            try:
                results.append(received.recv() if received.poll(timeout) else None)
            except EOFError:
                results.append(None)
    finally:
        for process in processes:
            process.join(5)
            process.kill()
    return results


def _be_rank(
    rank: int,
    size: int,
    port: int,
    sent: Any,
    environment: dict[str, str],
    body: Callable[..., Any],
    arguments: Any,
) -> None:
    os.environ.update(environment)
    if size > 1:
        os.environ.update(
            RANK=str(rank),
            WORLD_SIZE=str(size),
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT=str(port),
            LOCAL_RANK=str(rank),
        )
    import torch

    torch.set_num_threads(1)
    try:
        result = body(*arguments)
    except BaseException as error:
        if os.environ.get("DENSVEC_TRACE"):
            traceback.print_exc()
        result = (type(error).__name__, str(error))
    sent.send(result)
    sent.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
