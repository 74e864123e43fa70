"""One thing may be said in several forms: all are taken, one is shown.

A program and a network may be named by ``--app`` and ``--on``, or stand as words, in every command.
"""

import json

import pytest

from netloom.questions.base import told_of
from netloom.questions.register import all_kinds, command_line, kind_of
from tests.approved.asked import run

SAME = {
    "analyze": [
        "analyze ring:4 --on mesh:2x2 --random-mappings 0",
        "analyze --app ring:4 --on mesh:2x2 --random-mappings 0",
        "analyze ring:4 mesh:2x2 --random-mappings 0",
        "analyze --random-mappings 0 --app=ring:4 mesh:2x2",
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
    "hotspot": [
        "hotspot --pes 8 --hotspots 2 --steps 50",
        "hot-spot --pes 8 --hot-spots 2 --steps 50",
    ],
    "hot spots as traffic": [
        "simulate load --on mesh:2x2 --load 0.1 --cycles 200 --traffic hotspot:0.1:3",
        "simulate load --on mesh:2x2 --load 0.1 --cycles 200 --traffic hot-spot:0.1:3",
    ],
}  # fmt: skip


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
    found = [run(f"{form} --json") for form in forms]
    assert [code for code, *_ in found] == [0] * len(forms), found
    first, *others = (without_run(json.loads(out)) for _, out, _ in found)
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
    whole = {"app": "ring:4", "on": "mesh:4", "seconds": 3.0}
    assert command_line(kind_of("map"), whole) == "netloom map ring:4 --on mesh:4 --seconds 3"
