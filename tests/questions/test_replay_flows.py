"""``simulate trace --engine flow``: a trace in seconds and bytes, or in cycles and flits."""

import polars as pl
import pytest

import netloom as nl
from netloom.workload.programs.trace_files import read_goal
from tests.questions.shared import file_of

TREE = "leaf-spine:8x8x8"
RATES = {"engine": "flow", "bandwidth": "1GB/s", "latency": 0}
SHARED = RATES | {"injection": "shared"}

# Into host 9 from hosts 0, 1 and 2, all by spine 1; d leaves leaf 0 by it too. In ms and MB: a and
# c have half until b begins at 1, a third each until d begins at 2, then a quarter.
MEETING = """id,time_seconds,source,target,bytes
a,0,0,9,1e6
b,0.001,1,9,2MB
c,,2,9,1000000
d,2e-3,0,17,500000.0
"""


def test_in_order_a_host_sends_one_after_the_other(tmp_path):
    text = "id,source,target,bytes\na,0,9,1e6\nb,0,17,1e6\n"
    path = file_of(tmp_path, text)
    log = nl.replay(TREE, trace=path, **RATES).messages()
    assert log["complete"].to_list() == pytest.approx([1e-3, 2e-3])
    assert log["source_wait"].to_list() == pytest.approx([0, 1e-3])
    assert log["contention"].to_list() == [0, 0]
    log = nl.replay(TREE, trace=path, **SHARED).messages()
    assert log["complete"].to_list() == pytest.approx([2e-3, 2e-3])


def test_latency_and_overhead_count_once_and_at_both_ends(tmp_path):
    path = file_of(tmp_path, "id,after,source,target,bytes\na,,0,9,1e6\nb,a,9,0,1\n")
    times = {"latency": "1us", "overhead": "10us"}
    found = nl.replay(TREE, trace=path, **(RATES | times))
    # 4 channels of 1 µs each way, and 4 overheads.
    assert found.finish == pytest.approx(1e-3 + 1e-9 + 8e-6 + 4e-5)
    path = found.critical_path
    assert path.compute == path.receive == pytest.approx(2e-5)
    assert found.to_dict()["clock"]["overhead_seconds"] == 1e-5


@pytest.mark.parametrize("engine", ["network", "worm"])
def test_engines_of_cycles_take_seconds_where_a_cycle_is_known(tmp_path, engine):
    path = file_of(tmp_path, "id,time_seconds,source,target,bytes\na,0.0001,0,3,64000\n")
    router = {"router": "single-cycle", "packet_flits": 100} if engine == "network" else {}
    rates = {"engine": engine, "flit_bytes": 64, "bandwidth": "64MB/s"} | router
    found = nl.replay("mesh:4", trace=path, **rates)
    assert (found.time_unit, found.of_flows) == ("cycles", None)
    (log,) = found.messages().to_dicts()
    assert (log["ready"], log["size"]) == (100, 1000)  # a cycle is a µs
    data = found.to_dict()
    assert data["cycle_us"] == pytest.approx(1)
    assert data["finish_us"] == pytest.approx(found.finish)
    machine = nl.replay("symult2010:2x2", trace=path, engine=engine, **router)
    assert machine.messages()["ready"].to_list() == [round(100 / machine.network.cycle_us)]


FLITS = "id,after,compute,source,target,flits\na,,100,0,9,8\nb,a,50,9,17,20\nc,b,10,17,,\n"


