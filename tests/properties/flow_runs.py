"""Random networks and programs for flows, and what the readable twin makes of them."""

from dataclasses import dataclass, replace

import hypothesis.strategies as st
import numpy as np
from hypothesis import assume

from netloom.base.errors import InputError
from netloom.routing import Routing, parse_routing, paths
from netloom.simulation.flow import FlowLaw, flow_network, run_flows, ways_of
from netloom.simulation.flow.engine import FlowEngine
from netloom.simulation.flow.network import WaysOfPairs, circles, in_path_order
from netloom.topology import Topology, topology
from netloom.workload.programs.messages import Messages, messages
from tests.flow_laws import LAW, law_in
from tests.properties.hosted_networks import with_channels
from tests.properties.several_strategies import networks
from tests.properties.strategies import cubes
from tests.reference.flow import FlowNetwork

FAMILIES = [
    "fat-tree:2x3", "fat-tree:4x2", "leaf-spine:3x2x2/2", "xgft:3x2/1x2", "dragonfly:1x2x1",
    "dragonfly:2x2x1", "hyperx:3x2/2", "torus:3x3/1", "jellyfish:6x3x1/1",
]  # fmt: skip

ROUTINGS = [
    "default", "default", "shortest-path", "spread", "ecmp", "minimal", "valiant", "layered",
    "up-down", "d-mod-k", "nca",
]  # fmt: skip

TIMES = ("ready", "sent", "entered", "arrived", "complete")

JITTER = 1e-10
"""Sizes of a case are changed by so much to see whether its answer depends on ties."""

speeds = st.sampled_from([1.0, 1.0, 0.5, 2.0, 4.0, 0.1, 3.7, 2 / 3])
delays = st.integers(0, 5)
SIZES = st.one_of(st.sampled_from([1.0, 64.0, 1e4]), st.floats(1e-3, 1e6), st.integers(1, 9))
TIMES_OF_ROWS = st.one_of(st.just(0.0), st.integers(0, 9), st.floats(1e-3, 1e3))
WHOLE_SIZES, WHOLE_TIMES = st.integers(1, 4), st.integers(0, 3)


@dataclass(frozen=True, eq=False)
class Case:
    """A program of flows and the network that it runs on."""

    topology: Topology
    routing: Routing
    messages: Messages
    bandwidth: float = 1.0
    latency: float = 1.0
    end_channels: int = 1
    injection: str = "in-order"
    switch: float = 0.0
    weights: np.ndarray | int = 1


def links(case):
    """Return the capacity and the latency of each link: channels, then those of direct hosts."""
    net = case.topology
    more = 2 * net.num_hosts * case.end_channels if net.direct else 0
    capacity = [float(one) * case.bandwidth for one in (*net.channel_bandwidth, *[1.0] * more)]
    latency = [int(one) * case.latency for one in (*net.channel_cycles, *[0] * more)]
    return capacity, latency


def ways(case):
    """Return for each row its paths as (probability, links); none to its own host."""
    net, table = case.topology, case.messages
    found = paths(net, case.routing, table.source, table.target).whole(net)
    pair = np.arange(len(found)) if found.pair is None else found.pair
    chance = np.ones(len(found)) if found.probability is None else found.probability
    listed = [[] for _ in range(len(table))]
    for path, row in enumerate(pair.tolist()):
        source, target = int(table.source[row]), int(table.target[row])
        channels = found[path].tolist()
        if net.direct and case.end_channels:
            first = net.num_channels
            channels = [first + source, *channels, first + net.num_hosts + target]
        listed[row].append((float(chance[path]), channels))
    return listed


def injection_channels(case):
    """Return the numbers of the links by which messages leave their hosts."""
    net = case.topology
    first = net.num_channels if net.direct else net.num_network_channels
    many = net.num_hosts * case.end_channels if net.direct else net.num_ports
    return range(first, first + many)


def readable(case, table=None, kind=FlowNetwork):
    """Return the twin of a case, which has run, and the records of its rows."""
    listed, table = ways(case), case.messages if table is None else table
    into = injection_channels(case)

    def queue(row):
        used = {link for _, way in listed[row] for link in way if link in into}
        return ("row", row) if case.injection == "shared" or not used else ("channel", min(used))

    weights = np.broadcast_to(case.weights, len(table))
    network = kind(*links(case), listed.__getitem__, queue, weights)
    return network, network.run(table, switch=case.switch)


