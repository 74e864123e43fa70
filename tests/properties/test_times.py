"""No answer in µs is less than its bytes take on a channel, whatever flits are."""

from math import inf

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

import netloom as nl
from netloom.base.errors import InputError
from netloom.machines import MessageCost, machine, machine_names
from netloom.workload import process_graph
from netloom.workload.programs.trace_files import read_trace

SMALL = {
    "bluegene-p": "bluegene-p:2x2x4", "iwarp": "iwarp:4x4", "symult2010": "symult2010:4x4",
    "tofu-d": "tofu-d:2x2x2x1x2x1", "tpu-v4": "tpu-v4:4x2x2",
}  # fmt: skip
NODES = 16
FLITS = st.sampled_from([None, 1, 3, 8, 32, 1000])


def test_every_machine_is_tried():
    """Of those whose nodes are joined directly: hosts of the others have ports of other rates."""
    named = [machine(name) for name in machine_names() if machine(name).topology]
    assert set(SMALL) == {each.name for each in named if each.network().direct}


def sent(draw):
    """Bytes, sources and targets of some messages."""
    count = draw(st.integers(1, 12))
    many = {"min_size": count, "max_size": count}
    sizes = draw(st.lists(st.integers(1, 20_000), **many))
    source = draw(st.lists(st.integers(0, NODES - 1), **many))
    hop = draw(st.lists(st.integers(1, NODES - 1), **many))
    target = [(at + by) % NODES for at, by in zip(source, hop, strict=True)]
    return np.array(sizes), np.array(source), np.array(target)