def test_cycles_and_flits_stay_so_if_no_clock_is_known(tmp_path):
    path = file_of(tmp_path, FLITS)
    found = nl.replay(TREE, trace=path, engine="flow")
    assert (found.time_unit, found.size_unit) == ("cycles", "flits")
    # A flit a cycle, and a cycle of latency on each of 4 channels.
    assert found.finish == 100 + 8 + 4 + 50 + 20 + 4 + 10
    data = found.to_dict()
    assert data["finish"] == data["alone"] == data["bound"] == 196
    assert (data["time_unit"], data["clock"], data["size"]) == ("cycles", None, 28)
    assert found.messages()["complete"].to_list() == [112, 186]
    assert found.critical_entries()["message"].to_list() == [12, 24, 0]
    clock = {"bandwidth": "64GB/s", "latency": "2ns", "flit_bytes": 128}
    timed = nl.replay(TREE, trace=path, engine="flow", **clock)
    assert (timed.time_unit, timed.size_unit) == ("seconds", "bytes")
    assert timed.finish == pytest.approx(196 * 2e-9)
    assert timed.messages()["size"].to_list() == [8 * 128, 20 * 128]


def reduction(ranks, size):
    """A binomial tree to rank 0, as Schedgen writes it: rank r sends once it has received all."""
    lines = [f"num_ranks {ranks}"]
    for rank in range(ranks):
        lines.append(f"rank {rank} {{")
        far = 1 << (ranks.bit_length() - 2)
        received = []
        while far and rank < far:
            received.append(f"r{far}")
            lines.append(f"r{far}: recv {size}b from {rank + far}")
            far //= 2
        if rank:
            target = rank - (1 << (rank.bit_length() - 1))
            lines.append(f"s: send {size}b to {target}")
            lines += [f"s requires {each}" for each in received]
        lines.append("}")
    return "\n".join(lines) + "\n"


def test_the_run_of_loggopsim_s_readme(tmp_path):
    """Its defaults: L = 2500, o = 1500, g = 1000, G = 6 ns (README of LogGOPSim, 8 hosts).

    A message of s bytes takes L + (s − 1) G there, so that L − G is the latency here.
    """
    path = file_of(tmp_path, reduction(8, 1024), "reduce.goal")
    options = {"bandwidth": 1e9 / 6, "latency": (2500 - 6) * 1e-9 / 2, "overhead": "1500ns"}
    found = nl.replay("leaf-spine:1x1x8", trace=path, engine="flow", gap_time="1000ns", **options)
    program = found.run.program
    rank = program.trace.source[program.entry]
    own = program.trace.run[program.entry] > 0  # not the messages themselves
    ends = [found.run.rows["complete"][(rank == each) & own].max() * 1e9 for each in range(8)]
    assert ends == pytest.approx([34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500], abs=1e-6)
    read = read_goal(path, overhead=1.5e-6, gap=1e-6)
    again = nl.replay("leaf-spine:1x1x8", trace=read, engine="flow", **(options | {"overhead": 0}))
    assert again.finish == found.finish


def test_a_multicast_goes_along_its_tree_and_to_each_host(tmp_path):
    path = file_of(tmp_path, "id,after,source,target,bytes\na,,0,*,1e6\nb,a,5,0,1e6\n")
    found = nl.replay("mesh:4x4", trace=path, **RATES)
    log = found.messages()
    assert len(log.filter(pl.col("id") == "a")) == 5  # of the tasks 0 to 5, on a tree of hops
    tree = nl.replay(TREE, trace=path, **RATES)
    assert tree.finish == pytest.approx(5e-3 + 1e-3)  # one copy after the other, then b


def test_flows_are_spread_over_several_paths_and_go_round_what_failed(tmp_path):
    path = file_of(tmp_path, "id,source,target,bytes\na,0,9,1e6\nb,1,9,1e6\n")
    one = nl.replay(TREE, trace=path, **SHARED, routing="minimal")
    assert one.finish == pytest.approx(2e-3)  # into host 9
    assert one.channels()["size"].to_list()[:16] == pytest.approx([2.5e5] * 16)
    assert one.messages()["hops"].to_list() == [2, 2]
    around = nl.replay("mesh:2x2", trace=file_of(tmp_path, "id,source,target,bytes\na,0,1,1e6\n"),
                       **SHARED, failed_channels="0-1")  # fmt: skip
    assert around.messages()["hops"].to_list() == [3]
    assert around.finish == pytest.approx(1e-3)


