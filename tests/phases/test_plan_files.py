"""Plan files: what is written comes back, and what someone edited is judged or refused."""

import json
import re
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from netloom.base.provenance import Provenance
from netloom.contention.messages import ConSetCosts
from netloom.phases import Capacity, InvalidPlanError, Plan, first_violation
from netloom.phases.plan_files import read_plan, write_plan
from netloom.routing import Paths
from netloom.topology import Topology, mesh, torus, without
from tests.phases.hand_made import first_fit, joined, made, one_at_a_time


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("plans") / "plan.json"


def write(file, plan, times, costs, **more):
    said = {"lower_bound_phases": 1, "provenance": Provenance({"on": plan.topology.name}), **more}
    write_plan(file, plan, times, costs, **said)


def same(one, other):
    """Return whether two records of arrays hold the same."""
    return all(
        np.array_equal(value, theirs) and value.dtype == theirs.dtype
        for each in fields(one)
        for value, theirs in [(getattr(one, each.name), getattr(other, each.name))]
        if isinstance(value, np.ndarray)
    )


@given(right=made(), data=st.data())
def test_what_is_written_comes_back(file, right, data):
    plan, times, costs = right
    numbers = st.integers(0, len(plan.connections) - 1)
    pairs = st.lists(st.tuples(numbers, numbers).map(sorted).filter(lambda p: p[0] < p[1]))
    order = np.array(data.draw(pairs), np.int32).reshape(-1, 2)
    given_order = replace(plan.connections, before=order[:, 0], after=order[:, 1])
    plan = replace(plan, connections=given_order)
    programs = data.draw(
        st.none() | st.lists(st.lists(st.text())) | st.dictionaries(st.text(), st.integers())
    )
    write(file, plan, times, costs, programs=programs, lower_bound_phases=3)
    found = read_plan(file)
    assert same(found.plan, plan)
    assert same(found.plan.connections, plan.connections)
    assert same(found.plan.routes, plan.routes)
    assert same(found.plan.topology, plan.topology)
    assert same(found.timetable, times)
    assert found.timetable.kind == times.kind
    assert (found.plan.topology.name, found.plan.method) == (plan.topology.name, plan.method)
    assert (found.plan.connections.name, found.plan.capacity) == ("by hand", plan.capacity)
    assert (found.costs, found.lower_bound_phases, found.programs) == (costs, 3, programs)
    assert found.provenance["configuration"] == {"on": plan.topology.name}


def ring_plan():
    """Return 0 -> 1 -> 2 and 1 -> 2 -> 3 on a ring of eight, with times."""
    plan = first_fit(torus(8), joined(8, [(0, 2), (1, 3)], [10, 30]), Capacity(2))
    return plan, one_at_a_time(plan, ConSetCosts())


def content(file):
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.fixture
def edit(tmp_path):
    """Return a function that edits the file of ``ring_plan`` and reads it."""

    def changed(change):
        path = tmp_path / "plan.json"
        write(path, *ring_plan(), ConSetCosts(), programs=[["wait"], []])
        said = content(path)
        change(said)
        path.write_text(json.dumps(said), encoding="utf-8")
        return read_plan(path)

    return changed


def test_one_line_a_connection(tmp_path):
    path = tmp_path / "plan.json"
    write(path, *ring_plan(), ConSetCosts(), programs=[["wait"], []])
    lines = path.read_text(encoding="utf-8").splitlines()
    line = (
        '   {"connection": 1, "tasks": [101, 103], "nodes": [1, 3], "words": 30,'
        ' "route": [1, 2, 3], "start": 0, "end": 60}'
    )
    assert line in lines
    assert '  {"makespan": 60, "lower_bound": 60, "connections": [' in lines
    assert '  ["wait"],' in lines


def test_channels_of_routes_that_nodes_do_not_tell_come_back(file):
    """Two channels from 0 to 1: the second has to be said, and only there."""
    network = Topology("doubled", 2, np.array([0, 0, 1], np.int32), np.array([1, 1, 0], np.int32))
    both = joined(2, [(0, 1), (0, 1), (1, 0)], [1, 1, 1])
    routes = Paths(np.arange(4, dtype=np.int64), np.array([0, 1, 2], np.int32))
    plan = Plan(network, both, Capacity(1, "channel"), np.zeros(3, np.int32), routes, "by hand")
    write(file, plan, one_at_a_time(plan, ConSetCosts()), ConSetCosts())
    found = read_plan(file)
    assert found.plan.routes.channels.tolist() == [0, 1, 2]
    assert same(found.plan.topology, network)
    lines = sorted(content(file)["phases"][0]["connections"], key=lambda c: c["connection"])
    assert [c.get("channels") for c in lines] == [None, [1], None]


def test_a_network_with_broken_channels_comes_back(file):
    broken = without(mesh(2, 3), channels="0-1")
    routes = Paths(np.array([0, 1], np.int64), np.array([0], np.int32))
    ends = [(int(broken.source_end[0]), int(broken.target_end[0]))]
    plan = Plan(broken, joined(6, ends, [4]), Capacity(1), np.zeros(1, np.int32), routes, "by hand")
    write(file, plan, one_at_a_time(plan, ConSetCosts()), ConSetCosts())
    assert same(read_plan(file).plan.topology, Topology("", 6, *ends_of(broken)))


