"""What ``console`` blocks of pages show: read, compared, and written anew after a change.

``python -m tests.docs.shown_output docs/map.md ...`` runs the commands of pages and rewrites what
they print. Of an output that is cut by a line of ``...``, as many lines are kept before and after
it as there were.
"""

import contextlib
import doctest
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PROGRESS = re.compile(r"^netloom: .* \(\d+ s\)\n", re.MULTILINE)
"""What a command that takes long says meanwhile, on a slow machine."""


def commands(page):
    """What a page's console blocks ask and show: ``(line, command, output)``."""
    inside, found = False, []
    for number, line in enumerate(page.splitlines(), start=1):
        if line.startswith("```"):
            inside = line.strip() == "```console"
        elif inside and line.startswith("$ "):
            found.append([number, line[2:], ""])
        elif inside and not found[-1][2] and found[-1][1].endswith("\\"):
            found[-1][1] = found[-1][1][:-1] + line.strip()
        elif inside:
            found[-1][2] += line + "\n"
    return found


def same(shown, said):
    """Whether a command prints what a page shows."""
    return not shown or doctest.OutputChecker().check_output(shown.replace("…", "..."), said, FLAGS)


def anew(shown, said):
    """What a page should show of what a command prints, cut where it was cut before."""
    lines, new = shown.splitlines(), [each.rstrip() for each in said.strip("\n").splitlines()]
    cuts = [place for place, line in enumerate(lines) if line.strip() in ("...", "…")]
    if not cuts:
        return "\n".join(new) + "\n"
    head, tail = cuts[0], len(lines) - cuts[-1] - 1
    if head + tail >= len(new):
        return "\n".join(new) + "\n"
    return "\n".join([*new[:head], "...", *new[len(new) - tail :]]) + "\n"


def rewrite(path):
    """Run a page's commands in a folder of their own, and write what they print into it."""
    page = path.read_text()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("examples").symlink_to(ROOT / "examples")
        for _, command, shown in commands(page):
            done = subprocess.run(
                [sys.executable, "-m", *shlex.split(command)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            said = done.stdout + PROGRESS.sub("", done.stderr)
            if shown and not same(shown, said):
                assert page.count(shown) == 1, f"{path}: shown twice: {shown}"
                page = page.replace(shown, anew(shown, said))
    path.write_text(page)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name).resolve())