def played(case, table=None, **options):
    """Return what the engine finds: asked as users do, if no flow and processor is special."""
    law = law_in({"injection": case.injection} | options)
    more = {name: value for name, value in options.items() if name not in LAW}
    table = case.messages if table is None else table
    network = flow_network(
        case.topology,
        bandwidth=case.bandwidth,
        latency=case.latency,
        end_channels=bool(case.end_channels),
    )
    if np.all(np.equal(case.weights, 1)) and not case.switch:
        return run_flows(network, case.routing, table, law, **more)
    (found, path), round_ = WaysOfPairs(network, case.routing).of(table), None
    if law.sharing == "lossless":
        found = in_path_order(network, found)
        round_ = circles(network, case.routing, found)
    engine = FlowEngine(network, law, switch=case.switch, circles=round_, **more)
    engine.add_ways(found)
    engine.append(table, path, weight=case.weights)
    engine.advance()
    return engine.found()


def columns(rows):
    return {name: np.array([float(getattr(row, name)) for row in rows]) for name in TIMES}


def close(found, wanted, rel):
    """Whether all times agree, relative to the last of all."""
    scale = max(wanted["complete"].max(initial=0), 1e-300)
    return all(np.abs(found[name] - wanted[name]).max(initial=0) <= rel * scale for name in TIMES)


def settled(case, rows):
    """Whether a case's answer hangs on no tie that rounding could break either way.

    Processors and injection channels serve first come first served: if two come at the same time
    for different reasons, the least change decides. Equal times of a table stay equal.
    """
    rng = np.random.default_rng(1)

    def change(values):
        each = rng.uniform(0.5, 1, len(values)) * rng.choice([-1, 1], len(values))
        return JITTER * each

    changes = {"flits": change(case.messages.flits)}
    for name in ("start", "delay", "run", "hold", "receive"):
        alike, which = np.unique(getattr(case.messages, name), return_inverse=True)
        changes[name] = change(alike)[which]
    for sign in (1, -1):
        columns_changed = {
            name: getattr(case.messages, name) * (1 + sign * values)
            for name, values in changes.items()
        }
        other = readable(case, replace(case.messages, **columns_changed))[1]
        if not close(columns(other), columns(rows), 1e-8):
            return False
    return True


def engine_of(case, *, by_turns=False):
    """Return an engine with a case's rows, each of a class of its own, and their ways.

    If links share by turns, its ``circles`` are the links of circles of channels.
    """
    network = flow_network(
        case.topology, latency=case.latency, end_channels=bool(case.end_channels)
    )
    table = case.messages
    moving = np.flatnonzero((table.flits > 0) & (table.source != table.target))
    found = ways_of(network, case.routing, table.source[moving], table.target[moving])
    round_ = None
    if by_turns:
        try:
            found = in_path_order(network, found)
        except InputError:
            assume(False)  # paths of a flow in circles
        round_ = circles(network, case.routing, found)
    path = np.full(len(table), -1)
    path[moving] = np.arange(len(moving))
    engine = FlowEngine(network, FlowLaw(injection=case.injection), circles=round_)
    engine.add_ways(found)
    engine.append(table, path, weight=case.weights)
    return engine, found


@st.composite
def flow_networks(draw):
    """Return a network of any kind, each channel with a capacity and a latency of its own."""
    kind = draw(st.sampled_from(["family", "cube", "any"]))
    if kind == "cube":
        return draw(cubes(3, 16))
    net = topology(draw(st.sampled_from(FAMILIES))) if kind == "family" else draw(networks())
    many = {"min_size": net.num_channels, "max_size": net.num_channels}
    if net.direct or draw(st.booleans()):
        return net
    return with_channels(net, draw(st.lists(speeds, **many)), draw(st.lists(delays, **many)))


@st.composite
def routings(draw, net):
    try:
        return parse_routing(draw(st.sampled_from(ROUTINGS)), net)
    except InputError:
        return parse_routing("default", net)


def column(draw, one, count):
    """Return a value a row: all alike or each its own."""
    alike = draw(st.booleans())
    return [draw(one)] * count if alike else draw(st.lists(one, min_size=count, max_size=count))