def reversed_bits(node):
    return int(f"{node:06b}"[::-1], 2)


ALL = [(a, b) for a in range(64) for b in range(64) if a != b]
SIMGRID = {
    "all to all": (ALL, 0.38405),
    "the next": ([(node, (node + 1) % 64) for node in range(64)], 0.00815),
    "all to 0": ([(node, 0) for node in range(1, 64)], 0.25605),
    "bits reversed": ([(a, b) for a, b in ALL if b == reversed_bits(a)], 0.03205),
}
"""Of 1 MB each at once on its torus of 4x4x4 (libsimgrid 3.32, CM02 without corrections, links of
125 MB/s and 50 µs, no channels of hosts): when the last has ended."""


@pytest.mark.parametrize("traffic", list(SIMGRID))
@pytest.mark.parametrize("sharing", ["max-min", "by-latency"])
def test_ends_are_simgrid_s(tmp_path, traffic, sharing):
    pairs, end = SIMGRID[traffic]
    rows = [f"{number},{a},{b},1MB" for number, (a, b) in enumerate(pairs)]
    path = file_of(tmp_path, "id,source,target,bytes\n" + "\n".join(rows))
    rates = {"engine": "flow", "bandwidth": "125MB/s", "latency": "50us", "end_channels": 0}
    found = nl.replay("torus:4x4x4", trace=path, injection="shared", sharing=sharing, **rates)
    assert found.finish == pytest.approx(end, rel=1e-6)


def test_by_latency_shares_are_those_of_round_trips(tmp_path):
    path = file_of(tmp_path, "id,source,target,bytes\na,0,1,1e6\nb,8,1,1e6\n")
    options = SHARED | {"latency": "1us"}
    plain = nl.replay(TREE, trace=path, **options).messages()["complete"].to_list()
    assert plain == pytest.approx([2e-3 + 2e-6, 2e-3 + 4e-6], rel=1e-3)
    # Two channels against four: a has two thirds.
    found = nl.replay(TREE, trace=path, **options, sharing="by-latency")
    assert found.messages()["complete"].to_list() == pytest.approx([1.5e-3, 2e-3], rel=1e-2)


def test_tasks_on_one_node_send_each_other_at_once(tmp_path):
    text = "id,after,source,target,bytes\na,,0,1,1e6\nb,a,1,2,1e6\n"
    found = nl.replay(TREE, trace=file_of(tmp_path, text), **RATES, tasks_per_node=2)
    log = found.messages()
    assert log["complete"].to_list() == pytest.approx([0, 1e-3])
    assert log["hops"].to_list() == [0, 0]
    assert log["slowdown"].to_list() == [1, 1]
    assert len(found.run.moved) == 1


def test_ctrl_c_gives_what_is_known(ctrl_c_after, tmp_path):
    rows = (f"{n},{n - 1 if n else ''},{n % 64},{(n + 1) % 64},1000" for n in range(20_000))
    path = file_of(tmp_path, "\n".join(["id,after,source,target,bytes", *rows]))
    ctrl_c_after(3)
    found = nl.replay(TREE, trace=path, **RATES)
    assert found.interrupted
    assert found.finish is found.of_flows.bound is found.of_flows.alone is None
    data = found.to_dict()
    assert data["finish"] is data["critical_path"] is None
    assert found.messages()["complete"].null_count() > 0


def test_channels_shared_by_turns_give_a_near_host_more(tmp_path):
    """Two hosts of a leaf and three of another send into a host of the first."""
    text = "id,source,target,bytes\na,1,0,1e6\nb,2,0,1e6\nc,8,0,1e6\nd,9,0,1e6\ne,10,0,1e6\n"
    path = file_of(tmp_path, text)
    fair = nl.replay(TREE, trace=path, **RATES).messages()["complete"].to_list()
    found = nl.replay(TREE, trace=path, **RATES, sharing="lossless")
    turns = found.messages()["complete"].to_list()
    assert fair == pytest.approx([5e-3] * 5)
    # by turns a third each to a, b and the channel from the spine, over which c, d and e come
    assert turns[:2] == pytest.approx([3e-3, 3e-3])
    assert turns[2:] == pytest.approx([5e-3] * 3)
    assert found.to_dict()["expected_error"]["within"] is None


