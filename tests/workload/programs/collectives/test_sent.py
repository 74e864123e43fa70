"""Collectives in bytes and seconds: on all engines, as other simulators, and against bounds."""

from dataclasses import replace
from itertools import pairwise
from math import ceil, log2
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.base.errors import InputError
from netloom.routing import DimensionOrder, DModK
from netloom.simulation.flow import FlowLaw, flow_network, run_flows
from netloom.simulation.flow.rounds import rounds_apart
from netloom.topology import topology
from netloom.workload.programs.collectives.algorithms import (
    ALGORITHMS,
    ROOTED,
    algorithms_of,
    collective_program,
    outline,
    with_pair_sizes,
)
from netloom.workload.programs.collectives.program import (
    bus_factor,
    least_seconds,
    least_steps,
    rounds_of,
    waits,
    write_goal,
)
from netloom.workload.programs.rounds import as_messages
from netloom.workload.programs.trace_files import read_goal
from tests.reference.collective_waits import waited
from tests.reference.collectives_checked import check
from tests.workload.programs.collectives.tables import counts, messages_of

ALPHA, BETA = 2e-6, 1e-9
"""Seconds of a message, and of a byte, through one crossbar."""

ON_A_RING = ("swing", "swing-blocks")
"""Algorithms that refuse tori with odd sides."""

EVERY = [(collective, name) for collective in ALGORITHMS for name in algorithms_of(collective)]


def crossbar(hosts):
    """Hosts on one router, so that messages meet only where they share an end."""
    return flow_network(topology(f"leaf-spine:1x1x{hosts}"), bandwidth=1 / BETA, latency=ALPHA / 2)


def finish(program, size, **options):
    """Return when a program is over on a crossbar."""
    hosts = max(program.num_ranks, 2)
    table = messages_of(program, size, np.arange(program.num_ranks), num_hosts=hosts, **options)
    return run_flows(crossbar(hosts), DModK(), table).finish


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(EVERY), st.integers(1, 20), st.integers(1, 4), st.booleans(), st.data())
def test_messages_wait_for_what_brought_their_chunks(which, ranks, chunks, stepwise, data):
    collective, algorithm = which
    options = {
        "root": data.draw(st.integers(0, ranks - 1)) if collective in ROOTED else 0,
        "chunks": 1 if collective == "barrier" else chunks,
        "ranks_per_node": 1 + (ranks % 2 == 0),
        "torus": None if algorithm in ON_A_RING else (ranks // (1 + (ranks % 2 == 0)),
                                                      1 + (ranks % 2 == 0)),
    }  # fmt: skip
    program = collective_program(collective, algorithm, ranks, **options)
    offsets, rows = waits(program, stepwise=stepwise)
    found = [rows[a:b].tolist() for a, b in pairwise(offsets)]
    assert found == waited(program, stepwise=stepwise)


@pytest.mark.parametrize("ranks", [2, 5, 8])
@pytest.mark.parametrize("size", [8e6, 64.0])
def test_times_in_closed_form(ranks, size):
    # α + β m of each step: Thakur, Rabenseifner & Gropp 2005; pipelines as Pješivac-Grbović 2007.
    block, log = size / ranks * BETA, ceil(log2(ranks))
    ring = (ranks - 1) * (ALPHA + block)
    every = log * ALPHA + (ranks - 1) * block
    assert finish(collective_program("all-gather", "ring", ranks), size) == pytest.approx(ring)
    assert finish(collective_program("all-reduce", "ring", ranks), size) == pytest.approx(2 * ring)
    assert finish(collective_program("all-gather", "bruck", ranks), size) == pytest.approx(every)
    assert finish(collective_program("all-gather", "pat", ranks), size) == pytest.approx(every)
    assert finish(collective_program("all-to-all", "pairwise", ranks), size) == pytest.approx(ring)
    binomial = collective_program("broadcast", "binomial", ranks)
    assert finish(binomial, size) == pytest.approx(log * (ALPHA + size * BETA))
    chain = collective_program("broadcast", "chain", ranks, chunks=4)
    assert finish(chain, size) == pytest.approx((ranks + 2) * (ALPHA + size * BETA / 4))
    # Chunks that do not wait for each other's arrival: the latency once per rank.
    smooth = (ranks - 1) * ALPHA + (ranks + 2) * size * BETA / 4
    assert finish(chain, size, stepwise=False) == pytest.approx(smooth)
    if ranks == 2**log:
        rabenseifner = collective_program("all-reduce", "rabenseifner", ranks)
        assert finish(rabenseifner, size) == pytest.approx(2 * every)
        doubling = collective_program("all-reduce", "recursive-doubling", ranks)
        assert finish(doubling, size) == pytest.approx(log * (ALPHA + size * BETA))