def ends_of(network):
    return network.source_end, network.target_end


def test_a_broken_route_comes_back_and_is_judged(file):
    plan, times = ring_plan()
    wrong = replace(plan, routes=Paths(plan.routes.offsets, np.array([0, 2, 1, 2], np.int32)))
    write(file, wrong, times, ConSetCosts())
    found = read_plan(file)
    assert same(found.plan.routes, wrong.routes)
    assert first_violation(found.plan) == first_violation(wrong)
    assert first_violation(wrong).rule == "route"


def test_no_connections_are_a_plan(file):
    empty = joined(8, [(0, 1)], [1])
    names = ("source", "target", "words", "source_task", "target_task")
    empty = replace(empty, **{name: getattr(empty, name)[:0] for name in names})
    plan = first_fit(torus(8), empty, Capacity(1))
    write(file, plan, one_at_a_time(plan, ConSetCosts()), ConSetCosts())
    found = read_plan(file)
    assert (len(found.plan.connections), found.plan.num_phases) == (0, 0)
    assert first_violation(found.plan, found.timetable, found.costs) is None


# --- Edited by hand


def line(said, number):
    lines = (c for phase in said["phases"] for c in phase["connections"])
    return next(c for c in lines if c["connection"] == number)


JUDGED = {
    "another route": (lambda said: line(said, 0).update(route=[0, 1, 2, 3]), "route"),
    "the route of another": (lambda said: line(said, 0).update(route=[1, 2, 3]), "route"),
    "no route": (lambda said: line(said, 0).update(route=[0]), "route"),
    "a loop": (lambda said: line(said, 0).update(route=[0, 1, 0, 1, 2]), "route"),
    "another target": (lambda said: line(said, 1).update(nodes=[1, 4]), "route"),
    "less capacity": (lambda said: said["capacity"].update(virtual_channels=1), "capacity"),
    "an earlier end": (lambda said: line(said, 1).update(end=50), "timetable"),
    "a negative start": (lambda said: line(said, 1).update(start=-1), "timetable"),
    "more words": (lambda said: line(said, 1).update(words=31), "timetable"),
    "a slower machine": (lambda said: said["costs"].update(clocks_per_word=10), "timetable"),
    "a makespan": (lambda said: said["phases"][0].update(makespan=70), "timetable"),
    "an order": (lambda said: said.update(order=[[0, 1]]), "order"),
}


@pytest.mark.parametrize("change", JUDGED)
def test_a_mistake_of_an_editor_is_read_and_judged(edit, change):
    edits, rule = JUDGED[change]
    found = edit(edits)
    assert first_violation(found.plan, found.timetable, found.costs).rule == rule


def test_a_route_that_goes_round_the_other_way_is_as_good(edit):
    found = edit(lambda said: line(said, 0).update(route=[0, 7, 6, 5, 4, 3, 2]))
    assert first_violation(found.plan, found.timetable, found.costs) is None


def twice(said):
    said["phases"].append({"makespan": 60, "lower_bound": 60, "connections": [line(said, 1)]})


NOT_A_PLAN = {
    "in two phases": (twice, "phase 1, connection 101 -> 103: found number 1 again, as in phase 0"),
    "in none": (
        lambda said: said["phases"][0]["connections"].remove(line(said, 0)),
        "phases: found no connection with number 0; expected all of 0 to 1",
    ),
    "an empty phase": (
        lambda said: said["phases"].append({"makespan": 0, "lower_bound": 0, "connections": []}),
        "phase 1: found no connections; expected at least one",
    ),
    "nodes that no channel joins": (
        lambda said: line(said, 0).update(route=[0, 2]),
        "phase 0, connection 100 -> 102: found a hop from node 0 to node 2; expected nodes that",
    ),
}


@pytest.mark.parametrize("change", NOT_A_PLAN)
def test_what_no_plan_can_hold_is_invalid(edit, change):
    edits, said = NOT_A_PLAN[change]
    with pytest.raises(InvalidPlanError, match=re.escape(said)) as refused:
        edit(edits)
    assert "plan.json, phase" in str(refused.value)
    assert refused.value.violation.rule in ("once", "route")


def test_the_example_of_the_documentation_is_a_plan(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "plan-file.md"
    example = re.search(r"```json\n(.*?)```", page.read_text(encoding="utf-8"), re.S).group(1)
    path = tmp_path / "plan.json"
    path.write_text(example, encoding="utf-8")
    found = read_plan(path)
    assert first_violation(found.plan, found.timetable, found.costs) is None
    assert found.plan.topology.name == "ring:4"
    again = tmp_path / "again.json"
    more = {"lower_bound_phases": found.lower_bound_phases, "programs": found.programs}
    write(again, found.plan, found.timetable, found.costs, **more)
    assert without_provenance(again) == without_provenance(path)
    assert asdict(found.costs) == asdict(ConSetCosts())


def without_provenance(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return [each for each in lines if not each.startswith(' "provenance"')]
