"""Draw the pictures of the pages anew: ``python docs/draw.py``, or only those that are named.

``pictures.toml`` has the command of each. Look at the pictures before they are committed.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

DOCS = Path(__file__).parent.resolve()


def drawn() -> dict[str, dict[str, str]]:
    """Return the pictures by name: what each shows, its page, and its command.

    Examples
    --------
    >>> drawn()["dgx-40"]["page"]
    'which-cable-slows-my-job.md'
    """
    return tomllib.loads((DOCS / "pictures.toml").read_text())


def draw(name: str) -> None:
    """Run the command of a picture, which writes it. Of an explorer, a photograph of its page."""
    picture = drawn()[name]
    if picture.get("option") == "--output":
        photograph(picture["command"], DOCS / "pictures" / f"{name}.jpg")
        return
    where = [picture.get("option", "--plot"), str(DOCS / "pictures" / f"{name}.svg")]
    command = [sys.executable, "-m", *shlex.split(picture["command"]), *where]
    subprocess.run(command, cwd=DOCS.parent, check=True)


def photograph(command: str, picture: Path) -> None:
    """Write a picture of the page that a command writes, as Chromium shows it."""
    from playwright.sync_api import sync_playwright

    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "page.html"
        asked = [sys.executable, "-m", *shlex.split(command), "--output", str(page)]
        subprocess.run(asked, cwd=DOCS.parent, check=True)
        browser = playwright.chromium.launch(
            executable_path=which("chromium") or which("google-chrome"),
            args=["--no-sandbox", "--disable-gpu", "--hide-scrollbars"],
        )
        shown = browser.new_page(viewport={"width": 1400, "height": 860})
        shown.goto(page.as_uri())
        shown.wait_for_selector("body[data-ready]")
        shown.screenshot(path=picture, quality=78)
        browser.close()


if __name__ == "__main__":
    for name in sys.argv[1:] or drawn():
        draw(name)