def test_an_overhead_is_paid_at_both_ends():
    ring = collective_program("all-gather", "ring", 4)
    assert finish(ring, 4e6, overhead_seconds=3e-6) == pytest.approx(3 * (ALPHA + 1e-3 + 6e-6))


def test_a_barrier_takes_its_steps_of_a_byte():
    barrier = collective_program("barrier", "dissemination", 6)
    assert finish(barrier, 0) == pytest.approx(3 * (ALPHA + BETA))


def test_ranks_of_one_host_talk_at_once():
    ring = collective_program("all-gather", "ring", 4)
    table = messages_of(ring, 4e6, [0, 0, 1, 1], overhead_seconds=1e-6)
    found = run_flows(crossbar(2), DModK(), table).finish
    assert found == pytest.approx(3 * (ALPHA + 1e-3 + 2e-6))
    assert table.run.tolist() == [0, 1e-6] * 6


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [
        ("all-reduce", "ring"), ("all-gather", "bruck"), ("all-reduce", "rabenseifner"),
        ("all-reduce", "recursive-doubling"), ("all-gather", "pat"), ("barrier", "dissemination"),
    ],
)  # fmt: skip
def test_rounds_are_the_messages(collective, algorithm):
    # Each step carries what the one before brought, so that both wait for the same.
    links = flow_network(topology("torus:4x4"), bandwidth=1 / BETA, latency=ALPHA)
    table = messages_of(collective_program(collective, algorithm, 16), 1e6, range(16))
    whole = run_flows(links, DimensionOrder(), table)
    rounds = rounds_of(outline(collective, algorithm, 16), 1e6, range(16))
    found = run_flows(links, DimensionOrder(), as_messages(rounds))
    assert rounds.num_messages == len(table)
    assert found.finish == pytest.approx(whole.finish)
    assert found.link_sizes == pytest.approx(whole.link_sizes)


def test_a_ring_of_16384_ranks_is_two_rounds():
    rounds = rounds_of(outline("all-reduce", "ring", 16384), 1e9, np.arange(16384))
    assert [each.count for each in rounds] == [16383, 16383]
    links = flow_network(topology("ring:16384"), bandwidth=1 / BETA, latency=ALPHA)
    finish, _ = rounds_apart(links, DimensionOrder(), rounds)
    assert finish == pytest.approx(2 * 16383 * (ALPHA + 1e9 / 16384 * BETA))


def test_torus_rings_use_all_links_all_the_time():
    torus, size = topology("torus:4x4"), 64e6
    links = flow_network(torus, bandwidth=1 / BETA, latency=0, end_channels=False)
    program = collective_program("all-reduce", "torus-rings", 16, torus=(4, 4))
    table = messages_of(program, size, range(16))
    found = run_flows(links, DimensionOrder(), table, FlowLaw(injection="shared"))
    assert found.finish == pytest.approx(2 * size * 15 / 16 / 4 * BETA)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(EVERY), st.integers(2, 9), st.integers(1, 3))