@st.composite
def programs(draw, num_hosts, most=14, *, plain=False, whole=False):
    """Return messages between any hosts, and unless ``plain``, what they wait for and need."""
    sizes, times = (WHOLE_SIZES, WHOLE_TIMES) if whole else (SIZES, TIMES_OF_ROWS)
    count = draw(st.integers(1, most))
    host = st.integers(0, num_hosts - 1)
    rows = {
        "source": column(draw, host, count),
        "target": draw(st.lists(host, min_size=count, max_size=count)),
        "flits": column(draw, sizes, count),
        "start": column(draw, times, count),
    }
    after = [[] for _ in range(count)]
    if not plain:
        rows["flits"] = [draw(st.sampled_from([one, one, one, 0])) for one in rows["flits"]]
        after = [
            draw(st.lists(st.integers(0, row - 1), max_size=3, unique=True)) if row else []
            for row in range(count)
        ]
        for name in ("delay", "run", "hold", "receive"):
            rows[name] = column(draw, st.one_of(st.just(0), times), count)
        rows["context"] = column(draw, st.integers(-1, 2), count)
    return table(num_hosts, rows, after)


def table(num_hosts, rows, after):
    """Return a table whose times and lengths are floats."""
    whole = {name: np.array(rows.pop(name)) for name in ("source", "target")}
    context = np.array(rows.pop("context", [-1] * len(after)))
    shape = messages(num_hosts, **whole, flits=0, context=context, after=after)
    return replace(shape, **{name: np.array(values, float) for name, values in rows.items()})


def in_units(program, cycle, flit):
    """Return a program with all times so many times as long, and all lengths."""
    times = {name: getattr(program, name) * cycle
             for name in ("start", "delay", "run", "hold", "receive")}  # fmt: skip
    return replace(program, **times, flits=program.flits * flit)


@st.composite
def cases(draw, most=14, *, plain=False):
    """Return a case; a ``plain`` one has neither processors nor dependences."""
    net = draw(flow_networks())
    routing = draw(routings(net))
    program = draw(programs(net.num_hosts, most, plain=plain))
    each = {"min_size": len(program), "max_size": len(program)}
    weights = draw(st.one_of(st.just([1]), st.lists(st.integers(1, 4), **each)))
    cycle, flit = draw(st.sampled_from([(1.0, 1.0), (1e-9, 16.0), (0.3, 7.0)]))
    case = Case(
        net,
        routing,
        in_units(program, cycle, flit),
        bandwidth=flit / cycle * draw(st.sampled_from([1.0, 3.3])),
        latency=cycle * draw(st.sampled_from([1.0, 0.0, 0.7])),
        end_channels=draw(st.integers(0, 1)) if net.direct else 1,
        injection=draw(st.sampled_from(["in-order", "shared"])),
        switch=cycle * draw(st.sampled_from([0.0, 2.5])),
        weights=np.array(weights * (len(program) // len(weights))),
    )
    try:
        ways(case)
    except InputError:
        assume(False)  # no way there
    return case


CROWDED = [
    "torus:4x4", "mesh:3x3x3", "hypercube:4", "fat-tree:2x4", "leaf-spine:4x3x4", "xgft:4x4/1x3",
    "dragonfly:2x4x2", "hyperx:3x3/2", "jellyfish:12x3x2/1",
]  # fmt: skip


@st.composite
def crowds(draw, most=80, least=2):
    """Return a case of many flows that meet: some all alike, some with hosts that all send to."""
    net = topology(draw(st.sampled_from(CROWDED)))
    routing = draw(routings(net))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(least, most))
    hot = draw(st.sampled_from([1, 2, net.num_hosts]))
    rows = {
        "source": rng.integers(0, net.num_hosts, count),
        "target": rng.integers(0, net.num_hosts, count) % hot,
        "flits": rng.integers(1, draw(st.sampled_from([2, 5, 10**6])), count),
        "start": rng.integers(0, draw(st.sampled_from([1, 4, 10**4])), count),
    }
    speed = rng.choice(draw(st.sampled_from([[1.0], [1.0, 2.0], [1.0, 0.3, 4.0, 0.05]])),
                       net.num_channels)  # fmt: skip
    if not net.direct:
        net = with_channels(net, speed, net.channel_cycles)
        routing = parse_routing(str(routing), net)
    return Case(
        net,
        routing,
        table(net.num_hosts, rows, [[]] * count),
        latency=draw(st.sampled_from([0.0, 1.0])),
        end_channels=draw(st.integers(0, 1)),
        injection=draw(st.sampled_from(["in-order", "shared"])),
        weights=draw(st.sampled_from([np.ones(count, int), rng.integers(1, 5, count)])),
    )
