"""``netloom map``: where each task should run, and what that buys."""

from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from netloom.cli import map_options as of
from netloom.cli import options
from netloom.cli.edge import INTERRUPTED
from netloom.cli.output import apply_mapping, check_files, compilation_announced, print_json
from netloom.errors import InputError
from netloom.provenance import DEFAULT_SEED

if TYPE_CHECKING:
    from netloom.verbs import ProgramMapping

EPILOG = (
    "Example: netloom map examples/lammps-64.mtx --on torus:4x4x4 --seconds 10 --rankfile ranks.txt"
)

FILES = ("plot", "save_mapping", "rankfile", "rankfile_format")
"""Options that say what is written, which the verb is not asked."""

APPLY = "Apply it: --rankfile FILE for a launcher, --save-mapping FILE for netloom."
"""Said where no file was asked for."""


def map_(
    app: options.App,
    on: options.On,
    *,
    nodes: of.Nodes = None,
    hosts: of.Hosts = None,
    tasks_per_node: of.TasksPerNode = 1,
    objective: of.Objective = "max-channel-load",
    seconds: of.Seconds = 10.0,
    rounds: of.Rounds = None,
    layout: of.LayoutName = None,
    seed: of.Seed = DEFAULT_SEED,
    routing: of.Routing = "default",
    weight: options.Weight = "bytes",
    messages: options.Messages = None,
    parts: options.Parts = "network",
    failed_channels: options.FailedChannels = None,
    failed_nodes: options.FailedNodes = None,
    simulate: of.Simulate = False,
    load: of.Load = None,
    plot: of.Plot = None,
    save_mapping: options.SaveMapping = None,
    rankfile: options.RankFile = None,
    rankfile_format: options.RankFileFormat = "openmpi-rankfile",
    routes: of.Routes = None,
    as_json: options.AsJson = False,
) -> None:
    """Find the mapping under which a program contends least, and say what it buys.

    Begins with partitions, embeddings and layouts of such programs, and makes them better until the
    time is up, or nothing can be better. Never worse than ranks in order. Ctrl-C ends the search:
    the best so far is the answer.
    """
    asked = dict(locals())
    defaults = {name: each.default for name, each in signature(map_).parameters.items()}
    given = {name: value for name, value in asked.items() if value != defaults[name]}
    for name in (*FILES, "as_json"):
        given.pop(name, None)
    if routes is not None:
        given["routes"] = True
    check_files(plot, (save_mapping, rankfile, routes))
    _check_format(rankfile_format)
    with compilation_announced():
        from netloom.verbs import find_mapping

        result = find_mapping(**given)
    if as_json:
        print_json(result.to_dict())
    else:
        from netloom.cli.show_map import show

        show(result)
    written = apply_mapping(result, save_mapping, rankfile, rankfile_format, hosts)
    written += _routes(result, routes)
    written += _picture(result, plot)
    if not as_json:
        for line in written or [APPLY]:
            typer.echo(line)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)


def _check_format(form: str) -> None:
    """Refuse a format of rank files that is none, before any work."""
    if form != signature(map_).parameters["rankfile_format"].default:
        from netloom.mapping import FORMATS

        if form not in FORMATS:
            raise InputError("rankfile_format", f"'{form}'", f"one of {', '.join(FORMATS)}")


def _routes(result: "ProgramMapping", path: Path | None) -> list[str]:
    if path is None:
        return []
    if result.routes is None:
        return [f"No routes in {path}: nothing crosses the network."]
    from netloom.mapping.route_files import write_routes

    write_routes(path, result.topology, result.routes)
    return [f"Routes: --routing routes:{path}"]


def _picture(result: "ProgramMapping", plot: Any) -> list[str]:
    if plot is None:
        return []
    from netloom.report import chart_of, save_chart

    return [f"Picture: {save_chart(chart_of(result), plot)}"]
