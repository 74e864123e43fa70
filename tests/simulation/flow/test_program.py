"""Programs that are made as flows go on: as if they had been there whole, and as other engines."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.base.errors import InputError
from netloom.routing import DimensionOrder, parse_routing
from netloom.simulation.agenda import run_program
from netloom.simulation.flow import FlowLaw, flow_network, run_flows
from netloom.simulation.flow.run import FlowProgram
from netloom.topology import mesh, topology
from netloom.workload.programs.messages import Given, messages
from netloom_papers.worms import Worm, WormEngine

NETS = ["mesh:3x3", "torus:4x3", "leaf-spine:2x2x3", "fat-tree:2x3", "dragonfly:1x2x1"]


@st.composite
def tables(draw, num_hosts):
    count = draw(st.integers(2, 16))
    host = st.integers(0, num_hosts - 1)
    small = st.integers(0, 9)
    each = {"min_size": count, "max_size": count}
    after = [
        draw(st.lists(st.integers(0, row - 1), max_size=2, unique=True)) if row else []
        for row in range(count)
    ]
    table = messages(
        num_hosts,
        source=draw(st.lists(host, **each)),
        target=draw(st.lists(host, **each)),
        flits=draw(st.lists(st.integers(0, 40), **each)),
        start=sorted(draw(st.lists(st.integers(0, 200), **each))),
        delay=draw(st.lists(small, **each)),
        run=draw(st.lists(small, **each)),
        receive=draw(st.lists(small, **each)),
        after=after,
    )
    apart = np.random.default_rng(1).uniform(0.001, 0.01, (2, count))  # so that no two times tie
    start = np.sort(table.start + apart[0])
    return replace(table, start=start, flits=np.where(table.flits, table.flits + apart[1], 0))


def part(table, first, last):
    """Return rows of a table as one that is appended to those before them."""
    begin, end = table.after_offsets[[first, last]]
    columns = ("start", "delay", "run", "source", "target", "flits", "hold", "receive", "context")
    return replace(
        table,
        first=first,
        **{name: getattr(table, name)[first:last] for name in columns},
        after_offsets=table.after_offsets[first : last + 1] - begin,
        after=table.after[begin:end],
    )


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_rows_may_come_while_flows_run(data):
    """What begins later is appended later, in steps of any length: nothing changes."""
    net = topology(data.draw(st.sampled_from(NETS)))
    routing = parse_routing(data.draw(st.sampled_from(["default", "minimal"])), net)
    table = data.draw(tables(net.num_hosts))
    injection = data.draw(st.sampled_from(["in-order", "shared"]))
    links = flow_network(net)
    whole = run_flows(links, routing, table, FlowLaw(injection=injection))
    engine = FlowProgram(links, routing, FlowLaw(injection=injection))
    first, cycle = 0, 0
    while first < len(table) or engine.completed < len(table):
        cycle += data.draw(st.integers(1, 60))
        last = max(int(np.searchsorted(table.start, cycle)), first)
        if last > first:
            engine.append(part(table, first, last))
            first = last
        engine.advance(cycle)
        assert (engine.complete <= engine.rows["complete"]).all()
    rows = engine.rows
    close = 1e-9
    for name in ("ready", "sent", "arrived", "complete"):
        assert rows[name] == pytest.approx(whole.rows[name], abs=0.5 + close)
    sends = (table.flits > 0) & (table.source != table.target)
    assert rows["alone"][sends] == pytest.approx(whole.alone[sends], rel=close)
    inside = net.num_network_channels
    assert engine.channel_flits() == pytest.approx(whole.link_sizes[:inside], rel=close, abs=close)
    assert engine.flit_hops == round(float(engine.channel_flits().sum()))


def test_one_channel_gives_worms_and_flows_the_same_end():
    """Eight messages of 500 flits from one node over one channel, and into one."""
    net = mesh(1, 9)
    for ends in (
        {"source": 0, "target": np.arange(1, 9)},
        {"source": np.arange(1, 9), "target": 0},
    ):
        table = messages(9, flits=500, **ends)
        finish = {}
        worms = WormEngine(net, DimensionOrder(), Worm(release_cycles=0, end_channels=1))
        flows = FlowProgram(flow_network(net), DimensionOrder())
        for name, engine in (("worm", worms), ("flow", flows)):
            assert run_program(engine, Given(table), most_cycles=10**6).enough
            finish[name] = int(engine.rows["complete"].max())
        assert finish["flow"] == pytest.approx(finish["worm"], rel=0.01)
        assert finish["flow"] == pytest.approx(8 * 500, rel=0.01)


def test_hosts_faster_than_a_flit_a_cycle_are_refused():
    from tests.properties.hosted_networks import with_channels

    net = topology("leaf-spine:1x1x2")
    fast = with_channels(net, np.full(net.num_channels, 2.0), net.channel_cycles)
    engine = FlowProgram(flow_network(fast), parse_routing("default", fast))
    with pytest.raises(InputError, match="more than a flit per cycle"):
        engine.append(messages(2, source=0, target=1, flits=5))


def test_many_flows_on_one_link_are_still_exact():
    """More than the program began with."""
    net = mesh(1, 2)
    engine = FlowProgram(flow_network(net), DimensionOrder(), FlowLaw(injection="shared"))
    engine.append(messages(2, source=0, target=1, flits=3))
    engine.append(messages(2, source=[0] * 20_000, target=1, flits=1, first=1, start=10))
    engine.advance(10**6)
    assert engine.completed == 20_001
    assert engine.rows["complete"].max() == 10 + 1 + 20_000
