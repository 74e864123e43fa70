"""Papers whose modules have no ``ITEMS`` yet, as items of the ledger."""

from __future__ import annotations

import json
from functools import partial
from importlib import import_module
from importlib.resources import files
from typing import Any

from netloom_papers.ledger import Item, Made

ROWS = {
    "shahrabi": ("shahrabi", "shahrabi_model"),
}
EXHIBITS = {
    "shahrabi": ("shahrabi",),
}


def said(paper: str) -> dict[str, Any]:
    """Return what is said of the pictures of a paper, as the ledger has it."""
    text = files("netloom_papers.studies").joinpath("data", "exhibits.json").read_text()
    data = json.loads(text).get(paper, {})
    found = data.get("exhibits", {}).items()
    items = {name: {**each, "shows": each["line"]} for name, each in found}
    return {**data, "items": items}


def items(paper: str) -> tuple[Item, ...]:
    """Return items that have rows, then those that have pictures."""
    found = [Item(f"rows of {name}", partial(_rows, name)) for name in ROWS[paper]]
    if paper == "router":
        found = [Item("rows of router", partial(_rows, "router"), takes_table=True)]
    for module in EXHIBITS.get(paper, ()):
        shown = import_module(f"netloom_papers.studies.{module}").EXHIBITS
        found += [Item(name, draw=partial(_draw, show)) for name, show in shown.items()]
    return tuple(found)


def _rows(module: str, known: Any) -> Any:
    rows = import_module(f"netloom_papers.studies.{module}").rows
    return rows(known["reference"]) if "reference" in known else rows()


def _draw(show: Any, made: Made) -> Any:
    shown = show(made.quick)
    yield from shown.panels
    yield from shown.remarks
    yield from shown.rows