def test_messages_that_meet_take_what_their_shares_leave_them(tmp_path):
    found = nl.replay(TREE, trace=file_of(tmp_path, MEETING), **SHARED)
    data, table = found.to_dict(), found.messages()
    assert data["finish"] == pytest.approx(4.5e-3)
    assert data["alone"] == pytest.approx(3e-3)  # b, from 1 ms on
    assert data["bound"] == pytest.approx(4.5e-3)  # 4.5 MB over one channel
    assert data["slowdown"]["max"] == pytest.approx(8 / 3)
    assert data["slowdown"]["mean"] == pytest.approx((3 * 8 / 3 + 1.75) / 4)
    assert data["busiest"][0] == {
        "name": "leaf0 -> spine1", "size": 4.5e6, "busy": 4.5e-3,
        "utilisation": pytest.approx(1), "between": "routers",
    }  # fmt: skip
    path = data["critical_path"]
    assert path["start"] == 1e-3
    assert path["message"] == pytest.approx(2e-3)
    assert path["contention"] == pytest.approx(1.5e-3)
    assert [entry["id"] for entry in path["entries"]] == ["b"]
    assert table["sent"].to_list() == [0, 1e-3, 0, 2e-3]
    ends = [8e-3 / 3, 4.5e-3, 8e-3 / 3, 10e-3 / 3]
    assert table["complete"].to_list() == pytest.approx(ends)
    assert table["unhindered"].to_list() == pytest.approx([1e-3, 2e-3, 1e-3, 0.5e-3])


def test_how_far_it_can_be_trusted_is_told_from_both_ways_of_sending(tmp_path):
    rows = [f"m{i}-{j},{i},{j},1e6" for i in range(8) for j in range(8, 16)]
    path = file_of(tmp_path, "id,source,target,bytes\n" + "\n".join(rows))
    ordered = nl.replay(TREE, trace=path, **RATES).to_dict()
    shared = nl.replay(TREE, trace=path, **SHARED).to_dict()
    for name in ("in_order_finish", "shared_finish"):
        assert ordered[name] == shared[name] > 0
    assert ordered["in_order_finish"] == ordered["finish"]
    assert shared["shared_finish"] == shared["finish"]
    assert ordered["expected_error"] == shared["expected_error"]
    tiny = file_of(tmp_path, "id,source,target,bytes\na,0,9,1\n")
    found = nl.replay(TREE, trace=tiny, **(RATES | {"latency": "1us"})).to_dict()
    assert found["expected_error"]["within"] > 0.2
    assert "shorter than a packet or than their latency" in found["expected_error"]["why"]


def test_the_same_trace_on_flits_and_flows_takes_nearly_the_same(tmp_path):
    one = "id,source,target,flits\na,0,15,5000\n"
    path = file_of(tmp_path, one)
    flow = nl.replay("mesh:4x4", trace=path, engine="flow").finish
    worm = nl.replay("mesh:4x4", trace=path, engine="worm").finish
    assert flow == pytest.approx(worm, rel=0.01)


def test_nothing_sent_takes_what_is_computed(tmp_path):
    text = "id,time_seconds,compute_seconds,source\na,1,0.5,0\nb,,0.25,0\n"
    found = nl.replay(TREE, trace=file_of(tmp_path, text), **RATES)
    assert found.finish == 1.5
    data = found.to_dict()
    assert data["slowdown"] == {"mean": None, "p50": None, "p99": None, "max": None}
    assert data["busiest"] == []
