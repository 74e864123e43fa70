"""``netloom simulate``: one load, a curve of loads, or where the network saturates."""

from typing import Any

import typer

from netloom.cli import simulate_options as of
from netloom.cli.options import AsJson
from netloom.cli.output import advice_shown, compilation_announced, print_json
from netloom.errors import InputError
from netloom.provenance import DEFAULT_SEED

EPILOG = (
    "Example: netloom simulate --on torus:8x8 --traffic tornado --load 0.05:0.6:0.05 --plot c.svg"
)

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


def simulate(
    what: of.What = "",
    *,
    on: of.On,
    routing: of.Routing = "default",
    router: of.RouterName = "default",
    switching: of.Switching = None,
    vcs: of.Vcs = None,
    buffer_flits: of.BufferFlits = None,
    route_cycles: of.RouteCycles = None,
    vc_allocation_cycles: of.VcAllocationCycles = None,
    switch_allocation_cycles: of.SwitchAllocationCycles = None,
    traversal_cycles: of.TraversalCycles = None,
    speculative: of.Speculative = None,
    channel_cycles: of.ChannelCycles = None,
    credit_cycles: of.CreditCycles = None,
    injection_channels: of.InjectionChannels = None,
    ejection_channels: of.EjectionChannels = None,
    oldest_first: of.OldestFirst = None,
    load: of.Load = None,
    traffic: of.TrafficName = None,
    packet_flits: of.PacketFlits = "5",
    arrivals: of.Arrivals = "bernoulli",
    seed: of.Seed = DEFAULT_SEED,
    app: of.App = None,
    mapping: of.Mapping = "identity",
    weight: of.Weight = "bytes",
    tasks_per_node: of.TasksPerNode = 1,
    messages: of.Messages = None,
    parts: of.Parts = "network",
    cycles: of.Cycles = None,
    precision: of.Precision = 0.02,
    most_cycles: of.MostCycles = 200_000,
    plot: of.Plot = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a network flit by flit: latency, throughput and how far to trust them."""
    asked = dict(locals())
    what, plot, as_json = (asked.pop(name) for name in ("what", "plot", "as_json"))
    if what not in ("", "saturation"):
        raise InputError("simulate", f"'{what}'", "nothing, or saturation")
    if plot is not None:
        from netloom.report.save import check_picture

        check_picture(plot)
    result = _answer(what, asked)
    if as_json:
        print_json(result.to_dict())
    else:
        from netloom.cli.show_simulation import show

        show(result)
    written = _draw(result, plot)  # after the figures, which stay whatever becomes of it
    if not as_json:
        for line in written:
            typer.echo(line)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)


def _answer(what: str, asked: dict[str, Any]) -> Any:
    with compilation_announced(), advice_shown():
        from netloom import verbs

        if what:
            return verbs.find_saturation(**asked)
        return verbs.simulate(**asked)


def _draw(result: Any, plot: Any) -> list[str]:
    if plot is None:
        return []
    from netloom.report import save_chart, simulation_chart

    return [f"Picture: {save_chart(simulation_chart(result), plot)}"]
