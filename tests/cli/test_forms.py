"""One thing may be said in several forms: all are taken, one is shown. Mistakes name what would do.

A program and a network may be named by ``--app`` and ``--on``, or stand as words, in every command.
"""

import json

import pytest
from typer.testing import CliRunner

from netloom.cli.app import app
from netloom.questions.base import told_of
from netloom.questions.register import all_kinds, command_line, kind_of

SAME = {
    "analyze": [
        "analyze ring:4 --on mesh:2x2 --random-mappings 0",
        "analyze --app ring:4 --on mesh:2x2 --random-mappings 0",
        "analyze ring:4 mesh:2x2 --random-mappings 0",
        "analyze --random-mappings 0 --app=ring:4 mesh:2x2",
    ],
    "fabric": [
        "fabric --on mesh:2x2 --samples 0",
        "fabric mesh:2x2 --samples 0",
    ],
    "route": [
        "route --on fat-tree:2x2 --for ring:4 --tasks-per-node 2",
        "route fat-tree:2x2 --for ring:4 --ranks-per-node 2",
    ],
    "flows": [
        "simulate flows ring:4 --on mesh:4 --size 1MB --bandwidth 1GB/s",
        "simulate flows --on mesh:4 --app ring:4 --bytes 1MB --bandwidth 1GB/s",
        "simulate flows ring:4 mesh:4 --flow-bytes 1MB --bandwidth 1GB/s",
    ],
    "load": [
        "simulate load --on mesh:2x2 --load 0.1 --cycles 200",
        "simulate load mesh:2x2 --load 0.1 --cycles 200",
    ],
    "load of a program": [
        "simulate load --app ring:4 --on mesh:2x2 --load 0.1 --cycles 200",
        "simulate load ring:4 mesh:2x2 --load 0.1 --cycles 200",
        "simulate load ring:4 --on mesh:2x2 --load 0.1 --cycles 200",
    ],
    "collective": [
        "collective broadcast --on ring:4 --size 8 --bandwidth 1GB/s",
        "collective broadcast ring:4 --size 8 --bandwidth 1GB/s",
        "collective --collective broadcast ring:4 --size 8 --bandwidth 1GB/s",
    ],
    "hotspot": [
        "hotspot --pes 8 --hotspots 2 --steps 50",
        "hot-spot --pes 8 --hot-spots 2 --steps 50",
    ],
    "hot spots as traffic": [
        "simulate load --on mesh:2x2 --load 0.1 --cycles 200 --traffic hotspot:0.1:3",
        "simulate load --on mesh:2x2 --load 0.1 --cycles 200 --traffic hot-spot:0.1:3",
    ],
}  # fmt: skip


def said_by(command):
    return CliRunner().invoke(app, command.split())


def refused(command):
    found = said_by(command)
    assert found.exit_code != 0
    return str(found.exception)


def without_run(figures):
    """Return an answer without what is of each run, and what repeats how it was asked."""
    if isinstance(figures, list):
        return list(map(without_run, figures))
    if not isinstance(figures, dict):
        return figures
    own = ("next", "configuration")
    kept = {name: each for name, each in figures.items() if name not in own}
    return {name: without_run(each) for name, each in kept.items() if "seconds" not in name}


@pytest.mark.parametrize("forms", SAME.values(), ids=SAME)
def test_all_forms_ask_the_same(forms):
    found = [said_by(f"{form} --json") for form in forms]
    assert [each.exit_code for each in found] == [0] * len(forms), [each.output for each in found]
    first, *others = (without_run(json.loads(each.output)) for each in found)
    assert others == [first] * len(others)


def test_the_network_is_shown_as_an_option_and_a_subject_without_a_name():
    """In help, which follows from the fields, and in the commands that answers name."""
    for kind in all_kinds():
        if "on" in kind.question.model_fields:
            assert not told_of(kind.question, "on").argument, kind.words
    assert command_line(kind_of("simulate.flows"), {"app": "ring:4", "on": "mesh:4"}) == (
        "netloom simulate flows ring:4 --on mesh:4"
    )
    assert command_line(kind_of("route"), {"on": "mesh:4"}) == "netloom route --on mesh:4"


