"""Tables on terminals of any width: nothing is cut, and no number is broken."""

import re

import pytest

from netloom.base.figures import Figures, figure
from netloom.questions.terminal import column, columns_drawn, table

COLUMNS = [
    column("network", ["mesh:8x8", "torus:16x16x16"], words=True),
    column("offered", ["0.123", "0.4"], "flits/node/cycle"),
    column("latency mean", ["12,345", "1"], "cycles"),
    column("p99", ["99,999", "2"]),
    column("a rather long head", ["1.23\u00a0M", "27.8\u00a0%"]),
    column("busiest channel", ["row 3 to row 4", "(0,6) → (0,7)"], words=True),
]


@pytest.mark.parametrize("width", [40, 60, 80, 110, 200])
def test_tables_keep_their_numbers_and_their_first_column(width):
    lines = columns_drawn(COLUMNS, width)
    out = "\n".join(lines)
    assert all(len(line) <= width for line in lines)
    assert "…" not in out
    for each in COLUMNS[:5]:
        assert all(cell.strip() in out for cell in each.cells)
    parts = out.count("network")
    assert parts == out.count("torus:16x16x16") < len(COLUMNS)
    assert parts == 1 or width < 80


def test_heads_are_folded_before_a_table_is_parted():
    heads = ("rate", "steps mean", "throughput", "wait buffer mean", "refused by a PE")
    cells = ("0.6", "29.6", "0.436", "1.72", "24.8\u00a0%")
    made = [column(head, [cell]) for head, cell in zip(heads, cells, strict=True)]
    lines = columns_drawn(made, len("  ".join(heads)) - 8)
    assert sum(line.count("rate") for line in lines) == 1
    assert {*" ".join(heads).split(), *cells} <= {*re.split(r"[ \n]+", "\n".join(lines))}


def test_each_part_of_a_wide_table_has_all_its_keys():
    lines = columns_drawn(COLUMNS, 60, keys=2)
    out = "\n".join(lines)
    assert out.count("mesh:8x8") == out.count("0.123") > 1


def test_each_part_of_a_table_begins_with_what_tells_rows_apart():
    class Row(Figures):
        nodes: int = figure(lead=True)
        mapping: str = figure(lead=True)
        distance: float = figure("mean distance of messages", "hops", lead=True)
        latency: float = figure("mean latency of messages", "cycles", lead=True)

    rows = [Row(nodes=64, mapping=each, distance=1, latency=2) for each in ("ideal", "random")]
    lines = table(rows, rows[0], 34)
    assert sum(line.startswith("nodes  mapping") for line in lines) == 2
