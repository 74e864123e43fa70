import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.machines import machine
from netloom.questions.simulate.trace import replay
from netloom.routing import table
from netloom.topology import mesh, topology
from netloom.workload.programs.messages import lists
from netloom.workload.programs.traces import Trace
from tests.questions.shared import file_of

SINGLE = {"router": "single-cycle"}
WORM = {"engine": "worm", "release_cycles": 0}


def random_trace(rng, tasks, entries, longest, *, one_by_one=False):
    source = rng.integers(0, tasks, entries)
    target = (source + rng.integers(1, tasks, entries)) % tasks
    nothing = np.zeros(entries, np.int32)
    after = [
        [entry - 1] if one_by_one else rng.integers(0, entry, rng.integers(0, 2)).tolist()
        for entry in range(1, entries)
    ]
    ids = tuple(map(str, range(entries)))
    return Trace(
        "random", tasks, ids, start=nothing.astype(np.int64), delay=nothing, run=nothing,
        hold=nothing, receive=nothing, source=source.astype(np.int32),
        flits=rng.integers(1, longest + 1, entries).astype(np.int32),
        targets=lists([[int(task)] for task in target]), after=lists([[], *after]),
    )  # fmt: skip


CHAIN = """id,after,compute,source,target,flits,receive
a,,100,0,3,8,
b,a,50,3,1,20,6
c,b,10,1,,,
"""


def test_a_chain_takes_what_its_links_take(tmp_path):
    # 100, then 8 flits over 3 hops of 2 cycles: 8 + 6 + 3; 50, 20 flits over 2 hops, 6; 10.
    found = replay("mesh:4", trace=file_of(tmp_path, CHAIN), **SINGLE)
    assert found.finish == 100 + 17 + 50 + 27 + 6 + 10
    assert found.ideal_finish == found.finish
    assert found.contention_share == 0
    links = found.critical_entries()
    assert links["id"].to_list() == ["a", "b", "c"]
    assert links["message"].to_list() == [17, 27, 0]
    assert links["compute"].to_list() == [100, 50, 10]
    assert links["receive"].to_list() == [0, 6, 0]
    assert links["target_node"].to_list() == [3, 1, None]
    assert links["complete"].to_list() == [117, 200, 210]
    log = found.messages()
    assert log["id"].to_list() == ["a", "b"]
    assert log.row(1, named=True).items() >= {
        "id": "b", "source_task": 3, "target_task": 1, "source_node": 3, "target_node": 1,
        "size": 20, "ready": 117, "sent": 167, "arrived": 194, "complete": 200,
        "latency": 27, "source_wait": 0, "unhindered": 27, "contention": 0, "hops": 2,
    }.items()  # fmt: skip
    # Worms: D + L cycles.
    assert replay("mesh:4", trace=file_of(tmp_path, CHAIN), **WORM).finish == (
        100 + 11 + 50 + 22 + 6 + 10
    )


MEETING = "id,source,target,flits\na,0,3,10\nb,1,3,10\n"


def test_contention_is_on_the_critical_path(tmp_path):
    # b has the channel 1 -> 2 until the end of cycle 9, a wants it from cycle 1 on.
    found = replay("mesh:4", trace=file_of(tmp_path, MEETING), **WORM)
    assert found.messages()["latency"].to_list() == [13 + 9, 12]
    assert found.messages()["contention"].to_list() == [9, 0]
    assert (found.finish, found.ideal_finish) == (22, 13)
    assert found.contention_share == 9 / 22
    assert found.channels().row(0, named=True) == {
        "channel": 1, "source_node": 1, "target_node": 2, "size": 20, "utilisation": 20 / 22,
    }  # fmt: skip
    data = found.to_dict()
    (entry,) = data["critical_path"]["entries"]
    assert (entry["id"], entry["complete"]) == ("a", 22)
    assert (entry["message"], entry["contention"]) == (13, 9)
    assert data["message_latency"] == {"mean": 17.0, "p50": 12, "p99": 22, "max": 22}
    assert [each["id"] for each in data["slowest_messages"]] == ["a", "b"]


def test_tasks_on_one_node_share_its_processor_and_cross_no_channel(tmp_path):
    text = "id,compute,source,target,flits\na,30,0,1,8\nb,40,1,2,8\n"
    found = replay(
        "mesh:4", trace=file_of(tmp_path, text), mapping=[2, 2, 0], tasks_per_node=2, **SINGLE
    )
    log = found.messages()
    assert log["complete"].to_list() == [40 + 30, 40 + 8 + 4 + 3]  # b has more to come than a
    assert log["hops"].to_list() == [0, 2]
    assert log["unhindered"].to_list() == [0, 15]
    assert found.critical_entries()["processor_wait"].to_list() == [40]
    data = found.to_dict()
    assert data["mapping"] == "as given"
    assert data["messages"] == 2
    assert data["message_latency"]["mean"] == 15  # of those that crossed channels
    with pytest.raises(InputError, match="tasks_per_node=2"):
        replay("mesh:2", trace=file_of(tmp_path, text), **SINGLE)


def test_a_message_that_waits_for_its_own_node_s_channel_meets_nobody(tmp_path):
    # Both are ready at once, and the one channel into the network takes a first, for 10 cycles.
    text = "id,source,target,flits\na,1,0,10\nb,1,2,10\n"
    for options in (SINGLE, WORM | {"end_channels": 1}):
        found = replay("mesh:3", trace=file_of(tmp_path, text), **options)
        log = found.messages()
        assert log["source_wait"].to_list() == [0, 10]
        assert log["contention"].to_list() == [0, 0]
        assert log["latency"].to_list() == [log["unhindered"][0], log["unhindered"][1] + 10]
        assert found.contention_share == 0
        data = found.to_dict()["critical_path"]
        assert (data["source_wait"], data["contention"]) == (10, 0)


