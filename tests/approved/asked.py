"""Commands asked as a shell would, in this process, and what they say: for pages and for ``said/``.

Figures that depend on the machine are masked by name. Long lists of a JSON are their ends and a
digest of the whole, so that a file stays readable and a change anywhere in it is seen.
"""

import hashlib
import json
import re
import shlex
import sys
import tempfile
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from netloom.base import progress
from netloom.cli import main
from tests.attack.files import FILES

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SAID = HERE / "said"

MASKED = re.compile(
    r"(?<=earched for )\S+\s\S+(?= of processor)|(?<=compiled in )\S+\s\S+|\S+(?= CPU s)"
)
"""What a terminal shows of the machine."""

SEARCHED = {"interrupted", "few_steps"}
"""Fields of answers whose ``seconds`` are those of a search."""

LONGEST, MOST_LINES = 16, 200
"""Entries of a list, and lines of a text, that are all kept."""


def asked_for():
    """The table of commands: ``{name: command}``."""
    lines = (HERE / "commands.txt").read_text().splitlines()
    entries = [line.partition(": ") for line in lines if line and line[0] != "#"]
    table = {name: command for name, _, command in entries}
    assert len(table) == len(entries), "a name stands twice"
    return table


@contextmanager
def in_a_folder():
    """Work in a folder that has ``examples/``, and ``files/`` of every format."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("examples").symlink_to(ROOT / "examples")
        Path("files").mkdir()
        for name, (whole, _) in FILES.items():
            Path("files", name).write_bytes(whole())
        yield Path(folder)


def run(command):
    """Run a command: its exit code, what it printed, and what it said on standard error."""
    out, err = StringIO(), StringIO()
    with (
        patch.object(sys, "argv", ["netloom", *shlex.split(command)]),
        patch.object(progress, "PATIENCE_SECONDS", 86_400.0),  # however slow the machine is
        redirect_stdout(out), redirect_stderr(err),
    ):  # fmt: skip
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
    return code, out.getvalue(), err.getvalue()


def approved(command):
    """What ``said/`` has of a command: its exit code, its text, and its JSON."""
    code, out, err = run(command)
    text = out + err
    lines = [
        f"$ netloom {command}",
        *_ends(MASKED.sub("#", text).rstrip("\n").splitlines()),
        f"exit {code}",
    ]
    if code == 0 and "-h" not in command.split() and "--help" not in command:
        with_json, out, _ = run(f"{command} --json")
        if with_json == 0 and out.startswith("{"):
            lines.append(_written(json.loads(out)))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _ends(lines):
    """Lines, or the ends of many with a digest of all."""
    if len(lines) <= MOST_LINES:
        return lines
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
    return [*lines[:60], f"… {len(lines)} lines, {digest} …", *lines[-5:]]


def shortened(value):
    """A JSON with its numbers to ten digits, masks, and long lists as their ends and a digest."""
    if isinstance(value, dict):
        machine = {"version", "cpu_seconds"} | ({"seconds"} if value.keys() & SEARCHED else set())
        return {key: "#" if key in machine else shortened(each) for key, each in value.items()}
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if not isinstance(value, list):
        return value
    whole = [shortened(each) for each in value]
    if len(whole) <= LONGEST:
        return whole
    digest = hashlib.sha256(json.dumps(whole).encode()).hexdigest()[:12]
    return [*whole[:3], f"… {len(whole)} entries, {digest} …", whole[-1]]


def _written(value):
    """JSON with a line for each entry that holds no other."""

    def flat(inside):
        return not isinstance(inside, dict | list) or all(
            not isinstance(each, dict | list)
            for each in (inside.values() if isinstance(inside, dict) else inside)
        )

    def lines(inside, indent):
        if flat(inside):
            return json.dumps(inside, ensure_ascii=False)
        pad = " " * (indent + 1)
        if isinstance(inside, dict):
            inner = [
                f"{json.dumps(key)}: {lines(each, indent + 1)}" for key, each in inside.items()
            ]
            return "{\n" + ",\n".join(pad + each for each in inner) + "}"
        inner = [lines(each, indent + 1) for each in inside]
        return "[\n" + ",\n".join(pad + each for each in inner) + "]"

    return lines(shortened(value), 0)
