"""Loops, patterns, transactions, broadcasts and several programs on the flow engine."""

import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.questions.fields import Timing
from netloom.questions.recorded import record
from netloom.questions.simulate.fields import AnyProgramQuestion, Flows, NodeChannels
from netloom.simulation.flow import FlowLaw
from netloom.workload import process_graph

ONE = process_graph(2, [0], [1], name="one")
ALONE = {"app": ONE, "mapping": [0, 3], "applied": 0.5, "think": "fixed", "loops": 20}

ASKED = {
    "loop": lambda **engine: nl.simulate_loop(
        "mesh:4x4", app="transpose:4", applied=[0.2, 0.6], loops=10, **engine
    ),
    "several programs": lambda **engine: nl.simulate_loop(
        "torus:4x4", app=["ring:4@0-3", "ring:4@8-11"], applied=0.3, loops=10, **engine
    ),
    "transactions": lambda **engine: nl.simulate_transactions(
        "torus:3x3", app="torus:3x3", **engine
    ),
    "pattern": lambda **engine: nl.simulate_pattern(
        "symult2010:3x3", pattern="ab-1nn", message_bytes=100, loops=3, **engine
    ),
    "broadcast": lambda **engine: nl.simulate_broadcast(
        "torus:3x3", rate=0.002, broadcast=0.1, packet_flits=4, cycles=3000, **engine
    ),
}


def shape(value):
    """What of an answer is there, whatever its figures."""
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items() if name != "router"}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [shape(value[0])]
    return None


@pytest.mark.parametrize("name", list(ASKED))
def test_answers_have_the_same_shape_as_those_of_worms(name):
    worm, flow = ASKED[name](engine="worm"), ASKED[name](engine="flow")
    assert shape(flow.to_dict()) == shape(worm.to_dict())
    assert flow.table().schema == worm.table().schema
    data = flow.to_dict()
    assert data["engine"] == "flow"
    assert data["packet_flits"] == worm.to_dict()["packet_flits"]
    assert data["router"]["injection"] == "in-order"
    kept = record(flow)
    assert kept.answer.sentences() or name in ("transactions", "broadcast", "pattern")
    assert "flows that share channels fairly" in flow.network.router_name


def test_the_loop_of_a_message_alone_is_known():
    """A computation of 50 cycles, then 3 hops and 50 flits."""
    data = nl.simulate_loop("line:4", engine="flow", **ALONE).to_dict()
    assert data["loop_cycles"] == {"mean": 103, "max": 103}
    assert data["message_latency"] == data["unhindered_latency"] == 53
    assert data["actual"]["worst_node"] == pytest.approx(50 / 103)


def test_packets_of_a_message_wait_for_each_other_and_a_gap():
    cut = {"packet_flits": 10, "gap_cycles": 5}
    data = nl.simulate_loop("line:4", engine="flow", **cut, **ALONE).to_dict()
    assert data["loop_cycles"]["mean"] == 50 + 5 * (3 + 10) + 4 * 5


def test_the_transpose_saturates_where_the_theory_says():
    """Chittor 1991, figure 5.6: 1/11 for the worst node and 3/23 for the average one.

    The worst is 22 hops away, which is 4 % of the time of 11 messages of 50 flits.
    """
    found = nl.simulate_loop(
        "mesh:12x12", applied=0.4, app="transpose:12", loops=60, engine="flow", end_channels=0
    )
    assert found.point.times.worst_node == pytest.approx(1 / 11, rel=0.04)
    assert found.point.times.average_node == pytest.approx(3 / 23, rel=0.04)
    assert found.saturation.worst_node == pytest.approx(1 / 11)


def test_what_one_channel_limits_is_the_same_flit_by_flit_and_with_worms():
    """Three tasks of a line send to the fourth without a pause: its last channel is what counts."""
    graph = process_graph(4, [0, 1, 2], [3, 3, 3], name="into one")
    options = {"app": graph, "applied": 0.99, "message_flits": 200, "loops": 40, "think": "fixed"}
    got = {}
    for engine, more in (
        ("flow", {"end_channels": 0}),
        ("worm", {"release_cycles": 0}),
        ("network", {"packet_flits": 50, "vcs": 8, "buffer_flits": 32}),
    ):
        found = nl.simulate_loop("line:4", engine=engine, **more, **options)
        got[engine] = found.point.utilisation_max
    assert got["flow"] == pytest.approx(1, rel=0.02)
    assert got["flow"] == pytest.approx(got["worm"], rel=0.02)
    assert got["flow"] == pytest.approx(got["network"], rel=0.02)


def test_programs_that_meet_slow_each_other_down_and_those_apart_do_not():
    """Two rings on the same row meet; on rows of their own they do not."""
    options = {"applied": 0.9, "message_flits": 100, "loops": 30, "engine": "flow"}
    apart = nl.simulate_loop("torus:4x4", app=["ring:4@0-3", "ring:4@8-11"], **options)
    for program in apart.point.programs:
        assert program.slowdown == 1
        assert program.slowdown_ci95 == 0
    met = nl.simulate_loop("line:8", app=["ring:4@0,2,4,6", "ring:4@1,3,5,7"], **options)
    assert all(program.slowdown > 1.1 for program in met.point.programs)


def test_a_routing_of_several_paths_spreads_its_flows():
    """Two spines: all cross traffic of a leaf by both, where one path a pair collides."""
    options = {"app": "shift:2/4", "applied": 0.95, "loops": 30, "engine": "flow"}
    spread = nl.simulate_loop("leaf-spine:2x2x2", routing="minimal", **options)
    assert spread.point.message_latency == pytest.approx(spread.point.unhindered_latency, rel=1e-3)
    assert spread.saturation is None


def test_shared_injection_lets_messages_of_a_node_leave_at_once():
    options = {"app": "torus:3x3", "contexts": 4, "run_cycles": 1, "engine": "flow"}
    one = nl.simulate_transactions("torus:3x3", **options)
    other = nl.simulate_transactions("torus:3x3", injection="shared", **options)
    assert one.measured.message_latency != other.measured.message_latency
    assert other.network.router.injection == "shared"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"packet_flits": 10}, "packet_flits: found 10; expected engine network"),
        ({"switching": "wormhole"}, "switching: found 'wormhole'; expected engine network or"),
        ({"vcs": 3}, "vcs: found '3'; expected engine network or worm"),
        ({"router": "single-cycle"}, "router: found 'single-cycle'; expected engine network or"),
        ({"arbitration": "fifo"}, "arbitration: found 'fifo'; expected engine network or worm"),
        ({"release_cycles": 0}, "release_cycles: found '0'; expected engine network or worm"),
        ({"routing": "adaptive"}, "routing 'adaptive'"),
        ({"engine": "worm", "injection": "shared"}, "injection: found 'shared'"),
        ({"engine": "network", "injection": "shared"}, "injection: found 'shared'"),
    ],
)
def test_what_makes_no_sense_on_an_engine_is_refused_in_one_line(options, said):
    with pytest.raises(InputError) as refused:
        nl.simulate_loop(
            "mesh:4x4", **{"app": "ring:16", "applied": 0.1, "engine": "flow", **options}
        )
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_parameters_of_flows_are_options_by_the_same_names():
    """And all options of the group are parameters, or say how fast channels are."""
    fields, law = AnyProgramQuestion.model_fields, FlowLaw()
    assert {name: fields[name].default for name in vars(law)} == vars(law)
    own = {*Flows.model_fields, *NodeChannels.model_fields}
    assert own == {*vars(law), *Timing.model_fields, "end_channels"}