@pytest.mark.parametrize("injection", [1, 2, 3])
def test_a_cut_message_waits_for_its_source_until_its_first_packet_goes(tmp_path, injection):
    text = "id,source,target,flits\na,1,0,24\nb,1,2,24\n"
    found = replay(
        "mesh:3", trace=file_of(tmp_path, text), packet_flits=4, injection_channels=injection,
        **SINGLE,
    )  # fmt: skip
    log = found.messages()
    assert log["source_wait"].to_list() == [0, 24 // injection]
    assert (log["contention"] >= 0).all()


def test_what_needs_no_processor_does_not_queue_for_it(tmp_path):
    text = "id,compute,source,target,flits\na,100,0,,\nb,,0,1,8\nc,1,0,1,8\n"
    log = replay("mesh:2", trace=file_of(tmp_path, text), **SINGLE).messages()
    assert log["sent"].to_list() == [0, 101]  # b at once, c behind a


PAIR = """num_ranks 2
rank 0 {
l1: calc 100
l2: send 64b to 1
l2 requires l1
}
rank 1 {
l1: recv 64b from 0
}
"""


def test_goal_with_the_terms_of_loggp(tmp_path):
    path = file_of(tmp_path, PAIR, "pair.goal")
    # 2 a unit of calc, o, 8 flits over one hop, o.
    options = {"overhead_cycles": 5, "calc_cycles": 2} | SINGLE
    found = replay("mesh:2", trace=path, flit_bytes=8, **options)
    assert found.finish == 200 + 5 + (8 + 2 + 3) + 5
    assert found.critical_entries()["id"].to_list() == ["0.l1", "0.l2", "0.l2>1", "1.l1"]
    own = machine("bluegene-p")
    assert replay(own, trace=path, **options).messages()["size"].to_list() == [64 // 32]


@pytest.mark.parametrize(
    "options", [{}, {"engine": "worm", "routing": "up-down"}, {"routing": "adaptive", "vcs": 3}]
)
def test_a_real_trace_is_told_whole(options):
    found = replay("torus:4x4x4", trace="examples/halo.csv", mapping="random", **options)
    data = found.to_dict()
    log, path = found.messages(), data["critical_path"]
    assert found.finish == log["complete"].max()
    assert found.finish > found.ideal_finish
    parts = ("compute", "processor_wait", "source_wait", "message", "contention", "receive")
    total = sum(path[part] for part in parts)
    assert total + path["start"] == found.finish
    assert data["contention_share"] == path["contention"] / found.finish
    hops = (log["size"] * log["hops"]).sum()
    assert data["flit_hops"] == hops == found.channels()["size"].sum()
    assert (log["contention"] >= 0).all()
    assert (log["sent"] >= log["ready"]).all()


ROUTERS = ("three-stage", "canonical-4-stage", "speculative-2-stage", "single-cycle")
SWITCHINGS = ("wormhole", "virtual-cut-through", "store-and-forward", "circuit")
ROUTINGS = ("default", "adaptive", "valiant", "romm", "up-down", "layered")


@pytest.mark.parametrize("seed", range(30))
def test_no_message_is_faster_than_unhindered(seed):
    rng = np.random.default_rng(seed)
    network = topology(str(rng.choice(["mesh:4x4", "torus:4x4", "torus:5x3", "hypercube:4"])))
    switching, routing = str(rng.choice(SWITCHINGS)), str(rng.choice(ROUTINGS))
    if switching == "circuit" and routing == "adaptive":
        routing = "default"
    packet_flits, injection = int(rng.integers(1, 5)), int(rng.integers(0, 4))
    alone = bool(rng.integers(2))
    found = replay(
        network,
        trace=random_trace(rng, network.num_nodes, 60, 18, one_by_one=alone),
        router=str(rng.choice(ROUTERS)),
        switching=switching,
        routing=routing,
        vcs=4,
        buffer_flits=int(rng.integers(4, 12)),
        injection_channels=injection,
        ejection_channels=int(rng.integers(0, 4)),
        channel_cycles=int(rng.integers(0, 4)),
        credit_cycles=int(rng.integers(0, 3)),
        packet_flits=packet_flits,
        seed=seed,
    )
    log = found.messages()
    assert (log["contention"] >= 0).all()
    if alone:
        assert (log.filter(log["size"] <= packet_flits)["contention"] == 0).all()


def test_ways_of_different_lengths_for_packets_of_one_message():
    grid = mesh(2, 2)
    leaving = {node: np.flatnonzero(grid.channel_source == node) for node in range(4)}
    # From node 0 to node 1: straight, or round the other two.
    ways = {(0, 1): [1, 2], (2, 1): [3], (3, 1): [1]}

    def next_channels(node, target):
        ends = ways.get((node, target), [target if node ^ target != 3 else node ^ 1])
        return [channel for channel in leaving[node] if grid.channel_target[channel] in ends]

    trace = random_trace(np.random.default_rng(3), 2, 40, 12)
    found = replay(grid, trace=trace, routing=table(grid, next_channels), packet_flits=1)
    log = found.messages()
    assert set(log["hops"].to_list()) == {1, 3}
    assert (log["contention"] >= 0).all()
