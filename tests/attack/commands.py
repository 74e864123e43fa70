"""Commands that nobody means: options of all kinds with values of all kinds, and broken files.

Each case is a pure function of its number. Sizes that are allowed but take long are left out: what
is tried is whether a command refuses, not whether a machine is large enough.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import typer

from netloom.cli.app import app
from tests.attack.files import FILES, broken
from tests.networks import OTHERS, SWITCHED

if TYPE_CHECKING:
    from pathlib import Path

BASES = {
    "analyze": ["ring:4", "--on", "mesh:2x2", "--random-mappings", "2"],
    "simulate": ["--on", "mesh:2x2", "--load", "0.1", "--cycles", "50"],
    "simulate load": ["--on", "mesh:2x2", "--load", "0.1", "--cycles", "50"],
    "simulate loop": ["--on", "mesh:2x2", "--app", "ring:4", "--applied", "0.1", "--loops", "2"],
    "simulate flows": ["--on", "mesh:2x2", "--app", "ring:4", "--bytes=8", "--bandwidth=1GB/s"],
    "simulate trace": ["nowhere.csv", "--on", "mesh:2x2"],
    "simulate transactions": ["--on", "mesh:2x2", "--app", "ring:4", "--batch-cycles", "100"],
    "simulate broadcast": ["--on", "mesh:2x2", "--rate", "0.001", "--cycles", "50"],
    "simulate pattern": ["ab-1nn", "--on", "symult2010:2x2", "--loops", "2"],
    "hotspot critical-queue": ["--pes", "8", "--hot-spots", "2", "--steps", "5"],
    "hotspot": ["--pes", "8", "--hot-spots", "2", "--steps", "5"],
    "map": ["ring:4", "--on", "mesh:2x2", "--rounds", "1"],
    "compile collective": ["all-gather", "--on", "mesh:2x2", "--size", "1KB"],
    "compile": ["ring:4", "--on", "mesh:2x2"],
    "collective": ["all-reduce", "--on", "mesh:2x2", "--size", "1KB"],
    "predict latency": ["--on", "mesh:2x2", "--offered", "0.1"],
    "predict torus-broadcast": ["--k", "4", "--rate", "0.001"],
    "predict locality": ["--nodes", "64"],
    "predict wiring": ["--nodes", "64"],
    "results": ["nowhere.sqlite"],
    "report": ["nowhere.sqlite"],
    "fabric": ["mesh:2x2", "--samples", "3"],
    "machines": [],
    "schema": [],
    "study list": [],
}
"""By command: arguments that answer at once."""

NETWORKS = [
    *["mesh:2x2"] * 8, "leaf-spine:1x1x1", "leaf-spine:2x1x2/2", "fat-tree:k=2", "fat-tree:5x1",
    "xgft:2x2/2x2", "rail:1x2x2x1", "dragonfly+:1x1x1x1", "hyperx:2x2/1/2", "mesh:2x2/2",
    "torus:3/2", "twisted-torus:2x4", OTHERS["omega"], *SWITCHED.values(),
]  # fmt: skip
"""What stands in the place of the network of a command: half of the time, one with hosts."""

NUMBERS = [
    "0", "1", "2", "3", "-1", "-0", "0.5", "1e308", "-1e308", "1e-320", "nan", "inf", "-inf",
    "9223372036854775807", "9223372036854775808", "99999999999999999999999999", "1_0", "0x10",
    "٣", "1e9", "+1", " 1", "1,2", "1:2:1", "2:1:1", "0:1:0", "0.1:0.2:1e-300", "1:",
]  # fmt: skip
WORDS = [
    "", " ", ":", ",", "@", "-", "--", "x", "x" * 300, "a\nb", "\x1b[31mred", "\x00", "é", "\ud800",
    "none", "all", "default", "random", "identity", "auto", "mesh", "mesh:", "mesh:0", "mesh:2x",
    "mesh:-2x2", "mesh:2x2", "torus:3x3", "ring:5", "hypercube:2", "hypercube:99", "omega:8",
    "line:1", "graph:", "graph:.", "graph:nowhere", "routes:", "routes:.", "uniform", "transpose",
    "hot-spot:2:0", "pairs:0-9", "ring:4@0-9", "ring:4@", "all-to-all:0", "random-regular:4,9",
    "fem:plate/0", "%s%n", "[bold]", "[/]", ":smile:", "../..", "/", "/dev/null", "~", "*", "a*[",
    "leaf-spine:2x1x2", "leaf-spine:0x1x1", "fat-tree:k=3", "fat-tree:", "xgft:2/", "dragonfly:9",
    "mesh:2x2/", "mesh:2x2/0", "d-mod-k", "ecmp:-1", "random-up", "spread", "next-group", "h0",
    "adversarial", "adversarial:+9", "incast:9:0,0", "incast:all", "hot-spot:1:0*0", "asymmetric",
    "h[0-1]", "n[", "leaf0", "leaf0-spine0", "leaf0 -> spine0#2", "shift:0", "shift:1/0",
    "random-permutation", "wormhole", "reserved", "worm", "network", "adaptive", "valiant", "0-3",
    "0->1", "9-10", "0-0",
]  # fmt: skip
SHORT = {
    "cycles": "50", "most-cycles": "200", "loops": "2", "skip": "1", "seconds": "0.01",
    "rounds": "1", "steps": "5", "replications": "1", "random-mappings": "2", "words": "8",
}  # fmt: skip
"""Options that a valid large number makes long: small ones, or what is no such number."""

NEVER = {"--help", "--version", "--simulate", "--execute", "--install-completion",
         "--show-completion", "--pictures", "--cluster", "--workers"}  # fmt: skip
"""Options that take long, or belong to the shell."""


def options_of(command: str) -> list[Any]:
    """Return the options of a command, as Typer has them."""
    found: Any = typer.main.get_command(app)
    words = command.split()
    while words:
        _, found, words = found.resolve_command(found.make_context("netloom", ["x"]), words)
    return [each for each in found.params if each.param_type_name == "option"]


def case(number: int, folder: Path) -> list[str]:
    """Return the arguments of one case; its files, if it has any, are made in ``folder``."""
    draw = Random(number)
    return _of_files(draw, folder) if draw.random() < 0.4 else _of_options(draw, folder)


def _of_options(draw: Random, folder: Path) -> list[str]:
    command = draw.choice(list(BASES))
    network = draw.choice(NETWORKS)
    plain = [*command.split(), *BASES[command]]
    words = [network if word == "mesh:2x2" else word for word in plain]
    offered = [each for each in options_of(command) if each.opts[0] not in NEVER]
    for each in draw.sample(offered, min(len(offered), draw.choice([1, 1, 2, 3]))):
        name = draw.choice(each.opts + list(each.secondary_opts))
        words.append(name)
        if not each.is_flag:
            words.append(_value(draw, each.name.replace("_", "-"), folder))
    if draw.random() < 0.1:
        words.insert(draw.randrange(len(words) + 1), draw.choice(WORDS))
    return words


def _value(draw: Random, name: str, folder: Path) -> str:
    if name in SHORT:
        return draw.choice([SHORT[name], "0", "-1", "nan", "1e308", "99999999999999999999", ""])
    if name in ("plot", "save-mapping", "rankfile", "out", "gantt", "map", "csv", "output"):
        places = ["x", "x.svg", "x.json", "no/such/x.csv", "/dev/null", "/dev/null/x.svg", ".", ""]
        return draw.choice([*(str(folder / each) for each in places), "x" * 300, "a\nb", "\x00"])
    return draw.choice(draw.choice([NUMBERS, WORDS]))


def _of_files(draw: Random, folder: Path) -> list[str]:
    name = draw.choice(list(FILES))
    whole, command = FILES[name]
    path = folder / name
    path.write_bytes(broken(draw, whole()))
    return [word.replace("FILE", str(path)) for word in command.split()]
