"""Which channel and router work longest, what bounds them, and how the network tapers."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.contention import cut_bounds, measure_loads, tapers
from netloom.contention.ties import tie_named, tied

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Floats
    from netloom.contention import ChannelLoads
    from netloom.machines import Machine
    from netloom.questions.analyze.mapped import MappedProgram
    from netloom.routing import Routing
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph


def bottleneck(
    topology: Topology, mapped: MappedProgram, machine: Machine | None, *, in_bytes: bool
) -> dict[str, Any]:
    """Return the busiest channel between routers beside the busiest node, and their times.

    In any mapping a node needs its time to send. In a direct network it sends over one channel,
    elsewhere over those of its ports. ``ratio`` is how many times longer the busiest channel takes.
    It is one of a host's if all paths stay inside routers. Times are known if edges are weighted
    by bytes. They are in cycles of one flit of the machine, or of one byte if only a topology was
    named. With a machine they are in µs too.
    """
    loads, sent = mapped.contention, sent_by_node(topology, mapped)
    time, needed = loads.channel_time, sent / injection_bandwidth(topology)
    between = time[: topology.num_network_channels]
    channel = int(between.argmax()) if between.any() else loads.busiest_channel
    node = int(needed.argmax())
    answer: dict[str, Any] = {
        "channel": topology.channel_name(channel),
        "channel_load": _paths_on(loads, channel),
        "channel_weight": float(time[channel] * loads.channel_bandwidth[channel]),
        "node": topology.name_of(node),
        "node_weight": float(sent[node]),
        "ratio": float(time[channel] / needed[node]),
    }
    if not in_bytes:
        return answer
    flit_bytes = machine.flit_bytes if machine else 1
    answer["flit_bytes"] = flit_bytes
    for what, amount in (("channel", time[channel]), ("node", needed[node])):
        cycles = float(np.ceil(amount / flit_bytes))
        answer[f"{what}_busy_cycles"] = cycles
        if machine:
            answer[f"{what}_busy_us"] = cycles * machine.cycle_us
    return answer


def sent_by_node(topology: Topology, mapped: MappedProgram) -> Floats:
    """Return float64[num_hosts], what each host sends over the network."""
    weight = np.where(mapped.moving, mapped.weights, 0.0)
    sent = np.bincount(mapped.source, weight, topology.num_hosts)
    return sent.astype(np.float64)


def injection_bandwidth(topology: Topology) -> Floats:
    """Return float64[num_hosts], that of all ports of each host, or 1 in a direct network."""
    if topology.direct:
        return np.ones(topology.num_hosts)
    first = topology.num_network_channels
    rate = topology.channel_bandwidth[first : first + topology.num_ports]
    room = np.bincount(topology.port_host, rate, topology.num_hosts)
    return np.where(room > 0, room, 1.0)


def kinds_of_channels(topology: Topology) -> NDArray[np.str_]:
    """Return what each channel is: ``network``, ``injection`` or ``ejection``."""
    counts = topology.num_network_channels, topology.num_ports, topology.num_ports
    return np.repeat(["network", "injection", "ejection"], counts)


def busiest_channel(topology: Topology, loads: ChannelLoads) -> dict[str, Any]:
    """Return the channel that works longest, of all: its name, load, bandwidth and time.

    ``tied`` is how many work as long, and ``together`` what these are called if they are many.
    """
    channel, alike = loads.busiest_channel, tied(loads.channel_time)
    rate, time = float(loads.channel_bandwidth[channel]), float(loads.channel_time[channel])
    first, ports = topology.num_network_channels, topology.num_ports
    kind = "network" if channel < first else "injection" if channel < first + ports else "ejection"
    return {
        "name": topology.channel_name(channel),
        "kind": kind,
        "paths": _paths_on(loads, channel),
        "load": float(
            np.append(loads.weighted_channel_load, loads.weighted_host_channel_load)[channel]
        ),
        "bandwidth": rate,
        "time": time,
        "tied": len(alike),
        "together": tie_named(topology, alike),
    }


def busiest_router(topology: Topology, loads: ChannelLoads) -> dict[str, Any] | None:
    """Return the router through which most goes. None in a direct network."""
    if topology.direct:
        return None
    through = np.bincount(
        topology.routers.channel_target, loads.weighted_channel_load, topology.num_routers
    )
    injected = loads.weighted_host_channel_load[: topology.num_ports]
    through = through + np.bincount(topology.injection_router, injected, topology.num_routers)
    router = int(through.argmax())
    name = topology.name_of(topology.router_vertex(router))
    return {"name": name, "load": float(through[router])}


def bounds(topology: Topology, mapped: MappedProgram) -> dict[str, Any] | None:
    """Return what no routing can beat for this mapping, cut by cut. None in a direct network.

    ``time`` is that of the tightest cut, ``ratio`` how many times longer the busiest channel works.
    """
    if topology.direct:
        return None
    cuts = cut_bounds(topology, mapped.source, mapped.target, mapped.weights)
    tightest = max(cuts, key=lambda each: each.time)
    busiest = float(mapped.contention.channel_time.max())
    return {
        "time": tightest.time,
        "ratio": busiest / tightest.time,
        "tightest": tightest.kind,
        "cuts": [asdict(each) | {"time": each.time} for each in cuts],
    }


def oversubscription(topology: Topology) -> list[dict[str, Any]] | None:
    """Return what the routers of each level have below and above them. None if direct."""
    if topology.direct:
        return None
    return [asdict(each) | {"ratio": each.ratio} for each in tapers(topology)]


def each_shift(
    graph: ProcessGraph, topology: Topology, routing: Routing, mapped: MappedProgram
) -> list[dict[str, Any]] | None:
    """Return what each shift of a program such as ``shift:1,5,17`` loads on its own.

    The shifts take place one after the other. None if the program is no shift, or only one.
    """
    if not graph.name.startswith("shift:"):
        return None
    distance = (graph.target - graph.source) % graph.num_tasks
    found = []
    for by in np.unique(distance).tolist():
        one = distance == by
        ends = mapped.source[one], mapped.target[one]
        if np.array_equal(*ends):
            continue  # nothing crosses the network
        loads = measure_loads(topology, routing, *ends, mapped.weights[one])
        between = loads.channel_load
        found.append(
            {
                "shift": by,
                "channel_load": {
                    "mean": float(between.mean()) if len(between) else 0.0,
                    "max": between.max(initial=0).item(),
                },
                "busiest_channel": busiest_channel(topology, loads),
            }
        )
    return found if len(found) > 1 else None


def _paths_on(loads: ChannelLoads, channel: int) -> float:
    """Return the paths on a channel, a whole number unless they are expected ones."""
    paths = np.append(loads.channel_load, loads.host_channel_load)[channel].item()
    return float(paths) if isinstance(paths, float) else int(paths)
