"""``netloom hotspot``: what shared words do to a network whose switches combine."""

from inspect import signature
from typing import Any

import typer

from netloom.cli import hotspot_options as of
from netloom.cli import options
from netloom.cli.edge import INTERRUPTED
from netloom.cli.output import compilation_announced, print_json
from netloom.errors import InputError
from netloom.provenance import DEFAULT_SEED

EPILOG = "Example: netloom hotspot --pes 512 --hot-spots 8 --rate 0.05:0.2:0.05 --plot stages.svg"

WHAT = ("", "critical-queue")


def hotspot(
    what: of.What = "",
    *,
    pes: of.Pes = 512,
    switch_size: of.SwitchSize = 2,
    queue: of.Queue = "unbounded",
    wait_buffer: of.WaitBuffer = "as-queue",
    digits: of.Digits = "most-significant-first",
    hot_spots: of.HotSpots = 8,
    per_pe: of.PerPe = None,
    assign: of.Assign = 0.95,
    rate: of.Rate = "0.15",
    policy: of.Policy = "no-wait",
    spacing: of.Spacing = None,
    deviation: of.Deviation = 0,
    hot_fraction: of.HotFraction = 1.0,
    new: of.New = 0.0,
    remove: of.Remove = 0.0,
    combining: of.Combining = "waiting",
    unlimited: of.Unlimited = False,
    order: of.Order = "forward",
    service_steps: of.ServiceSteps = 1,
    operation: of.Operation = "add",
    steps: of.Steps = 1000,
    replications: of.Replications = None,
    rise: of.Rise = None,
    seed: of.Seed = DEFAULT_SEED,
    plot: options.Plot = None,
    as_json: options.AsJson = False,
) -> None:
    """Simulate shared counters and locks in memory behind a network that combines requests.

    PEs and memory modules are joined by an Omega network whose switches combine Fetch&Adds to one
    word (Rosenblum & Mayr's Ultracomputer, 1986): how long requests take, how full the queues and
    wait buffers of each stage get, whether it keeps up.
    """
    asked = dict(locals())
    for name in ("what", "plot", "as_json"):
        del asked[name]
    if what not in WHAT:
        raise InputError("hotspot", f"'{what}'", "nothing, or critical-queue")
    if plot is not None:
        from netloom.report.save import check_picture

        check_picture(plot)
    defaults = {name: each.default for name, each in signature(hotspot).parameters.items()}
    given = {name: value for name, value in asked.items() if value != defaults[name]}
    with compilation_announced():
        from netloom.questions.register import KINDS

        kind = KINDS[f"hotspot.{what}" if what else "hotspot"]
        _check_options(what, given, kind.fields.model_fields)
        result = kind.ask(**given)
    _show(result, plot, as_json=as_json)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)


def _check_options(what: str, given: dict[str, Any], known: dict[str, Any]) -> None:
    """Raise InputError if an option says nothing of what is asked."""
    for name in given:
        if name not in known:
            option = f"--{name.replace('_', '-')}"
            found = f"{option} {'with' if what else 'without'} critical-queue"
            wanted = "no size, for it tries them" if what else "critical-queue as well"
            raise InputError(name, found, wanted)


def _show(result: Any, plot: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(result.to_dict())
    else:
        from netloom.cli.show_hotspot import show

        show(result)
    if plot is not None and (result.points if hasattr(result, "points") else result.found):
        from netloom.report import chart_of, save_chart

        path = save_chart(chart_of(result), plot)  # the figures stay whatever becomes of it
        if not as_json:
            typer.echo(f"Picture: {path}")
