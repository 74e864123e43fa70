"""Rounds whose messages never meet give what all their messages give, one by one."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings

from netloom.base.errors import InputError
from netloom.simulation.flow import FlowLaw, flow_network, run_flows
from netloom.simulation.flow.rounds import rounds_apart
from netloom.workload.programs.rounds import RoundProgram, as_messages, exchange
from tests.properties.flow_runs import flow_networks, routings

REL = 1e-12

sizes = st.one_of(st.sampled_from([1.0, 64.0]), st.floats(1, 1e4), st.integers(1, 9))


@st.composite
def rounds(draw, hosts):
    """Return a round: a shift, a permutation, or any messages, of sizes alike or not."""
    kind = draw(st.sampled_from(["shift", "permutation", "any"]))
    if kind == "shift":
        source = np.arange(hosts)
        target = (source + draw(st.integers(1, hosts))) % hosts
    elif kind == "permutation":
        source = np.arange(hosts)
        target = np.array(draw(st.permutations(range(hosts))))
    else:
        host = st.integers(0, hosts - 1)
        pairs = draw(st.lists(st.tuples(host, host), min_size=1, max_size=hosts))
        source, target = np.array(pairs).T
    size = draw(sizes)
    if draw(st.booleans()):
        size = draw(st.lists(sizes, min_size=len(source), max_size=len(source)))
    if draw(st.sampled_from([False, False, True])):
        size = np.where(np.arange(len(source)) % 3 == 1, 0, size)
    return exchange(source, target, size, draw(st.sampled_from([1, 1, 2, 5, 30])))


@st.composite
def cases(draw):
    net = draw(flow_networks())
    routing = draw(routings(net))
    listed = draw(st.lists(rounds(net.num_hosts), min_size=1, max_size=4))
    network = flow_network(
        net,
        bandwidth=draw(st.sampled_from([1.0, 3.3])),
        latency=draw(st.sampled_from([1.0, 0.0, 0.7])),
        end_channels=draw(st.booleans()),
    )
    law = FlowLaw(injection=draw(st.sampled_from(["in-order", "shared"])))
    return network, routing, RoundProgram(net.num_hosts, listed), law


def plain(network, routing, program, law):
    return run_flows(network, routing, as_messages(program), law)


@settings(deadline=None, max_examples=80)
@given(cases())
def test_rounds_are_what_their_messages_are(case):
    network, routing, program, law = case
    assume(any(one.moving.any() for one in program))
    try:
        wanted = plain(network, routing, program, law)
    except InputError:
        assume(False)  # no way there
    found = rounds_apart(network, routing, program, law)
    assume(found is not None)
    finish, link_sizes = found
    assert finish == pytest.approx(wanted.finish, rel=REL)
    assert link_sizes == pytest.approx(wanted.link_sizes, rel=1e-9)
