"""``densvec serve`` and ``densvec explore``: answers over HTTP, and a page in the browser."""

from __future__ import annotations

import argparse
import ipaddress
import os
import re
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from densvec.answers.messages import UsageError
from densvec.cli.arguments import Argument, flag, option
from densvec.cli.commands import Command
from densvec.cli.output import print_json

if TYPE_CHECKING:
    from densvec.serve.server import Settings


def _run(args: argparse.Namespace) -> None:
    from densvec.serve.server import listen, run, url_of

    explores = args.command == "explore"
    settings = settings_of(args, paths_of(args.models or ["english"]))
    sock = listen(args.host, args.port)
    url, names = url_of(sock), ", ".join(settings.paths)
    page = url + (f"#token={args.token}" if args.token else "")

    def ready() -> None:
        if args.json:
            print_json({"url": page if explores else url, "models": list(settings.paths), "pid": os.getpid()})
        elif explores:
            print(f"{page} shows {names}; Ctrl-C stops it", flush=True)
        else:
            print(f"{url} answers from {names}; {url}docs lists the routes, Ctrl-C stops it", flush=True)
        if explores and not args.no_browser:
            webbrowser.open(page)

    run(settings, sock, ready)


def settings_of(args: argparse.Namespace, paths: dict[str, str]) -> Settings:
    """Return the settings, or say which option is missing."""
    from densvec.serve.limits import Limits
    from densvec.serve.server import Settings

    if not args.token and not is_local(args.host):
        raise UsageError(
            f"--host {args.host} can be reached from other machines: give a --token that requests must send"
        )
    limits = Limits(args.max_body, args.max_batch, args.max_text, seconds=args.max_seconds)
    if args.corpus is not None and not os.path.isfile(args.corpus):
        raise UsageError(f"--corpus {args.corpus}: there is no such file")
    origins = tuple(args.allow_origin)
    settings = Settings(paths, args.host, args.token or None, origins, limits=limits, corpus=args.corpus)
    if args.command == "explore":
        return settings
    return replace(settings, workers=args.workers, metrics=args.metrics, access_log=args.access_log)


def paths_of(arguments: Sequence[str]) -> dict[str, str]:
    """Return the files by the names of the models: those given, or those of the files.

    Examples
    --------
    >>> paths_of(["english=models/en.dv", "models/de.dv"])
    {'english': 'models/en.dv', 'de': 'models/de.dv'}
    """
    paths: dict[str, str] = {}
    for argument in arguments:
        match = re.fullmatch(r"([\w.-]+)=(.+)", argument)
        name, path = (match[1], match[2]) if match else (Path(argument).name.split(".")[0], argument)
        if name in paths:
            raise UsageError(f"two models are called {name!r}: give them names, as in one=a.dv two=b.dv")
        paths[name] = path
    return paths


def is_local(host: str) -> bool:
    """Whether only this machine can reach an address.

    Examples
    --------
    >>> is_local("127.0.0.1"), is_local("localhost"), is_local("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a number from 0 to 65535")
    return int(text)


def _server_options(port: int) -> list[Argument]:
    """Return the options of commands that listen."""
    return [
        option("--host", "where to listen", "127.0.0.1", metavar="ADDRESS"),
        option("--port", f"0 takes any that is free (default: {port})", port, type=_port),
        option(
            "--token",
            "what requests must send as 'Authorization: Bearer TEXT'; required unless only this machine can connect "
            "(default: $DENSVEC_TOKEN)",
            os.environ.get("DENSVEC_TOKEN"),
        ),
        option(
            "--allow-origin",
            "let pages of this site send requests (default: none)",
            [],
            action="append",
            metavar="URL",
        ),
        option("--corpus", "a text, one sentence per line, to find the senses of words in", metavar="FILE"),
        option("--max-body", "bytes of a request", 1_000_000),
        option("--max-batch", "questions in a request", 256),
        option("--max-text", "characters of a sentence", 10_000),
        option("--max-seconds", "seconds to answer a request", 10),
    ]


SERVE = Command(
    "serve",
    "answer over HTTP, for teams and programs",
    """\
Answer questions about models over HTTP: the same questions as on the command line and in Python, as JSON, at
/v1/similar, /v1/infer, /v1/substitutes, /v1/entails, /v1/hypernyms and more, which /docs lists; the page
that `densvec explore` shows is at /. Models are mapped, so that workers share their memory. SIGHUP loads
replaced files again, SIGTERM stops when the requests in flight are answered. Needs FastAPI and uvicorn:
pip install "densvec[serve]".""",
    """\
examples:
  densvec serve english=en.dv german=de.dv --workers 2  # requests choose with ?model=german
  densvec serve model.dv --host 0.0.0.0 --token "$TOKEN"
  curl -s localhost:8000/v1/similar -H 'content-type: application/json' -d '{"positive": "kiwi"}'""",
    [
        Argument(
            "models", metavar="[NAME=]MODEL", nargs="+", help="files written by `densvec train` or by save()"
        ),
        *_server_options(port=8000),
        option("--workers", "processes that answer", 1),
        flag("--metrics", "count requests, for Prometheus, at /metrics"),
        flag(
            "--access-log", "write a line of JSON for each request to standard error, without what is asked"
        ),
    ],
    _run,
)


EXPLORE = Command(
    "explore",
    "look into a model, in the browser",
    """\
Open a page that shows what a model knows: a word in a sentence and what each word of its context contributed, a
single word, two words side by side, a map. The page is served by this machine and contacts no other. Needs FastAPI
and uvicorn: pip install "densvec[serve]".""",
    """\
examples:
  densvec explore model.dv
  densvec explore english=en.dv german=de.dv
  densvec explore model.dv --no-browser --port 8765  # print the address, open it yourself""",
    [
        Argument(
            "models",
            metavar="[NAME=]MODEL",
            nargs="*",
            help="files written by `densvec train` or by save() (default: the English model)",
        ),
        flag("--no-browser", "only print the address"),
        *_server_options(port=0),
    ],
    _run,
)