def test_goal_files_are_the_messages(which, ranks, chunks):
    collective, algorithm = which
    options = {"ranks_per_node": 1, "torus": None if algorithm in ON_A_RING else (ranks,)}
    if collective != "barrier":
        options["chunks"] = chunks
    program = collective_program(collective, algorithm, ranks, **options)
    size = 2520.0 * 24
    with TemporaryDirectory() as folder:
        file = Path(folder) / "collective.goal"
        write_goal(program, size, file)
        trace = read_goal(file, overhead=1e-6)
    table = messages_of(program, size, range(ranks), num_hosts=ranks, stepwise=False)
    sends = trace.flits > 0
    assert sends.sum() == program.num_messages
    assert sorted(trace.flits[sends]) == sorted(np.ceil(table.flits))
    place = {name: number for number, name in enumerate(trace.ids)}

    def requires(name):
        entry = place[name]
        waited = trace.after.values[trace.after.offsets[entry] : trace.after.offsets[entry + 1]]
        return sorted(trace.ids[each] for each in waited)

    for number, (source, target) in enumerate(zip(program.source, program.target, strict=True)):
        rows = table.after[table.after_offsets[number] : table.after_offsets[number + 1]]
        assert requires(f"{source}.s{number}") == sorted(f"{source}.r{row}" for row in rows)
        assert requires(f"{target}.r{number}") == [f"{source}.s{number}>{target}"]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(algorithms_of("all-to-all")), st.integers(1, 12), st.integers(1, 3), st.data()
)
def test_all_to_all_with_a_size_of_each_pair(algorithm, ranks, chunks, data):
    amounts = st.lists(st.sampled_from([0, 1, 7, 64]), min_size=ranks**2, max_size=ranks**2)
    sizes = np.array(data.draw(amounts), float).reshape(ranks, ranks)
    even = collective_program("all-to-all", algorithm, ranks, chunks=chunks, ranks_per_node=1)
    program, size = with_pair_sizes(even, sizes)
    check(program)
    assert size == sizes.sum(axis=1).max()
    moved = np.zeros((ranks, ranks))
    for source, target, part in zip(
        program.first_owner, program.final_owner, program.chunk_size, strict=True
    ):
        moved[source, target] += part * size
    assert moved == pytest.approx(sizes)
    if algorithm != "bruck":
        off = sizes - np.diag(np.diag(sizes))
        sent = np.bincount(program.source, program.message_size * size, minlength=ranks)
        assert sent == pytest.approx(off.sum(axis=1))
        assert program.num_messages == chunks * (off > 0).sum()


def test_astra_sim_s_ring_all_reduce():
    """8 ranks in a ring of 50 GB/s and 500 ns, 1 MiB in 4 parts, one after the other: 117,780 ns.

    The rules of its regression test: a GB/s of the network is 2^30 bytes/s, one of the memory 10^9.
    Every time is cut to whole ns. What is received costs the endpoint delay (10 ns), and three
    accesses of the memory (50 GB/s) if it is summed; before the first message comes another delay.
    """
    part, endpoint = 2**20 // 4, 10
    message = part // 8
    moving = int(message / (50 * 2**30 / 1e9))
    access = int(message / 50)
    program = collective_program("all-reduce", "ring", 8)
    table = messages_of(program, part, range(8))
    first = np.diff(table.after_offsets) == 0
    table = replace(
        table, start=first * float(endpoint), receive=endpoint + 3.0 * access * program.sums
    )
    links = flow_network(
        topology("ring:8"), bandwidth=message / moving, latency=500, end_channels=False
    )
    assert 4 * run_flows(links, DimensionOrder(), table).finish == pytest.approx(117_780)


# -- bounds that hold on any network ---------------------------------------------------------------


FORWARDED = ("broadcast", "reduce", "all-reduce", "all-gather", "reduce-scatter", "barrier")


