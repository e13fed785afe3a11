#!/usr/bin/env python
"""Make the pictures of the page that the documentation shows: ``python docs/screenshots.py [MODEL] [-o DIRECTORY]``.

It serves the model, drives Chromium (the one of the system, or the one named in CHROMIUM) with Playwright, and saves
the four views.
"""

from __future__ import annotations

import argparse
import os
import shutil
import threading
import time
from pathlib import Path

import uvicorn

import densvec
from densvec.serve import Limits, app
from densvec.serve.server import listen, url_of

VIEWS = {
    "sentence": "#/sentence?text=The+bank+raised+its+interest+rates+after+the+crisis.&at=1",
    "word": "#/word?word=bank",
    "compare": "#/compare?a=the+river+%5B%5Bbank%5D%5D+was+flooded+by+the+rain"
    "&b=the+%5B%5Bbank%5D%5D+raised+its+interest+rates",
    "map": "#/map?top=300&skip=400",
}


def take(browser: object, url: str, target: Path) -> None:
    """Save the picture of one view."""
    page = browser.new_page(viewport={"width": 1120, "height": 1000})
    page.goto(url)
    shown = "() => document.querySelector('main').dataset.shown !== undefined && !document.querySelector('main.busy')"
    while not page.evaluate(shown):
        page.wait_for_timeout(100)
    page.wait_for_timeout(600)
    page.screenshot(path=target)
    page.close()
    shrink(target)


def shrink(target: Path) -> None:
    """Give the picture a palette, which is enough for its few colours."""
    try:
        from PIL import Image
    except ImportError:
        return
    Image.open(target).convert("RGB").quantize(160).save(target, optimize=True)


def main() -> None:
    """Serve the page and take its pictures."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="english")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/images"))
    args = parser.parse_args()
    sock = listen("127.0.0.1", 0)
    wv = densvec.load(args.model)
    server = uvicorn.Server(
        uvicorn.Config(app(wv, limits=Limits(seconds=120)), log_level="error", lifespan="off")
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.1)
    with sync_playwright() as playwright:
        found = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for name, view in VIEWS.items():
            target = args.output / f"explore_{name}.png"
            take(browser, url_of(sock) + view, target)
            print(f"{target}, {target.stat().st_size:,} bytes")
        browser.close()
    server.should_exit = True
    thread.join()


if __name__ == "__main__":
    main()
