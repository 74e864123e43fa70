"""Chakra traces: what nodes become, what belongs together, and what is refused in one line."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import netloom as nl
from netloom import InputError
from netloom.workload.programs.training import rank_trace
from netloom.workload.programs.training.rank_programs import COMPUTE, DELAY
from netloom.workload.programs.training.recorded import read_chakra
from tests.workload.programs.training.chakra_files import (
    COLL,
    COMP,
    RECEIVE,
    SEND,
    node,
    trace,
    written,
)

EXAMPLE = "examples/chakra/%d.et"


def finish(spec: str, on: str = "ring:4", **more: Any) -> float:
    fields = {"engine": "flow", "bandwidth": "50GB/s", "latency": "500ns", **more}
    found = nl.replay(on, trace=spec, **fields)
    assert found.finish is not None
    return float(found.finish)


def test_the_example_is_a_ring_of_1_mib() -> None:
    # 2 (P - 1) steps of a quarter of 2^20 bytes each.
    assert finish(f"chakra:{EXAMPLE}") == pytest.approx(6 * (2**18 / 50e9 + 500e-9), rel=1e-9)
    # Two exchanges of all, which in a ring of 4 meet nobody in the first step.
    found = rank_trace(f"chakra:{EXAMPLE}", "recursive-doubling")
    assert sorted(set(found.flits.tolist())) == [0, 2**20]


def test_sizes_of_all_gathers_are_what_each_rank_gives(tmp_path: Path) -> None:
    for kind, sent in ((2, 3 * 100.0), (7, 3 * 25.0), (6, 3 * 25.0), (0, 6 * 25.0)):
        call = [node(0, COLL, comm_type=kind, comm_size=100)]
        found = rank_trace(f"chakra:{written(tmp_path, call, call, call, call)}")
        assert np.bincount(found.source, found.flits).tolist() == [sent] * 4, kind


def test_nodes_become_operations(tmp_path: Path) -> None:
    first = [
        node(7, COMP, micros=30, is_cpu_op=True),
        node(3, COMP, micros=20, after=[7], is_cpu_op=False),
        node(9, SEND, after=[3], comm_dst=1, comm_size=1000, comm_tag=5),
    ]
    second = [
        node(1, COMP, micros=10, after=[2]),  # in any order
        node(2, RECEIVE, comm_src=0, comm_size=1000, comm_tag=5),
    ]
    program = read_chakra(written(tmp_path, first, second))
    assert program.ids == ["0.7", "0.3", "0.9", "1.1", "1.2"]
    assert program.kind.tolist()[:2] == [DELAY, COMPUTE]
    assert program.after.values.tolist() == [0, 1, 4]
    assert program.link.tolist() == [-1, -1, -1, -1, 2]
    spec = f"chakra:{tmp_path}/t.%d.et"
    expected = 60e-6 + 1000 / 50e9 + 500e-9
    assert finish(spec, "line:2") == pytest.approx(expected, rel=1e-9)
    # With an overhead of both ends, which takes no processor.
    assert finish(spec, "line:2", overhead="1us") == pytest.approx(expected + 2e-6, rel=1e-9)


def test_work_of_the_cpu_takes_no_processor(tmp_path: Path) -> None:
    both = [node(0, COMP, micros=50, is_cpu_op=True), node(1, COMP, micros=40)]
    assert finish(f"chakra:{written(tmp_path, both, [])}", "line:2") == pytest.approx(50e-6)
    both = [node(0, COMP, micros=50), node(1, COMP, micros=40)]
    assert finish(f"chakra:{written(tmp_path, both, [])}", "line:2") == pytest.approx(90e-6)


def test_a_rank_begins_its_part_when_it_is_ready(tmp_path: Path) -> None:
    """A broadcast of a rank that computes first is late by as much; one that only gets is not."""
    call: dict[str, Any] = {"comm_type": 5, "comm_size": 5000}
    late = [node(0, COMP, micros=100), node(1, COLL, after=[0], **call)]
    early = [node(1, COLL, **call)]
    sent = 5000 / 50e9 + 500e-9
    found = finish(f"chakra:{written(tmp_path, late, early)}", "line:2")
    assert found == pytest.approx(100e-6 + sent)
    assert finish(f"chakra:{written(tmp_path, early, late)}", "line:2") == pytest.approx(100e-6)


def test_groups_are_read_beside_the_traces(tmp_path: Path) -> None:
    calls = [[node(0, COLL, comm_type=0, comm_size=64, pg_name=name)] for name in "aabb"]
    pattern = written(tmp_path, *calls)
    (tmp_path / "t.json").write_text('{"a": [1, 0], "b": [2, 3]}')
    program = read_chakra(pattern)
    assert [call.ranks for call in program.calls] == [(1, 0), (2, 3)]
    found = rank_trace(f"chakra:{pattern}")
    ends = {
        (s, t) for s, t in zip(found.source[found.flits > 0], found.targets.values, strict=True)
    }
    assert ends == {(0, 1), (1, 0), (2, 3), (3, 2)}
    (tmp_path / "t.json").write_text('{"a": [1, 0]}')
    with pytest.raises(InputError, match=r"t\.2\.et, node 0: found pg_name 'b'; expected comm_gr"):
        read_chakra(pattern)
    for text in ("[1]", "{", '{"a": [0, 0]}', '{"a": [0, 4]}', '{"a": "0"}', '{"a": [true]}'):
        (tmp_path / "t.json").write_text(text)
        with pytest.raises(InputError, match=r"t\.json"):
            read_chakra(pattern)


CALL = node(0, COLL, comm_type=0, comm_size=64)


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        ([[node(0, COMP, num_ops=9)]], r"t\.0\.et, node 0: found num_ops without a duration"),
        ([[node(4, 8)]], "node 4: found type 8; expected 1 to 7"),
        ([[node(0, COMP), node(0, COMP)]], "node 0: found a second node of this id"),
        ([[node(0, COMP, after=[5])]], "node 0: found a dependency on node 5, which is not there"),
        ([[node(0, COMP, after=[0])]], "circle"),
        ([[node(0, COLL, comm_size=9)]], "found no comm_type"),
        ([[node(0, COLL, comm_type=10)]], "found comm_type 10; expected 0 to 9"),
        ([[node(0, SEND, comm_dst=1)], []], "node 0: found rank 0 to rank 1, tag 0, without a rec"),
        ([[], [node(0, RECEIVE, comm_src=0)]], "rank 0 to rank 1, tag 0, without a send"),
        ([[node(0, SEND, comm_dst=2)], []], "found comm_dst 2; expected 0 to 1"),
        ([[node(0, SEND, comm_dst=1, comm_src=1)], []], "found comm_src 1; expected 0, the rank"),
        (
            [[node(0, SEND, comm_dst=1, comm_size=8)], [node(0, RECEIVE, comm_src=0, comm_size=9)]],
            r"t\.1\.et, node 0: found rank 0 to rank 1, tag 0: 9 bytes from a send of 8",
        ),
        ([[CALL], []], "found all-reduce, call 1 of its group, of which rank 1 makes 0"),
        (
            [[CALL], [node(0, COLL, comm_type=1, comm_size=64)]],
            "found reduce of 2 ranks; expected all-reduce of 2 ranks",
        ),
        ([[CALL], [node(0, COLL, comm_type=0, comm_size=65)]], "65 bytes; expected 64, as in"),
        ([[node(0, COLL, comm_type=0, comm_size=64, root_rank=3)], [CALL]], "root_rank 3"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(tmp_path: Path, ranks: list[list[bytes]], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        rank_trace(f"chakra:{written(tmp_path, *ranks)}")
    assert "\n" not in str(caught.value)


WHOLE = trace(
    node(0, COMP, micros=3, is_cpu_op=True),
    node(1, COLL, after=[0], comm_type=0, comm_size=999, pg_name="1"),
)


@settings(max_examples=300, deadline=None)
@given(
    changes=st.dictionaries(st.integers(0, len(WHOLE) - 1), st.integers(0, 255), max_size=3),
    length=st.integers(1, len(WHOLE)),
)
def test_broken_files_are_refused_in_one_line(changes: dict[int, int], length: int) -> None:
    content = bytes(changes.get(at, byte) for at, byte in enumerate(WHOLE))
    with TemporaryDirectory() as folder:
        (Path(folder) / "t.0.et").write_bytes(content[:length])
        (Path(folder) / "t.json").write_text('{"1": [0]}')
        said = "x: found x; expected x"
        try:
            rank_trace(f"chakra:{folder}/t.%d.et")
        except InputError as error:
            said = str(error)
    assert re.fullmatch(r"[^\n]+: found [^\n]+; expected [^\n]+", said)


def test_ranks_that_share_a_host_compute_in_an_order_of_their_own(tmp_path: Path) -> None:
    chain = [node(0, COMP, micros=50), node(1, COMP, micros=40, after=[0])]
    both = f"chakra:{written(tmp_path, chain, chain)}"
    assert finish(both, "line:2", tasks_per_node=2) == pytest.approx(90e-6)
    free = [node(0, COMP, micros=50), node(1, COMP, micros=40)]
    both = f"chakra:{written(tmp_path, chain, free)}"
    with pytest.raises(InputError, match="rank 1, whose computations may overlap"):
        finish(both, "line:2", tasks_per_node=2)


def test_a_ring_of_sends_and_receives_is_the_ring_of_a_collective(tmp_path: Path) -> None:
    """A custom collective in Chakra, message by message: each send awaits the receive before."""
    ranks = []
    for rank in range(4):
        nodes, last = [], None
        for step in range(6):
            after = [] if last is None else [last]
            nodes.append(
                node(3 * step, SEND, after=after, comm_dst=(rank + 1) % 4, comm_size=2**18)
            )
            nodes.append(node(3 * step + 1, RECEIVE, comm_src=(rank - 1) % 4, comm_size=2**18))
            nodes.append(node(3 * step + 2, COMP, micros=7, after=[3 * step + 1]))
            last = 3 * step + 2
        ranks.append(nodes)
    found = finish(f"chakra:{written(tmp_path, *ranks)}")
    assert found == pytest.approx(finish(f"chakra:{EXAMPLE}") + 6 * 7e-6, rel=1e-9)
