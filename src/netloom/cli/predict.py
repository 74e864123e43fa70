"""``netloom predict``: what models say, in no time, and beside them what simulation says."""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import typer

from netloom.cli import options
from netloom.cli import predict_options as of
from netloom.cli import simulate_options as router
from netloom.cli.edge import INTERRUPTED
from netloom.cli.output import compilation_announced, print_json
from netloom.provenance import DEFAULT_SEED

MOST_CYCLES = 200_000

predict = typer.Typer(
    help="Predict latency, saturation and the worth of a mapping from models, in no time.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@predict.command(
    epilog="Example: netloom predict torus-broadcast --k 8 --broadcast 0.02 --rate 0:auto "
    "--plot curve.svg"
)
def torus_broadcast(
    k: of.K = None,
    dimensions: of.Dimensions = None,
    on: of.Torus = None,
    message_flits: of.MessageFlits = 32,
    vcs: of.Vcs = 3,
    broadcast: of.Broadcast = 0.0,
    rate: of.Rate = "0:auto",
    startup_cycles: of.StartupCycles = 0.0,
    variant: of.Variant = "improved",
    injection_channels: of.InjectionChannels = 0,
    simulate: of.Simulate = False,
    cycles: of.Cycles = None,
    precision: of.Precision = 0.02,
    most_cycles: of.MostCycles = MOST_CYCLES,
    seed: options.Seed = DEFAULT_SEED,
    plot: options.Plot = None,
    as_json: options.AsJson = False,
) -> None:
    """Latency of messages on a torus with adaptive routing, of which a part is broadcast.

    Uniform targets, messages of one length, Duato's routing (Shahrabi, Ould-Khaoua & Mackenzie
    2002, improved).
    """
    _answer("predict_torus_broadcast", torus_broadcast, dict(locals()))


@predict.command(
    epilog="Example: netloom predict locality --on torus:8x8 --app examples/lammps-64.mtx "
    "--contexts 4"
)
def locality(
    nodes: of.Nodes = None,
    dimensions: of.Dimensions = None,
    on: of.Torus = None,
    contexts: of.Contexts = 1,
    network_speed: of.NetworkSpeed = 2,
    distance: of.Distance = None,
    node_channels: of.NodeChannels = 0,
    run_processor_cycles: of.RunProcessorCycles = None,
    switch_processor_cycles: of.SwitchProcessorCycles = None,
    fixed_processor_cycles: of.FixedProcessorCycles = None,
    transaction_messages: of.TransactionMessages = None,
    critical_messages: of.CriticalMessages = None,
    message_flits: of.MeanFlits = None,
    app: of.App = None,
    messages: of.MessagesFile = None,
    parts: of.Parts = "network",
    mapping: of.Mapping = "identity",
    weight: of.Weight = "bytes",
    seed: options.Seed = DEFAULT_SEED,
    plot: options.Plot = None,
    as_json: options.AsJson = False,
) -> None:
    """Rate of processors that wait for a torus, and what a better mapping is worth to them.

    Processors that wait longer also send less (Johnson 1992). Those of the paper, Alewife's, unless
    said otherwise.
    """
    _answer("predict_locality", locality, dict(locals()))


@predict.command(
    epilog="Example: netloom predict latency --on mesh:8x8 --app examples/lammps-64.mtx "
    "--mapping random --offered 0:auto --simulate --plot curve.svg"
)
def latency(
    on: of.On,
    app: of.App = None,
    messages: of.MessagesFile = None,
    parts: of.Parts = "network",
    mapping: of.Mapping = "identity",
    weight: of.Weight = "bytes",
    tasks_per_node: of.TasksPerNode = 1,
    traffic: of.TrafficName = None,
    offered: of.Offered = "0:auto",
    packet_flits: of.PacketFlits = 5,
    routing: of.Routing = "default",
    router: router.RouterName = "default",
    switching: of.Switching = None,
    vcs: router.Vcs = None,
    buffer_flits: router.BufferFlits = None,
    route_cycles: router.RouteCycles = None,
    vc_allocation_cycles: router.VcAllocationCycles = None,
    switch_allocation_cycles: router.SwitchAllocationCycles = None,
    traversal_cycles: router.TraversalCycles = None,
    speculative: router.Speculative = None,
    channel_cycles: router.ChannelCycles = None,
    credit_cycles: router.CreditCycles = None,
    failed_channels: options.FailedChannels = None,
    failed_nodes: options.FailedNodes = None,
    simulate: of.Simulate = False,
    cycles: of.Cycles = None,
    precision: of.Precision = 0.02,
    most_cycles: of.MostCycles = MOST_CYCLES,
    seed: options.Seed = DEFAULT_SEED,
    plot: options.Plot = None,
    as_json: options.AsJson = False,
) -> None:
    """Latency of a mapped program's packets by load, and where it saturates, on any network.

    Queueing theory over the rates of all its channels; routing must leave no choice of them.
    """
    _answer("predict_latency", latency, dict(locals()))


@predict.command(epilog="Example: netloom predict wiring --nodes 64:4096:x4")
def wiring(
    nodes: of.Sizes = "64,256,1024,4096",
    message_headers: of.MessageHeaders = "1,10,100",
    distance: of.PathLengths = "average",
    form: of.Form = "exact",
    plot: options.Plot = None,
    as_json: options.AsJson = False,
) -> None:
    """A mesh against a hypercube that is wired as densely: channels, clocks and message times.

    Chittor 1991, chapter 2, for wires whose delay is constant, logarithmic or linear in length.
    """
    _answer("predict_wiring", wiring, dict(locals()))


def _answer(verb: str, command: Callable[..., None], asked: dict[str, Any]) -> None:
    """Ask a verb what a command was given, show the answer and draw it."""
    plot, as_json = asked.pop("plot"), asked.pop("as_json")
    if plot is not None:
        from netloom.report.save import check_picture

        check_picture(plot)
    defaults = {name: each.default for name, each in signature(command).parameters.items()}
    given = {name: value for name, value in asked.items() if value != defaults[name]}
    with compilation_announced():
        result = getattr(verbs, verb)(**given)
    _show(result, plot, as_json=as_json)
    if getattr(result, "interrupted", False):  # only where something was simulated
        raise typer.Exit(INTERRUPTED)


def _show(result: Any, plot: Path | None, *, as_json: bool) -> None:
    if as_json:
        print_json(result.to_dict())
    else:
        from netloom.cli.show_predict import show

        show(result)
    if plot is not None:
        from netloom.report import chart_of, save_chart

        path = save_chart(chart_of(result), plot)  # the figures stay whatever becomes of it
        if not as_json:
            typer.echo(f"Picture: {path}")
