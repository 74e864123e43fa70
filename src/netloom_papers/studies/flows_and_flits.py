"""How far flows are from flits: the same messages, shared fairly and switched flit by flit.

Networks on which the estimate of the error (``simulation.flow.trust``) was made are *known*. Those
of other sizes and kinds *judge* it, and goals are about these. All messages are there at cycle 0.
Errors are the end of flows over that of flits, less 1. Of single messages, the mean of their size.
Flow ends have the latency of an idle network of routers added, message by message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from math import isqrt
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from netloom.base.arrays import Floats, Ints
from netloom.routing import parse_routing, virtual_channel_routing
from netloom.simulation.agenda import run_program
from netloom.simulation.flow import FlowLaw, flow_network, run_flows, trust
from netloom.simulation.network.routers import Router
from netloom.simulation.program_network import ProgramNetwork
from netloom.topology import Cube, Topology, topology, torus
from netloom.workload.programs.messages import Given, Messages, messages
from netloom_papers.studies import running

ROUTINGS = {
    **dict.fromkeys(("mesh", "torus", "hyperx"), "dimension-order"),
    **dict.fromkeys(("leaf-spine", "fat-tree", "xgft"), "d-mod-k"),
    "dragonfly": "minimal-group",
}
"""By family: each packet of a pair takes the same way, which flows take as well."""

NETWORKS = {
    "known": (
        "mesh:8x8", "torus:8x8", "leaf-spine:8x4x8", "fat-tree:4x3", "dragonfly:2x4x2",
        "hyperx:4x4/4",
    ),
    "judge": (
        "mesh:6x10", "torus:5x7", "mesh:4x12", "leaf-spine:6x3x5", "fat-tree:6x2", "xgft:4x6/1x3",
        "dragonfly:1x4x3", "hyperx:3x5/3",
    ),
}  # fmt: skip
"""Those on which the estimate of the error was made, and those that judge it."""

SWITCHES = {
    "packets": (Router(vcs=12, buffer_flits=32), 16),
    "2 VCs": (Router(vcs=2, buffer_flits=32), 16),
    "few credits": (Router(vcs=2, buffer_flits=4), 16),
    "worms": (Router(vcs=4, buffer_flits=16), 2048),
}
"""Routers by name, and the longest packet of each: packets of 16 flits on 12 VCs of 32 flits, or
on 2. On 2 VCs of 4 flits, which do not fill a channel. One worm a message on 4 VCs of 16."""

FILLING = [name for name in SWITCHES if name != "few credits"]
"""Routers whose buffers can keep a channel busy."""

MISSED, WIDE = 10.0, 60.0
"""Of 100 judging cases, how many ends may be beyond the estimate, and told with more than 10 %."""

ONE_LINK_LIMIT = 1.0
"""Per cent: how far the end of an incast may be off."""

MOST_CYCLES = 4_000_000
"""Cycles of a case. None takes nearly as many."""

SHARINGS = {
    "in order": FlowLaw(),
    "shared": FlowLaw(injection="shared"),
    "lossless": FlowLaw(sharing="lossless"),
}
"""How flows are run: hosts send messages in order, or all at once, or links share by turns."""

SHORT_FLITS, SOME, CROWD = 4, 8, 16


Sent: TypeAlias = tuple[Any, Any, Any]
"""Sources, targets and flits of messages, all at cycle 0, in the order of rows."""


def _hosts(net: Topology) -> Ints:
    return np.arange(net.num_hosts)


def _cube(net: Topology) -> Cube:
    """Return the sides of a network. The hosts of one that has none are a ring."""
    return net if isinstance(net, Cube) else torus(net.num_hosts)


def _transposed(net: Topology, _: np.random.Generator, flits: int) -> Sent:
    side = isqrt(net.num_hosts)
    hosts = np.arange(side * side)
    return hosts, hosts.reshape(side, side).T.ravel(), flits


def _tornado(net: Topology, _: np.random.Generator, flits: int) -> Sent:
    hosts, ring = _hosts(net), _cube(net).sides[-1]
    place = hosts % ring
    return hosts, hosts - place + (place + (ring + 1) // 2 - 1) % ring, flits


def _incast(net: Topology, rng: np.random.Generator, flits: int) -> Sent:
    many = min(CROWD, net.num_hosts // 2)
    source = rng.choice(np.arange(1, net.num_hosts), many, replace=False)
    return source, np.zeros(many, np.int64), flits


def _victims(net: Topology, rng: np.random.Generator, flits: int) -> Sent:
    source, target, _ = _incast(net, rng, flits)
    rest = np.setdiff1d(np.arange(1, net.num_hosts), source)
    ends = np.append(source, rest), np.append(target, rng.permutation(rest))
    return *ends, flits


def _halo(net: Topology, _: np.random.Generator, flits: int) -> Sent:
    cube, hosts, ends = _cube(net), _hosts(net), []
    for axis, way in product(reversed(range(len(cube.sides))), (1, -1)):
        to = np.roll(hosts.reshape(cube.sides), -way, axis).ravel()
        ends.append(np.stack([hosts, to])[:, cube.wraps[axis] | ((to - hosts) * way > 0)])
    return *np.concatenate(ends, axis=1), flits // 4


def _random(net: Topology, rng: np.random.Generator, flits: int) -> Sent:
    count = 3 * net.num_hosts
    source = rng.integers(0, net.num_hosts, count)
    target = (source + rng.integers(1, net.num_hosts, count)) % net.num_hosts
    return source, target, rng.integers(flits // 20, flits, count)


def _to_all(net: Topology, flits: int, *, shifted: bool) -> Sent:
    source, step = (each.ravel() for each in np.mgrid[: net.num_hosts, : net.num_hosts][::-1])
    return source, (source * shifted + step) % net.num_hosts, flits // 32


def _short(net: Topology, rng: np.random.Generator, _: int) -> Sent:
    source = np.repeat(_hosts(net), SOME)
    target = (source + rng.integers(1, net.num_hosts, len(source))) % net.num_hosts
    return source, target, SHORT_FLITS


PATTERNS: dict[str, Callable[[Topology, np.random.Generator, int], Sent]] = {
    "permutation": lambda net, rng, flits: (_hosts(net), rng.permutation(net.num_hosts), flits),
    "transpose": _transposed,
    "bit complement": lambda net, _, flits: (_hosts(net), _hosts(net)[::-1], flits),
    "tornado": _tornado,
    "incast": _incast,
    "incast, victims": _victims,
    "halo": _halo,
    "random": _random,
    "all-to-all, shifted": lambda net, _, flits: _to_all(net, flits, shifted=True),
    "all-to-all, one order": lambda net, _, flits: _to_all(net, flits, shifted=False),
    "short messages": _short,
}
"""Patterns by name. ``incast, victims``: those who are not part of the incast send to each other.
What hosts would send to themselves is left out.
"""

PERMUTATIONS = 3


def cases(*, quick: bool) -> list[dict[str, Any]]:
    """Return all cases as plain data."""
    return [
        {"part": part, "on": on, "pattern": pattern, "router": router, "seed": seed, "flits": 2048}
        for part, networks in NETWORKS.items()
        for on in networks[: 1 if quick else None]
        for pattern in PATTERNS
        for seed in range(PERMUTATIONS if pattern == "permutation" else 1)
        for router in list(SWITCHES)[: 2 if quick else None]
    ]


_network = cache(topology)


def table_of(case: running.Case) -> Messages:
    """Return the messages of a case."""
    net = _network(case["on"])
    rng = np.random.default_rng([case["seed"], list(PATTERNS).index(case["pattern"])])
    source, target, flits = PATTERNS[case["pattern"]](net, rng, case["flits"])
    other = source != target
    sent = np.broadcast_to(flits, len(source))[other]
    return messages(net.num_hosts, source=source[other], target=target[other], flits=sent)


def simulated(case: running.Case, stopped: running.Stopped) -> dict[str, Any] | None:
    """Run a case flit by flit and as flows. None if it is to stop.

    Times of flows are those of bytes. What a message's head takes in the idle network of routers
    is added, so that a message alone takes as long in both.
    """
    net, table = _network(case["on"]), table_of(case)
    name = ROUTINGS[case["on"].partition(":")[0]]
    router, packet_flits = SWITCHES[case["router"]]
    routing = virtual_channel_routing(net, name, num_vcs=router.vcs)
    network = ProgramNetwork(net, router, routing, packet_flits, 0, 0)
    engine = network.make_engine()
    ending = run_program(
        engine, Given(table), step=20_000, most_cycles=MOST_CYCLES, stopped=stopped
    )
    if ending.interrupted:
        return None
    assert ending.enough
    arrived = engine.rows["arrived"].astype(np.float64)
    head = (network.zero_load_latencies(engine.rows) - table.flits).astype(np.float64)
    links = flow_network(net, latency=0.0)
    found: dict[str, Any] = {"end": float(arrived.max())}
    for sharing, law in SHARINGS.items():
        run = run_flows(links, parse_routing(name, net), table, law)
        found[sharing] = _compared(run.arrived + head, arrived)
        found["bound"] = float((run.link_sizes / links.capacity).max() + head.min())
    found["short"] = float(np.mean((table.flits < packet_flits) | (table.flits < head)))
    return found


def _compared(said: Floats, true: Floats) -> dict[str, Any]:
    """Return the end, the error of single messages, and whether they differ alike."""
    alike = None
    if said.std() > 1e-9 * said.max() and true.std() > 0:
        alike = float(np.corrcoef(said, true)[0, 1])
    each = float(np.abs(said / true - 1).mean())
    return {"end": float(said.max()), "each": each, "alike": alike}


def parts(*, quick: bool) -> list[running.Part]:
    """Return what is simulated and compared. See ``running.run_study``."""
    how = simulated, compare, _goals, _sections
    return [running.Part("flows", "flows and flits", cases(quick=quick), *how)]


def compare(asked: Sequence[Any], found: running.Seen) -> pl.DataFrame:
    """Return one row per case and sharing: both ends, errors, and the estimate of the error.

    ``error`` is of the end, ``each`` of single messages, ``alike`` their correlation (null if all
    are alike). ``within`` is the estimate for the end in order (null: none), ``off`` how far the
    simulated end is from that, as a part of it.
    """
    rows = []
    for case, seen in zip(asked, found, strict=True):
        if seen is None:
            continue
        true, ends = seen["end"], [seen[sharing]["end"] for sharing in SHARINGS]
        fair, shared, lossless = ends
        estimate = trust(fair, shared, seen["bound"], lossless_finish=lossless, short=seen["short"])
        for sharing, end in zip(SHARINGS, ends, strict=True):
            figures = {"simulated": true, "flows": end, "error": end / true - 1}
            single = {name: seen[sharing][name] for name in ("each", "alike")}
            told = {"within": estimate.within, "off": abs(true / end - 1), "why": estimate.why}
            rows.append({**case, "sharing": sharing, **figures, **single, **told})
    return pl.DataFrame(rows, infer_schema_length=None)


def _goals(table: pl.DataFrame) -> Iterator[running.Goal]:
    judging = table.filter(pl.col("router").is_in(FILLING), part="judge", sharing="in order")
    told = judging.drop_nulls("within")
    missed = told.filter(pl.col("off") > pl.col("within"))
    where = "; ".join(f"{row['on']}, {row['pattern']}" for row in running.worst(missed, 2, "off"))
    share = 100 * len(missed) / max(len(told), 1)
    what = "ends beyond the estimate of their error, the judge"
    yield running.Goal(what, MISSED, share, "%", where)
    share = 100 * len(judging.filter(pl.col("within").fill_null(1) > 0.1)) / max(len(judging), 1)
    yield running.Goal("ends not told within 10 %, the judge", WIDE, share, "%")
    for far in running.worst(judging.filter(pattern="incast"), 1):
        error, where = 100 * abs(far["error"]), f"{far['on']}, {far['router']}"
        yield running.Goal("end of an incast, error", ONE_LINK_LIMIT, error, "%", where)
    victims = table.filter(part="judge", pattern="incast, victims", router="2 VCs")
    for sharing, limit in (("in order", 50.0), ("lossless", 20.0)):
        what = f"messages of an incast with victims, {sharing}, mean error, 2 VCs"
        each = float(np.mean(victims.filter(sharing=sharing)["each"].to_numpy()))
        yield running.Goal(what, limit, 100 * each, "%")


def _sections(table: pl.DataFrame) -> Iterator[running.Section]:
    known = table.filter(part="known")
    networks = known["on"].unique(maintain_order=True).to_list()

    def cells(of: pl.DataFrame) -> Iterator[str]:
        return (_cell(of.filter(on=name)) for name in networks)

    for (router,), of in known.group_by("router", maintain_order=True):
        yield running.Section(
            f"Flows against flits: {router}",
            ("pattern", "flows", *networks),
            running.rows_by(of, "pattern", "sharing", cells=cells),
            (
                "error of the end %, mean error of single messages %, correlation (- where all are "
                "alike); of permutations, the mean of three",
            ),
        )
    rows: list[tuple[str, ...]] = []
    table = table.filter(pl.col("router").is_in(FILLING), sharing="in order")
    for part in NETWORKS:
        of = table.filter(part=part)
        for within in [*of["within"].drop_nulls().unique().sort(), None]:
            alike = of.filter(pl.col("within").eq_missing(within))
            estimate, inside = "none", "-"
            if within is not None:
                estimate, inside = f"± {100 * within:.3g} %", f"{(alike['off'] <= within).sum()}"
            share = f"{100 * len(alike) / max(len(of), 1):.0f} %"
            rows.append((part, estimate, f"{inside} of {len(alike)}", share))
    yield running.Section(
        "The estimate of the error, and how many ends were within it",
        ("networks", "estimate", "ends within", "share of all"),
        tuple(rows),
        ("of the end in order; nine of ten were to be within",),
    )


def _cell(of: pl.DataFrame) -> str:
    if not len(of):
        return "-"
    error, each = (100 * float(np.mean(of[name].to_numpy())) for name in ("error", "each"))
    known = of["alike"].drop_nulls().to_numpy()
    same = f"{float(np.mean(known)):.2f}" if len(known) else "-"
    return f"{error:+.0f} / {each:.0f} / {same}"
