"""Tables and lines on terminals of any width: nothing is cut, and no number is broken."""

from io import StringIO

import pytest
from rich.console import Console

from netloom.questions.shown import plain_table, show

HEADS = ("network", "offered", "latency\nmean", "p99", "a rather long head", "busiest channel")
ROWS = [("mesh:8x8", "0.123", "12,345", "99,999", "1.23\u00a0M", "row 3 to row 4"),
        ("torus:16x16x16", "0.4", "1", "2", "27.8\u00a0%", "(0,6) → (0,7)")]  # fmt: skip


def shown(width, lines, **options):
    out = StringIO()
    show(lines, Console(width=width, file=out, highlight=False, color_system=None, **options))
    return out.getvalue()


def table():
    made = plain_table(HEADS, words=("network",))
    for row in ROWS:
        made.add_row(*row)
    return made


@pytest.mark.parametrize("width", [40, 60, 80, 110, 200])
def test_tables_keep_their_numbers_and_their_first_column(width):
    out = shown(width, [table()], force_terminal=True)
    assert all(len(line.rstrip()) <= width for line in out.splitlines())
    assert "…" not in out
    for row in ROWS:
        for cell in row[:5]:
            assert cell in out
    parts = out.count("network")
    assert parts == 1 or width < 80
    assert out.count("torus:16x16x16") == parts


def test_heads_give_way_before_a_table_is_parted():
    heads = ("rate", "steps\nmean", "throughput", "wait buffer\nmean", "refused by a PE", "")
    made = plain_table(heads)
    made.add_row("0.6", "29.6", "0.436", "1.72", "24.8\u00a0%", "overloaded")
    whole = max(map(len, map(str.rstrip, shown(200, [made]).splitlines())))
    for width in range(whole - 9, whole):
        out = shown(width, [made], force_terminal=True)
        assert out.count("rate") == 1
        assert all(len(line.rstrip()) <= width for line in out.splitlines())
        for word in ("throughput", "buffer", "refused", "0.436", "24.8\u00a0%", "overloaded"):
            assert word in out


def test_a_terminal_breaks_lines_between_words_and_a_file_has_them_whole():
    said = "Rows are busier than columns, and the third row is the busiest of all of them."
    wrapped = shown(40, [said], force_terminal=True).splitlines()
    assert max(map(len, wrapped)) <= 41
    assert " ".join(" ".join(wrapped).split()) == said
    assert shown(40, [said]) == said + "\n"
