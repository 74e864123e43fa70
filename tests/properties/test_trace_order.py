"""The order of a trace's rows says nothing: shuffled, it is replayed as before."""

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from netloom import replay
from netloom.workload.kernels.programs import remaining_chains
from netloom.workload.programs.trace_files import read_trace

NODES = 6
NETWORKS = [
    {"on": "mesh:3x2", "router": "single-cycle"},
    {"on": "torus:6", "packet_flits": 3, "routing": "valiant", "vcs": 4},
    {"on": "mesh:3x2", "engine": "worm", "arbitration": "fifo", "end_channels": 1},
    {"on": "mesh:6", "engine": "worm", "mapping": [0, 0, 1, 1, 2, 5], "tasks_per_node": 2},
    {"on": "leaf-spine:3x2x2", "engine": "flow", "routing": "minimal"},
    {"on": "mesh:3x2", "engine": "flow", "injection": "shared"},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("shuffled")


def told(path, options):
    """All that is said of a trace but its name, and its messages by id."""
    found = replay(trace=path, seed=1, **options)
    data = found.to_dict()
    for name in ("trace", "provenance"):
        del data[name]
    del data["verdict"]["next"]  # a command that names the trace
    return data, found.messages().sort("id", "source_node", "target_node").to_dicts()


def column(draw, count, values):
    return draw(st.lists(values, min_size=count, max_size=count))


@st.composite
def entries(draw):
    """Rows of a table, many of them alike, so that ties are common."""
    count = draw(st.integers(2, 25))
    few = st.sampled_from([0, 0, 5])
    kinds = {"compute": few, "hold": few, "receive": few, "time": few}
    table = {name: column(draw, count, values) for name, values in kinds.items()}
    table["source"] = column(draw, count, st.integers(0, NODES - 1))
    table["source"][0] = NODES - 1  # the largest number says how many tasks there are
    target = st.one_of(st.integers(0, NODES - 1).map(str), st.sampled_from(["", "*", "0 2 5"]))
    table["target"] = column(draw, count, target)
    flits = column(draw, count, st.sampled_from([1, 4, 9]))
    table["flits"] = [many if to else 0 for many, to in zip(flits, table["target"], strict=True)]
    table["receive"] = [
        many if to else 0 for many, to in zip(table["receive"], table["target"], strict=True)
    ]
    table["id"] = [f"e{number}" for number in draw(st.permutations(range(count)))]
    table["after"] = [
        " ".join(table["id"][other] for other in draw(st.sets(st.integers(0, row - 1), max_size=2)))
        if row
        else ""
        for row in range(count)
    ]
    return pl.DataFrame(table), draw(st.permutations(range(count)))


@settings(max_examples=60, deadline=None)
@given(entries(), st.sampled_from(NETWORKS), st.sampled_from(["csv", "tsv", "parquet"]))
def test_rows_of_a_table_may_come_in_any_order(folder, case, options, kind):
    table, order = case
    paths = [folder / f"{name}.{kind}" for name in ("given", "shuffled")]
    for path, rows in zip(paths, (table, table[order]), strict=True):
        if kind == "parquet":
            rows.write_parquet(path)
        else:
            rows.write_csv(path, separator="\t" if kind == "tsv" else ",")
    assert told(paths[0], options) == told(paths[1], options)


@st.composite
def schedules(draw):
    """Ranks of GOAL with labels, all of which may come in any order."""
    lines = {rank: [] for rank in range(NODES)}
    for number in range(draw(st.integers(1, 12))):
        source = draw(st.integers(0, NODES - 1))
        target = (source + draw(st.integers(1, NODES - 1))) % NODES
        size = draw(st.sampled_from([1, 8, 40]))
        lines[source].append(f"s{number}: send {size}b to {target} tag {number}")
        lines[target].append(f"r{number}: recv {size}b from {source} tag {number}")
        if number and draw(st.booleans()):
            lines[source].append(f"c{number}: calc {draw(st.sampled_from([5, 20]))}")
            lines[source].append(f"s{number} requires c{number}")
    ranks = list(lines)
    shuffled = {rank: draw(st.permutations(lines[rank])) for rank in draw(st.permutations(ranks))}
    return [written(each) for each in (lines, shuffled)]


def written(lines):
    text = [f"num_ranks {NODES}"]
    for rank, own in lines.items():
        text += [f"rank {rank} {{", *own, "}"]
    return "\n".join(text) + "\n"


@settings(max_examples=40, deadline=None)
@given(schedules(), st.sampled_from(NETWORKS))
def test_operations_of_goal_may_come_in_any_order(folder, texts, options):
    paths = [folder / f"{name}.goal" for name in ("given", "shuffled")]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    goal = {"flit_bytes": 4, "overhead_cycles": 3, "gap_cycles": 7}
    assert told(paths[0], options | goal) == told(paths[1], options | goal)


def test_ranks_of_goal_without_labels_may_come_in_any_order(folder):
    ranks = [
        "rank 0 {\nsend 8b to 2\nsend 8b to 2\n}\n", "rank 1 {\nsend 8b to 2\nsend 8b to 2\n}\n",
        "rank 2 {\nrecv 8b from -1\nrecv 8b from -1\na: recv 8b from -1\nrecv 8b from -1\n"
        "b: calc 7\nb requires a\n}\n",
    ]  # fmt: skip
    answers = []
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        path = folder / "some.goal"
        path.write_text("num_ranks 3\n" + "".join(ranks[rank] for rank in order))
        answers.append(told(path, NETWORKS[0] | {"flit_bytes": 4, "overhead_cycles": 2}))
    assert answers[0] == answers[1] == answers[2]


def test_the_longest_chain_goes_first_then_the_first_id(tmp_path):
    """On one processor: c and what waits for it take 30, the others 10 each; 9 is before 10."""
    path = tmp_path / "ties.csv"
    path.write_text("id,after,compute,source\n10,,10,0\n9,,10,0\nc,,5,0\nd,c,25,0\nlate,,10,0\n")
    program = read_trace(path)
    found = replay("mesh:2", trace=path)
    run = found.run
    first = [program.ids[entry] for entry in run.program.entry[np.argsort(run.rows["sent"])]]
    assert first == ["c", "9", "10", "late", "d"]  # d is ready only when the others are


@settings(max_examples=50, deadline=None)
@given(st.data(), st.integers(1, 20))
def test_remaining_chains_are_their_readable_twin(data, count):
    cycles = np.array(column(data.draw, count, st.integers(0, 9)), np.int64)
    after = [
        sorted(data.draw(st.sets(st.integers(0, row - 1), max_size=3))) if row else []
        for row in range(count)
    ]
    offsets = np.cumsum([0, *(len(each) for each in after)])
    flat = np.array([each for some in after for each in some], np.int64)
    chains = np.zeros(count, np.int64)
    remaining_chains(cycles, offsets, flat, chains)

    def longest(row):
        waiting = [longest(other) for other in range(count) if row in after[other]]
        return int(cycles[row]) + max(waiting, default=0)

    assert chains.tolist() == [longest(row) for row in range(count)]