def least_us(on, sizes, source, target):
    """What the bytes take at least: of a message, and of a node that sends on all its channels."""
    network = on.network()
    channels = np.bincount(network.source_end, minlength=NODES)
    of_node = np.bincount(source, sizes, NODES) / channels
    into = np.bincount(network.target_end, minlength=NODES)
    to_node = np.bincount(target, sizes, NODES) / into
    return max(sizes.max(), of_node.max(), to_node.max()) / on.bandwidth_bytes_per_us


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(sorted(SMALL)), FLITS, st.booleans(), st.booleans())
def test_a_trace_takes_its_bytes_over_the_bandwidth(folder, data, name, flit_bytes, worm, goal):
    on = machine(SMALL[name])
    sizes, source, target = sent(data.draw)
    path = folder / ("some.goal" if goal else "some.csv")
    if goal:
        lines = [f"num_ranks {NODES}"]
        for rank in range(NODES):
            lines.append(f"rank {rank} {{")
            sends, receives = (np.flatnonzero(ends == rank).tolist() for ends in (source, target))
            lines += [f"s{i}: send {sizes[i]}b to {target[i]} tag {i}" for i in sends]
            lines += [f"r{i}: recv {sizes[i]}b from {source[i]} tag {i}" for i in receives]
            lines.append("}")
        path.write_text("\n".join(lines))
    else:
        pl.DataFrame(
            {"id": np.arange(len(sizes)), "source": source, "target": target, "bytes": sizes}
        ).write_csv(path)
    engine = {"engine": "worm"} if worm else {"packet_flits": 32}
    found = nl.replay(on, trace=path, flit_bytes=flit_bytes, **engine).to_dict()
    least = least_us(on, sizes, source, target)
    assert found["finish_us"] >= found["ideal_finish_us"] * (1 - 1e-12)
    assert found["finish_us"] >= least * (1 - 1e-12)
    assert found["ideal_finish_us"] >= sizes.max() / on.bandwidth_bytes_per_us * (1 - 1e-12)
    assert found["cycle_us"] * on.bandwidth_bytes_per_us == pytest.approx(found["flit_bytes"])
    slow = (found["slowest_messages"] + [{"id": "none", "latency": 0}])[0]
    assert slow["latency"] * found["cycle_us"] * (1 + 1e-12) >= sizes.min() / (
        on.bandwidth_bytes_per_us
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("traces")


def test_a_trace_read_with_other_flits_is_timed_with_them(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("id,source,target,bytes\na,0,1,64000\n")
    on = machine("tpu-v4:4x4x4")
    for flit_bytes in (None, 1, 32, 64):
        trace = read_trace(path, flit_bytes=flit_bytes or 1)
        for given_so in (
            {"trace": trace}, {"trace": path, "flit_bytes": flit_bytes},
        ):  # fmt: skip
            found = nl.replay(on, **given_so, engine="worm").to_dict()
            assert found["finish_us"] == pytest.approx(1.28, rel=0.01)
            assert found["finish_us"] >= 1.28


def test_flits_of_a_table_of_flits_have_the_bytes_that_are_said(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("id,source,target,flits\na,0,1,1000\n")
    found = nl.replay("tpu-v4:4x4x4", trace=path, flit_bytes=32, engine="worm").to_dict()
    assert found["finish_us"] == pytest.approx(1000 * 32 / 50_000, rel=0.01)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from(sorted(SMALL)))
def test_what_analysis_says_takes_its_bytes_over_the_bandwidth(data, name):
    on = machine(SMALL[name])
    sizes, source, target = sent(data.draw)
    graph = process_graph(NODES, source, target, bytes=sizes)
    answer = nl.analyze(graph, on, random_mappings=0)
    neck = answer.to_dict()["bottleneck"]
    for what, load in (("channel", neck["channel_weight"]), ("node", neck["node_weight"])):
        assert neck[f"{what}_busy_us"] >= load / on.bandwidth_bytes_per_us * (1 - 1e-12)
    mean = answer.mean_message
    if mean and mean.us is not None:
        assert mean.us >= mean.bytes / on.bandwidth_bytes_per_us * (1 - 1e-12)


@pytest.mark.parametrize("name", [name for name in machine_names() if machine(name).message_costs])
def test_published_times_are_not_below_the_bandwidth(name):
    on, sizes = machine(name), np.arange(1, 5000)
    assert (on.message_time_us(sizes) >= sizes / on.bandwidth_bytes_per_us).all()


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(["ab-1nn", "aa-1nn", "ab-4nn", "diagonal", "transpose"]),
    st.integers(1, 5000),
    st.sampled_from([None, 1, 4, 16]),
)
def test_patterns_take_their_bytes_over_the_bandwidth(pattern, size, flit_bytes):
    own = machine("symult2010:4x4")
    on = own.model_copy(update={"flit_bytes": flit_bytes or own.flit_bytes})
    found = nl.simulate_pattern(on, pattern=pattern, message_bytes=size, think_us=0, loops=3)
    data, point = found.to_dict(), found.points[0]
    assert data["cycle_us"] * on.bandwidth_bytes_per_us == pytest.approx(data["flit_bytes"])
    wire = size / on.bandwidth_bytes_per_us
    assert point.channel_us == pytest.approx(wire)
    assert point.message_us >= wire
    assert (point.loop_us >= wire * (1 - 1e-12)).all()


def test_costs_below_the_bandwidth_are_refused():
    cost = MessageCost.model_construct(up_to_bytes=inf, startup_us=0, per_byte_us=0.01)
    on = machine("symult2010:4x4").model_copy(update={"message_costs": (cost,)})
    with pytest.raises(InputError, match=r"found 0.01 µs a byte of one packet, 0.01 of several"):
        nl.simulate_pattern(on)


def test_a_cycle_is_a_flit_over_the_bandwidth_wherever_one_is_said():
    on = machine("iwarp:4x4")
    answers = [
        nl.simulate(on, load=0.1, cycles=200),
        nl.find_saturation(on, most_cycles=500),
        nl.simulate_loop(on, app="ring:16", applied=0.1, loops=2, skip=0),
        nl.simulate_transactions(on, app="ring:16", batch_cycles=300),
        nl.simulate_broadcast(on, rate=0.002, cycles=500),
    ]
    for answer in answers:
        data = answer.to_dict()
        assert data["cycle_us"] == data["flit_bytes"] / on.bandwidth_bytes_per_us == 0.1