def test_the_bus_bandwidth_of_nccl_tests():
    factors = {
        "all-reduce": 2 * 7 / 8, "all-gather": 7 / 8, "reduce-scatter": 7 / 8, "all-to-all": 7 / 8,
        "gather": 7 / 8, "scatter": 7 / 8, "broadcast": 1, "reduce": 1,
    }  # fmt: skip
    assert {name: bus_factor(name, 8) for name in factors} == factors
    with pytest.raises(InputError, match="collective: found 'barrier'"):
        bus_factor("barrier", 8)


def tree_time(ranks, latency, overhead, gap):
    """Karp et al.'s tree, sender by sender: the earliest next message of all who have heard."""
    heard, sends = [0.0], [0]
    while len(heard) < ranks:
        next_end = [
            at + number * max(overhead, gap) + 2 * overhead + latency
            for at, number in zip(heard, sends, strict=True)
        ]
        first = int(np.argmin(next_end))
        sends[first] += 1
        heard.append(next_end[first])
        sends.append(0)
    return max(heard)


@pytest.mark.parametrize("ranks", [1, 2, 7, 8, 30])
@pytest.mark.parametrize("times", [(6, 2, 4), (5, 0, 1), (3, 1, 0), (0, 2, 1)])
def test_the_least_time_is_that_of_karp_s_tree(ranks, times):
    assert least_seconds(ranks, *times) == tree_time(ranks, *times)


def test_the_broadcast_of_karp_s_paper():
    assert least_seconds(8, latency=6, overhead=2, gap=4) == 24  # its figure 3
    assert least_seconds(1, 6, 2, 4) == 0
    with pytest.raises(InputError, match="gap: found -1 seconds"):
        least_seconds(4, 1, 1, -1)


@pytest.mark.parametrize("ranks", [2, 3, 8, 13, 16])
def test_no_algorithm_beats_a_bound(ranks):
    alpha, beta, size, o = 1e-6, 1e-9, 4096.0, 2e-7
    links = flow_network(topology(f"leaf-spine:1x1x{ranks}"), bandwidth=1 / beta, latency=alpha / 2)
    for collective in ALGORITHMS:
        for algorithm in algorithms_of(collective):
            options = {"ranks_per_node": 1, "torus": None if algorithm in ON_A_RING else (ranks,)}
            found = counts(outline(collective, algorithm, ranks, **options))
            least = 0.0 if collective == "barrier" else bus_factor(collective, ranks)
            assert max(found.most_sent, found.most_received) >= least * (1 - 1e-12)
            program = collective_program(collective, algorithm, ranks, **options)
            table = messages_of(program, size, range(ranks), overhead_seconds=o)
            time = run_flows(links, DModK(), table).finish
            assert time >= least * size * beta
            if collective in FORWARDED:
                assert time >= least_seconds(ranks, alpha, o, 0) * (1 - 1e-12)
                if algorithm not in ("linear", "binary-tree", "double-binary-tree"):
                    assert found.steps >= least_steps(ranks)


def told_by(time, latency, overhead, each):
    """How many places have heard by a time, if all ranks of those send one after the other."""
    heard = [0.0] * each  # when each rank that knows it can send first
    places, now = 1, 0
    while now < len(heard):
        heard.sort()
        free, now = heard[now], now + 1
        arrives = free + 2 * overhead + latency
        while arrives <= time + 1e-12 and places < 200:
            heard += [arrives] * each
            places += 1
            arrives += overhead
    return places


@pytest.mark.parametrize("each", [1, 2, 3])
@pytest.mark.parametrize("places", [2, 5, 9, 30])
def test_ranks_of_one_place_tell_others_together(places, each):
    time = least_seconds(places, latency=3.0, overhead=1.0, gap=0.0, ranks_each=each)
    assert told_by(time, 3.0, 1.0, each) >= places
    assert told_by(time - 0.5, 3.0, 1.0, each) < places
    steps = least_steps(places, each)
    assert (each + 1) ** steps >= places > (each + 1) ** (steps - 1)
