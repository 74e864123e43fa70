"""The program of each node: its streams, their order, and what people and files see of them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.contention.messages import ConSetCosts
from netloom.phases import schedule
from netloom.phases.execution import RECEIVE, SEND, node_programs
from netloom.topology import mesh
from netloom_papers.processes import node_program
from tests.phases.hand_made import listed, neighbours, plan_of

BOTH_WAYS, ONE_WAY = ConSetCosts(), ConSetCosts(both_ways=False)
LINE = mesh(5)


def actions(program, phase=0):
    return [[(a.primitive, a.connection) for a in s] for s in program.phases[phase].streams]


def test_sends_and_receives_are_two_streams_in_the_order_of_the_timetable():
    plan = plan_of([(2, 1), (2, 3), (4, 2), (1, 2)], 8, on=LINE)
    timetable = replace(listed(plan), start=np.array([30.0, 0.0, 50.0, 10.0]))
    programs = node_programs(plan, timetable, BOTH_WAYS)
    assert [program.node for program in programs] == list(range(5))
    assert actions(programs[2]) == [[(SEND, 1), (SEND, 0)], [(RECEIVE, 3), (RECEIVE, 2)]]
    assert actions(programs[3]) == [[(RECEIVE, 1)]]
    assert actions(programs[0]) == []
    one = node_programs(plan, timetable, ONE_WAY)[2]
    assert actions(one) == [[(SEND, 1), (RECEIVE, 3), (SEND, 0), (RECEIVE, 2)]]
    beside = node_programs(plan, replace(timetable, kind="streaming"), BOTH_WAYS)[2]
    assert actions(beside) == [[(SEND, 1)], [(RECEIVE, 3)], [(SEND, 0)], [(RECEIVE, 2)]]


def test_every_connection_is_sent_once_and_received_once_in_its_phase():
    plan = plan_of(neighbours(), 8, [number % 3 for number in range(256)])
    programs = node_programs(plan, schedule(plan, BOTH_WAYS), BOTH_WAYS)
    assert {len(program.phases) for program in programs} == {3}
    seen = {
        (action.primitive, action.connection): (program.node, action.node, phase.phase)
        for program in programs
        for phase in program.phases
        for stream in phase.streams
        for action in stream
    }
    assert len(seen) == 2 * 256
    for number in range(256):
        start, end = int(plan.connections.source[number]), int(plan.connections.target[number])
        assert seen[SEND, number] == (start, end, plan.phase[number])
        assert seen[RECEIVE, number] == (end, start, plan.phase[number])


def test_who_waits_is_told():
    # 0 -> 1 before 1 -> 2, which node 1 sees itself; and before 3 -> 4, which node 3 must be told
    plan = plan_of([(0, 1), (1, 2), (3, 4)], 8, on=LINE, order=[(0, 1), (0, 2)])
    programs = node_programs(plan, schedule(plan, BOTH_WAYS), BOTH_WAYS)
    ((received,),) = (s for s in programs[1].phases[0].streams if s[0].primitive == RECEIVE)
    assert received.tell == (3,)
    assert programs[3].phases[0].streams[0][0].after == (0,)
    parted = replace(plan, phase=np.array([0, 1, 1], np.int32))
    later = node_programs(parted, schedule(parted, BOTH_WAYS), BOTH_WAYS)
    assert later[3].phases[1].streams[0][0].after == (), "phases see to that"
    assert str(programs[3]) == (
        "node 3\n  instantiate_phase(0)\n      send_element(2), 8 words to node 4, once 0 came"
    )
    assert "receive_element(0), 8 words from node 0, then tell 3" in str(programs[1])


def test_programs_go_through_json():
    plan = plan_of([(0, 1), (1, 2), (3, 4)], 8, on=LINE, order=[(0, 2)])
    programs = node_programs(plan, schedule(plan, BOTH_WAYS), BOTH_WAYS)
    text = json.dumps([program.to_dict() for program in programs])
    assert [node_program(each) for each in json.loads(text)] == programs
    wrong = programs[0].to_dict()
    for change in ({"node": "x"}, {"phases": [{"phase": 0}]}, {"phases": 3}):
        with pytest.raises(InputError, match="node program: found"):
            node_program(wrong | change)
    wrong["phases"][0]["streams"][0][0]["primitive"] = "sing"
    with pytest.raises(InputError, match="primitive 'sing'"):
        node_program(json.loads(json.dumps(wrong)))
