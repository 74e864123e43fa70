"""Draw the house: ``python docs/house.py`` writes ``docs/house.svg`` from the code.

A row is a floor, from the contract in ``pyproject.toml``: a package imports from floors below it
only. A box is a package with the first line of its docstring, and its modules and folders.
"""

from __future__ import annotations

import ast
import tomllib
from html import escape
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).parents[1].resolve()
SOURCE = ROOT / "src" / "netloom"

WIDTH, GAP, LINE = 1060, 6, 15
"""Pixels of the picture from left to right, between boxes, and of a line of words."""

LETTERS = 6.5
"""Pixels of a letter of the small words, about."""


def floors() -> list[list[str]]:
    """Return the packages of each floor, from the top.

    Examples
    --------
    >>> floors()[0], floors()[-1]
    (['cli'], ['base'])
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    house = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    rows = [[each.strip() for each in floor.split("|")] for floor in house]
    return [row for row in rows if (SOURCE / row[0]).is_dir()]


def said(package: str) -> str:
    """Return the first line of what a package says that it is."""
    told = ast.get_docstring(ast.parse((SOURCE / package / "__init__.py").read_text()))
    return (told or "").partition("\n")[0]


def rooms(package: str) -> str:
    """Return the modules of a package and its folders, in one line."""
    found = [path for path in (SOURCE / package).iterdir() if path.suffix in ("", ".py")]
    names = sorted(path.stem for path in found if not path.name.startswith("_"))
    kept = [name for name in names if name not in ("kernels", "data")]
    return " · ".join(name.replace("_", "\N{NO-BREAK SPACE}") for name in kept)


def picture() -> str:
    """Return the house as SVG."""
    drawn, top = [], 0
    for row in floors():
        told = {package: said(package) for package in row}
        sizes = [max(len(each) + len(rooms(package)), 110) for package, each in told.items()]
        room, left, boxes = WIDTH - GAP * (len(row) - 1), 0.0, []
        for package, share in zip(row, sizes, strict=True):
            wide = room * share / sum(sizes)
            letters = max(int((wide - 20) / LETTERS), 12)
            lines = [
                (kind, line)
                for kind, text in (("", told[package]), ("room", rooms(package)))
                for line in wrap(text, letters, break_long_words=False)
            ]
            boxes.append((package, left, wide, lines))
            left += wide + GAP
        tall = 36 + LINE * max(len(lines) for *_, lines in boxes)
        for package, left, wide, lines in boxes:
            drawn.append(
                f'<rect x="{left:.0f}" y="{top}" width="{wide:.0f}" height="{tall}" rx="6"/>'
                f'<text class="name" x="{left + 10:.0f}" y="{top + 20}">{package}</text>'
            )
            drawn += [
                f'<text class="{kind}" x="{left + 10:.0f}" y="{top + 38 + LINE * at}">'
                f"{escape(line)}</text>"
                for at, (kind, line) in enumerate(lines)
            ]
        top += tall + GAP
    style = (
        "rect{fill:#eceff3;stroke:#7d8896}text{font:11.5px sans-serif;fill:#1c232b}"
        ".room{fill:#5f6a78}.name{font:600 14px sans-serif}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {WIDTH + 2} {top - GAP + 2}">'
        f"<style>{style}</style>{''.join(drawn)}</svg>\n"
    )


if __name__ == "__main__":
    (ROOT / "docs" / "house.svg").write_text(picture())
