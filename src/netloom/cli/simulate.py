"""``netloom simulate``: open loads, and programs that wait for the network."""

from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from netloom.cli import options
from netloom.cli import program_options as program
from netloom.cli import simulate_options as of
from netloom.cli.edge import INTERRUPTED
from netloom.cli.output import Writer, compilation_announced, print_json, write_each
from netloom.errors import InputError
from netloom.provenance import DEFAULT_SEED

if TYPE_CHECKING:
    from netloom.questions.register import Kind

EPILOG = (
    "Example: netloom simulate --on torus:8x8 --traffic tornado --load 0.05:0.6:0.05 --plot c.svg"
)


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
    failed_channels: options.FailedChannels = None,
    failed_nodes: options.FailedNodes = None,
    load: of.Load = None,
    traffic: of.TrafficName = None,
    packet_flits: of.PacketFlits = None,
    arrivals: of.Arrivals = "bernoulli",
    seed: of.Seed = DEFAULT_SEED,
    app: of.App = None,
    mapping: of.Mapping = "identity",
    weight: of.Weight = "bytes",
    tasks_per_node: of.TasksPerNode = 1,
    messages: of.Messages = None,
    parts: of.Parts = "network",
    shared: of.Shared = False,
    alone: of.Alone = True,
    engine: program.Engine = None,
    arbitration: program.Arbitration = None,
    release_cycles: program.ReleaseCycles = None,
    end_channels: program.EndChannels = None,
    applied: program.Applied = None,
    message_flits: program.MessageFlits = None,
    think: program.Think = None,
    choice: program.Choice = None,
    gap_cycles: program.GapCycles = None,
    loops: program.Loops = None,
    skip: program.Skip = None,
    transactions: program.Transactions = False,
    protocol: program.Protocol = None,
    contexts: program.Contexts = None,
    run_cycles: program.RunCycles = None,
    switch_cycles: program.SwitchCycles = None,
    fixed_cycles: program.FixedCycles = None,
    memory_cycles: program.MemoryCycles = None,
    trace: program.Trace = None,
    flit_bytes: program.FlitBytes = None,
    overhead_cycles: program.OverheadCycles = None,
    calc_cycles: program.CalcCycles = None,
    broadcast: program.Broadcast = None,
    rate: program.Rate = None,
    tree: program.Tree = None,
    startup_cycles: program.StartupCycles = None,
    multicast_targets: program.MulticastTargets = None,
    pattern: program.Pattern = None,
    message_bytes: program.MessageBytes = None,
    think_us: program.ThinkUs = None,
    cycles: of.Cycles = None,
    precision: of.Precision = 0.02,
    most_cycles: of.MostCycles = None,
    plot: of.Plot = None,
    save_messages: program.SaveMessages = None,
    as_json: options.AsJson = False,
) -> None:
    """Simulate a network: under a load, or driven by a program that waits for it.

    --load offers packets whatever becomes of them. A program waits: its tasks' messages
    (--applied), transactions (--transactions), a trace (--trace), broadcasts (--broadcast), or a
    machine's experiment (--pattern).
    """
    asked = dict(locals())
    for name in ("what", "plot", "save_messages", "as_json"):
        del asked[name]
    if what not in ("", "saturation"):
        raise InputError("simulate", f"'{what}'", "nothing, or saturation")
    if plot is not None:
        from netloom.report.save import check_picture

        check_picture(plot)
    kind = _kind(what, asked)
    if save_messages is not None:
        from netloom.report.save import check_table

        check_table(save_messages)
        if kind.verb != "replay":
            raise InputError("save_messages", f"'{save_messages}'", "a trace, with --trace")
    given = _given(asked)
    with compilation_announced():
        _check_options(kind, given)
        result = kind.ask(**given)
    if as_json:
        print_json(result.to_dict())
    else:
        _show(kind.verb, result)
    write_each(_writers(result, plot, save_messages), quiet=as_json)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)


def _kind(what: str, asked: dict[str, Any]) -> "Kind":
    """Return the kind of question that the options ask for: exactly one."""
    from netloom.questions.register import KINDS, kind_of

    given = [name for name, value in asked.items() if value not in (None, False)]
    kind = kind_of("simulate.saturation" if what else "simulate", given)
    if asked["engine"] == "worm" and kind in (KINDS["simulate"], KINDS["simulate.saturation"]):
        wanted_instead = "a program; or --rate and --broadcast 0, for messages nobody waits for"
        raise InputError("engine", "'worm' under a load", wanted_instead)
    return kind


def _given(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the options that differ from their defaults, as verbs have them."""
    defaults = {name: each.default for name, each in signature(simulate).parameters.items()}
    given = {name: value for name, value in asked.items() if value != defaults[name]}
    given.pop("transactions", None)
    if given.get("engine") == "network" and asked["pattern"] is None:  # theirs anyway
        del given["engine"]
    if len(given.get("app") or ()) == 1:
        given["app"] = given["app"][0]
    return given


def _check_options(kind: "Kind", given: dict[str, Any]) -> None:
    """Raise InputError if an option says nothing of what is asked."""
    from netloom.questions.register import says_nothing

    for name in given:
        if wrong := says_nothing(kind, name, "--"):
            raise wrong


def _show(verb: str, result: Any) -> None:
    if verb in ("simulate", "find_saturation"):
        from netloom.cli.show_simulation import show

        show(result)
    else:
        from netloom.cli.show_programs import show_program

        show_program(verb, result)


def _writers(result: Any, plot: Path | None, save_messages: Path | None) -> Iterator[Writer]:
    if save_messages is not None:
        from netloom.report.save import save_table

        yield lambda: f"Messages: {save_table(result.messages(), save_messages)}"
    if plot is not None:
        from netloom.report import chart_of, save_chart

        yield lambda: f"Picture: {save_chart(chart_of(result), plot)}"
