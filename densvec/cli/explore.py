"""``densvec explore``: look into a model, in the browser."""

from __future__ import annotations

import argparse
import webbrowser
from collections.abc import Sequence

from densvec.cli.errors import UsageError
from densvec.cli.output import print_json
from densvec.cli.serve import add_server_options, paths_of, settings_of

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "configure", "english_model", "run"]

HELP = "look into a model, in the browser"
DESCRIPTION = """\
Open a page that shows what a model knows: a word in a sentence and what each word of its context contributed, a
single word, two words side by side, a map. The page is served by this machine and contacts no other. Needs FastAPI
and uvicorn: pip install "densvec[serve]"."""
EPILOG = """\
examples:
  densvec explore model.dv
  densvec explore english=en.dv german=de.dv
  densvec explore model.dv --no-browser --port 8765  # print the address, open it yourself"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Add the arguments."""
    parser.add_argument(
        "models",
        metavar="[NAME=]MODEL",
        nargs="*",
        help="files written by `densvec train` or by save() (default: the English model)",
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    add_server_options(parser, port=0)


def run(args: argparse.Namespace) -> None:
    """Serve the page and open it."""
    from densvec.serve.server import listen, url_of
    from densvec.serve.server import run as serve

    paths = paths_of(args.models) or {"english": english_model()}
    settings = settings_of(args, paths)
    sock = listen(args.host, args.port)
    url = url_of(sock) + (f"#token={args.token}" if args.token else "")

    def ready() -> None:
        if args.json:
            print_json({"url": url, "models": list(paths)})
        else:
            print(f"{url} shows {', '.join(paths)}; Ctrl-C stops it", flush=True)
        if not args.no_browser:
            webbrowser.open(url)

    serve(settings, sock, ready)


def english_model() -> str:
    """Return the name of the default model, if this version of densvec has one."""
    import densvec

    if not hasattr(densvec, "load"):
        raise UsageError(
            "give a model, as in `densvec explore model.dv`: this version has no English model of its own"
        )
    return "english"