def test_a_word_too_many_is_named():
    assert refused("analyze ring:4 mesh:4 mesh:5") == (
        "netloom analyze: found one word too many, 'mesh:5'; expected APP and ON, each once"
    )
    assert "'mesh:5'" in refused("fabric --on mesh:4 mesh:5")


def test_what_is_missing_carries_an_example():
    said = refused("analyze ring:4")
    assert said.startswith("--on: found nothing; expected Network (torus:4x4x4")
    assert said.endswith(kind_of("analyze").example)
    assert refused("analyze --on mesh:4").startswith("APP: found nothing; expected Process graph")


def test_an_option_of_another_command_is_named_as_that():
    said = refused("analyze ring:4 --on mesh:4 --load 0.3")
    assert said.startswith("--load: found no such option of netloom analyze; expected ")
    assert "netloom simulate load" in said
    assert said.endswith("which take it")
    said = refused("simulate load --on mesh:4 --offered 0.3")  # no option there is spelt like it
    assert "expected netloom analyze and netloom predict latency, which take it" in said
    assert refused("analyze ring:4 --on mesh:4 --maping x").startswith(
        "--maping: found no such option of netloom analyze; expected --mapping"
    )


def test_help_shows_the_commands_below():
    said = " ".join(said_by("compile --help").output.split())
    for below in ("netloom compile collective: ", "netloom compile verify: "):
        assert below in said
    assert "netloom hotspot critical-queue: " in " ".join(said_by("hotspot --help").output.split())


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("analyze ring:4 --on tours:8x8", "found 'tours'; expected torus:8x8 or "),
        ("analyze ring:4 --on tours", "on: found 'tours'; expected torus (the nearest), or"),
        ("analyze rings:4 --on ring:4", "no pattern of that name; expected ring (the nearest), or"),
        (
            "analyze ring:4 --on mesh:4x4 --nodes job.txt",
            "nodes: found 'job.txt', no such file; expected hosts 0 to 15 of mesh:4x4",
        ),
        (
            "analyze ring:4 --on leaf-spine:2x2x2 --nodes hh3",
            "found 'hh3'; expected h3 (the nearest), or hosts 0 to 3 of leaf-spine:2x2x2, or "
            "their names (netloom names --on leaf-spine:2x2x2)",
        ),
        (
            "analyze ring:4 --on leaf-spine:2x2x2 --failed-nodes spin1",
            "failed nodes: found 'spin1'; expected spine1 or spine0 (the nearest), or hosts",
        ),
        (
            "analyze ring:4 --on leaf-spine:2x2x2 --failed-channels spin1-leaf0",
            "found 'spin1-leaf0'; expected spine1 or spine0 (the nearest), or two neighbours",
        ),
        (
            "analyze ring:4 --on examples/my-cluster.txt",
            "expected graph:examples/my-cluster.txt, which reads it",
        ),
        (
            "fabric --on examples/my-cluster.txt",
            "found a list of links; expected graph:examples/my-cluster.txt, which reads it",
        ),
        (
            "simulate trace examples/chakra --on mesh:2x2",
            "found a folder of Chakra traces; expected chakra:examples/chakra/%d.et",
        ),
        (
            "analyze examples/chakra --on mesh:2x2",
            "expected netloom simulate trace chakra:examples/chakra/%d.et, which replays them",
        ),
    ],
)
def test_a_mistake_names_what_is_nearest(command, wanted):
    assert wanted in refused(command)


def test_names_lists_what_options_take():
    found = json.loads(said_by("names --on rail:1x1x2x1 --json").output)
    assert [each["name"] for each in found] == ["n0.0", "n0.1", "u0rail0", "u0rail1", "spine0"]
    assert [each["computer"] for each in found] == ["n0", "n0", None, None, None]
    assert "u0rail1  switch" in said_by("names --on rail:1x1x2x1").output
