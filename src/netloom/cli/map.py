"""``netloom map``: where each task should run, and what that buys."""

from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from netloom.cli import map_options as of
from netloom.cli import options
from netloom.cli.edge import INTERRUPTED
from netloom.cli.output import (
    check_files,
    check_rank_file,
    compilation_announced,
    mapping_writers,
    print_json,
    write_each,
)
from netloom.provenance import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.verbs import ProgramMapping
    from netloom.verbs.find_mapping import SearchGround

EPILOG = (
    "Example: netloom map examples/lammps-64.mtx --on torus:4x4x4 --seconds 10 --rankfile ranks.txt"
)

FILES = ("plot", "save_mapping", "rankfile", "rankfile_format")
"""Options that say what is written, which the verb is not asked."""

APPLY = "Apply it: --rankfile FILE for a launcher, --save-mapping FILE for netloom."
"""Said where no file was asked for."""

UNCHANGED = "Ranks stay in order: there is no mapping to apply."
"""Said where nothing better was found; files that were asked for have ranks in order."""


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
    processor time is used up, or nothing can be better. If nothing is better than ranks in order,
    these stay. Ctrl-C ends the search: the best so far is the answer.
    """
    asked = dict(locals())
    defaults = {name: each.default for name, each in signature(map_).parameters.items()}
    given = {name: value for name, value in asked.items() if value != defaults[name]}
    for name in (*FILES, "as_json"):
        given.pop(name, None)
    if routes is not None:
        given["routes"] = True
    check_files(plot, (save_mapping, rankfile, routes))
    check_rank_file(rankfile_format, hosts)
    with compilation_announced():
        from netloom.verbs import find_mapping

        result = find_mapping(**given, check=_check_ranks(rankfile, rankfile_format, hosts))
    if as_json:
        print_json(result.to_dict())
    else:
        from netloom.cli.show_map import show

        show(result)
    files = save_mapping, rankfile, rankfile_format, hosts
    writers = [*mapping_writers(result, *files, nodes=result.nodes)]
    if routes is not None:
        writers.append(partial(_write_routes, result, routes))
    if plot is not None:
        writers.append(partial(_write_picture, result, plot))
    wrote = write_each(writers, quiet=as_json)
    if not as_json and result.unchanged:
        typer.echo(UNCHANGED)
    elif not as_json and not wrote:
        typer.echo(APPLY)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)


def _check_ranks(
    rankfile: Path | None, form: str, hosts: Path | None
) -> "Callable[[SearchGround], None] | None":
    """Return what refuses a rank file that the mapping, once found, may have no place in."""
    if rankfile is None:
        return None
    from netloom.mapping import check_rank_file as check
    from netloom.mapping import rank_file, read_hosts

    given = None if hosts is None else read_hosts(hosts)

    def refuse(ground: "SearchGround") -> None:
        names = given if given is not None else ground.hosts
        if ground.layout is not None:
            rank_file(ground.layout.node_of, form, names, ground.nodes)
        else:
            check(form, ground.num_tasks, ground.nodes, ground.tasks_per_node, names)

    return refuse


def _write_routes(result: "ProgramMapping", path: Path) -> str:
    if result.routes is None:
        return f"No routes in {path}: nothing crosses the network."
    from netloom.routing import write_routes

    write_routes(result.topology, result.routes, path)
    return f"Routes: --routing routes:{path}"


def _write_picture(result: "ProgramMapping", plot: Path) -> str:
    from netloom.report import chart_of, save_chart

    return f"Picture: {save_chart(chart_of(result), plot)}"
