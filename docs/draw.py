"""Draw the pictures of the pages anew: ``python docs/draw.py``, or only those that are named.

``pictures.toml`` has the command of each. Look at the pictures before they are committed.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

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
    """Run the command of a picture, which writes it."""
    picture = drawn()[name]
    where = [picture.get("option", "--plot"), str(DOCS / "pictures" / f"{name}.svg")]
    command = [sys.executable, "-m", *shlex.split(picture["command"]), *where]
    subprocess.run(command, cwd=DOCS.parent, check=True)


if __name__ == "__main__":
    for name in sys.argv[1:] or drawn():
        draw(name)
