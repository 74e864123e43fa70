"""Experiment files: their points, values, inputs and schema, and what is wrong with its line."""

import tomllib
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, strategies as st

from netloom.base.errors import InputError
from netloom.experiments.file import (
    find_inputs,
    read_experiment,
    renamed,
    schema,
    unpack,
    values_of,
)
from netloom.machines import machine
from netloom.questions.base import Question, option
from netloom.questions.register import kind_of
from tests.experiments.small import RING, SWEEP, experiment, write


def test_lists_and_ranges_make_a_grid(tmp_path):
    found = experiment(tmp_path)
    assert (found.title, found.question) == ("small", "Which carries more?")
    of_simulate = [point for point in found.points if point.section == "simulate"]
    assert len(of_simulate) == 2 * 3 * 2
    assert [point.varied for point in of_simulate[:3]] == [
        {"on": "torus:4x4", "load": 0.3, "seed": 1},
        {"on": "torus:4x4", "load": 0.3, "seed": 2},
        {"on": "torus:4x4", "load": 0.6, "seed": 1},
    ]
    assert {point.verb for point in found.points} == {"simulate", "predict_latency", "analyze"}
    assert len({point.key for point in found.points}) == len(found.points)
    assert len({point.curve for point in of_simulate}) == 2
    assert list(found.inputs) == ["ring.mtx"]


def test_the_key_is_of_everything_that_the_answer_depends_on(tmp_path):
    text = "[analyze]\napp='ring.mtx'\non='mesh:2x2'\n"
    (first,) = experiment(tmp_path, text).points
    (again,) = experiment(tmp_path / "elsewhere", text).points
    (default,) = experiment(tmp_path, text + "tasks_per_node=1").points
    assert first.key == again.key == default.key
    (other,) = experiment(tmp_path, text + "tasks_per_node=2").points
    assert other.key != first.key
    path = write(tmp_path, text)
    (tmp_path / "ring.mtx").write_text(RING.replace("4 1 8", "4 1 9"))
    (changed,) = read_experiment(path).points
    assert changed.key != first.key


WRONG = [
    ("[analyse]\n", 1, r"\[analyse\]: found no", "analyze, perhaps"),
    ("title = 3\n[analyze]\n", 1, "title", "words"),
    ("titel = 'x'\n", 1, "titel", "title, perhaps"),
    ("", 1, "no questions", "a table such as"),
    ("[analyze]\non='mesh:4x4'\napp=[\n ['a@0', 'b@1']\n]\nvcs=2\n", 6, "vcs", "expected"),
    ("\nsimulate = [{on='mesh:4x4', lod=1}]\n", 2, "lod", "load, perhaps"),
    ("[analyze]\non='mesh:2x2'\napp='" + "x" * 300 + "'\n", 3, "app", "a name of a file"),
    ("[simulate]\non='mesh:4x4'\nlod = 0.1\n", 3, r"\[simulate\] lod", "load, perhaps"),
    ("[simulate]\non='mesh:4x4'\nload=0.1\n\nvcs = 'two'\n", 5, "vcs", "a valid integer"),
    ("[simulate]\non='mesh:4x4'\nload = [0.1, 1.5]\n", 3, "load", "at most 1"),
    ("[simulate]\nload=0.1\n", 1, "on", "Network"),
    ("[simulate]\nload=0.1\non = ['mesh:4x4', 'mash:4x4']\n", 3, "on: topology 'mash:4x4'", "mesh"),
    ("[all]\nonn='mesh:4x4'\n[analyze]\napp='ring:4'\non='mesh:2x2'\n", 2, "onn", "on, perhaps"),
    ("[predict]\nlatency = 3\n", 2, "latency", "a table"),
    ("[predict.wiring]\nrepeat = 2\n", 2, "repeat", "no repetitions"),
    ("[predict.torus-broadcast]\nsides = [4, 2]\n", 2, "sides", "sides = [[...]]"),
    ("[map]\napp='ring:16'\non='mesh:4x4'\nseconds = 3\n", 4, "seconds", "rounds instead"),
    ("[analyze]\nseed={from=1,to=1001}\n", 2, "seed", "at most 1000"),
    ("[analyze]\nrepeat=9999\ntasks_per_node={from=1,to=999}\n", 1, "points", "1,000,000"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "where", "wanted"), WRONG)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, line, where, wanted):
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=where) as caught:
        read_experiment(path)
    said = str(caught.value)
    assert wanted in said
    assert "\n" not in said
    if text:
        assert said.startswith(f"{path}:{line}: ")


def test_what_is_no_toml(tmp_path):
    with pytest.raises(InputError, match="line 2"):
        read_experiment(write(tmp_path, "[analyze]\napp = \n"))
    for text in ("[simulate]\nseed = " + "9" * 5000, "[simulate]\nseed = " + "[" * 5000):
        with pytest.raises(InputError, match="no TOML"):
            read_experiment(write(tmp_path, text))
    with pytest.raises(InputError, match="no such file"):
        read_experiment(tmp_path / "none.toml")


def test_tables_are_named_as_commands_are_and_repeat_what_chance_decides(tmp_path):
    text = """
    [all]
    repeat = 3
    on = "mesh:4x4"
    [simulate]
    load = 0.1
    seed = 5
    [[analyze]]
    app = "ring.mtx"
    [[analyze]]
    app = "ring.mtx"
    repeat = 1
    [[analyze]]
    app = "ring.mtx"
    seed = [9, 4, 9]
    [predict.wiring]
    nodes = "16"
    [simulate.trace]
    trace = "t.csv"
    [hotspot.critical-queue]
    pes = 16
    [map]
    app = "ring:16"
    repeat = 1
    """
    points = experiment(tmp_path, text).points
    found = {}
    for point in points:
        found.setdefault((point.section, point.verb), []).append(point.varied.get("seed"))
    assert found == {
        ("simulate", "simulate"): [5, 6, 7],
        ("analyze", "analyze"): [1, 2, 3],
        ("analyze#2", "analyze"): [None],
        ("analyze#3", "analyze"): [9, 4],
        ("predict.wiring", "predict_wiring"): [None],
        ("simulate.trace", "replay"): [1, 2, 3],
        ("hotspot.critical-queue", "find_critical_queue"): [1, 2, 3],
        ("map", "find_mapping"): [None],
    }
    assert points[-1].fields["rounds"] > 0  # a search in seconds would not repeat


# -- values ----------------------------------------------------------------------------------------


LOADS = partial(kind_of("simulate.load").levels, field="load")


@given(st.integers(1, 50), st.integers(0, 500), st.integers(1, 40))
def test_ranges_have_both_ends_and_equal_steps(first, length, step):
    found = values_of("vcs", {"from": first, "to": first + length, "step": step})
    assert found[0] == first
    assert first + length - step < found[-1] <= first + length
    assert all(after - before == step for before, after in pairwise(found))


@pytest.mark.parametrize(
    ("field", "value", "values"),
    [
        ("vcs", 2, None),
        ("vcs", [1, 2], [1, 2]),
        ("app", [["a@0", "b@1"], "c"], [["a@0", "b@1"], "c"]),
        ("router", {"vcs": 2}, None),
        ("vcs", {"from": 1, "to": 8, "step": 3}, [1, 4, 7]),
        ("nodes", {"from": 16, "to": 1024, "factor": 4}, [16, 64, 256, 1024]),
        ("load", [0.2, 0.1, 0.2], [0.1, 0.2]),
        ("load", "0.1,0.2", [0.1, 0.2]),
        ("load", {"from": 0.1, "to": 0.3, "step": 0.1}, [0.1, 0.2, 0.3]),
    ],
)
def test_lists_and_ranges(field, value, values):
    assert values_of(field, value, LOADS if field == "load" else None) == values


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"from": 3, "to": 1},
        {"from": 1, "to": 3, "step": 0},
        {"from": 1, "to": 3, "step": 1, "factor": 2},
        {"from": 0, "to": 3, "factor": 2},
        {"from": 1, "to": 3, "factor": 1},
        {"from": "1", "to": 3},
        {"from": 1, "to": float("inf")},
        {"from": 1, "to": 1e6},
    ],
)
def test_what_is_no_list_or_range(value):
    with pytest.raises(InputError, match="vcs"):
        values_of("vcs", value, None)


# -- files that are named --------------------------------------------------------------------------


class Named(Question):
    """Fields that may name files, and one that does not."""

    app: Any = option("Program.", file=True)
    on: Any = option("Network.", default="", file=True)
    mapping: Any = option("Mapping.", default="", file=True)
    messages: Any = option("Messages.", default="", file=True)
    order: Any = option("Order.", default="", file=True)
    router: Any = option("Router.", default="")


def test_files_folders_and_globs_are_found(tmp_path):
    for name in ("a.mtx", "b.mtx", "net.graphml"):
        (tmp_path / name).write_text(name)
    (tmp_path / "prof").mkdir()
    (tmp_path / "prof" / "x.0.prof").write_text("0")
    (tmp_path / "prof" / "x.1.prof").write_text("1")
    fields = {
        "app": ["a.mtx@0-3", "b.mtx@4-7"],
        "on": "graph:net.graphml",
        "mapping": "identity",
        "messages": "prof",
        "order": "prof/x.*.prof",
        "router": "a.mtx",  # not a field that names files
    }
    found = {each.name: each.files for each in find_inputs(Named, fields, tmp_path)}
    assert found == {
        "a.mtx": ("a.mtx",),
        "b.mtx": ("b.mtx",),
        "net.graphml": ("net.graphml",),
        "prof": ("x.0.prof", "x.1.prof"),
        "prof/x.*.prof": ("x.0.prof", "x.1.prof"),
    }


def test_a_machine_file_takes_the_file_of_its_network_along(tmp_path):
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "net.txt").write_text("hosts: a b\na s\nb s\n")
    (tmp_path / "my.toml").write_text('topology = "graph:nets/net.txt"\nbandwidth = "1GB/s"\n')
    (tmp_path / "mesh.toml").write_text('topology = "mesh:4x4"\nbandwidth = "1GB/s"\n')
    fields = {"app": "ring:2", "on": ["machine:my.toml", "machine:mesh.toml:8x8"]}
    found = {each.name: each for each in find_inputs(Named, fields, tmp_path)}
    assert {name: each.files for name, each in found.items()} == {
        "my.toml": ("my.toml", "nets/net.txt"),
        "mesh.toml": ("mesh.toml",),
    }
    named = {name: unpack(name, each.digest, each.contents()) for name, each in found.items()}
    there = [machine(each) for each in renamed(fields["on"], named)]
    assert [each.network().num_hosts for each in there] == [2, 64]
    before = found["my.toml"].digest
    (tmp_path / "nets" / "net.txt").write_text("hosts: a b c\na s\nb s\nc s\n")
    assert next(find_inputs(Named, fields, tmp_path)).digest != before
    (tmp_path / "my.toml").write_text('topology = "graph:../net.txt"\nbandwidth = "1GB/s"\n')
    (tmp_path.parent / "net.txt").write_text("hosts: a b\na s\nb s\n")
    with pytest.raises(InputError, match=r"a network's file elsewhere, '\.\./net\.txt'"):
        list(find_inputs(Named, fields, tmp_path))


def test_contents_unpacked_are_found_by_the_same_names(tmp_path):
    (tmp_path / "prof").mkdir()
    (tmp_path / "prof" / "x.0.prof").write_text("zero")
    (tmp_path / "a.mtx").write_text("a")
    for written in ("prof", "prof/*.prof", "a.mtx"):
        (each,) = find_inputs(Named, {"app": written}, tmp_path)
        path = Path(unpack(written, each.digest, each.contents()))
        assert tmp_path not in path.parents
        (again,) = find_inputs(Named, {"app": str(path)}, Path("/"))
        assert again.contents() == each.contents()
        assert unpack(written, each.digest, each.contents()) == str(path)


def test_names_are_replaced_where_they_are_files_only():
    names = {"a.mtx": "/data/a.mtx", "plate.msh": "/data/plate.msh"}
    asked = {"app": "a.mtx@0-3", "on": "torus:4x4", "trace": "xa.mtx", "order": ["fem:plate.msh/4"]}
    assert renamed(asked, names) == {
        "app": "/data/a.mtx@0-3",
        "on": "torus:4x4",
        "trace": "xa.mtx",
        "order": ["fem:/data/plate.msh/4"],
    }


def test_traces_of_ranks_are_taken_with_their_groups(tmp_path):
    for name in ("t.0.et", "t.1.et", "t.json", "other.0.et"):
        (tmp_path / name).write_text(name)
    written = f"{tmp_path}/t.%d.et"
    (each,) = find_inputs(Named, {"app": f"chakra:{written}"}, tmp_path)
    assert each.files == ("t.0.et", "t.1.et", "t.json")
    path = Path(unpack(written, each.digest, each.contents()))
    assert path.name == "t.%d.et"
    assert sorted(file.name for file in path.parent.iterdir()) == ["t.0.et", "t.1.et", "t.json"]
    assert renamed({"trace": f"chakra:{written}"}, {written: "x/%d"}) == {"trace": "chakra:x/%d"}


def test_the_content_of_a_file_and_names_in_a_folder_make_the_digest(tmp_path):
    for number, name in enumerate(("one", "same", "other")):
        (tmp_path / name).mkdir()
        (tmp_path / f"{name}.mtx").write_text(str(number == 2))
        for rank in (0, 1):
            (tmp_path / name / f"x.{rank + (number == 2)}.prof").write_text(str(rank))
    for suffix in ("", ".mtx"):
        one, same, other = (
            next(find_inputs(Named, {"app": f"{name}{suffix}"}, tmp_path)).digest
            for name in ("one", "same", "other")
        )
        assert one == same != other


# -- the schema ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def validator():
    found = schema()
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


EXAMPLES = [path.read_text() for path in Path("examples").glob("*.toml")]
"""Experiments, and machines, which name a topology first."""


@pytest.mark.parametrize("text", [SWEEP, *(text for text in EXAMPLES if "\ntopology" not in text)])
def test_what_runs_fits_the_schema(validator, text):
    assert list(validator.iter_errors(tomllib.loads(text))) == []


@pytest.mark.parametrize("text", [text for text, *_ in WRONG if "lod" in text or "titel" in text])
def test_names_that_are_not_there_do_not(validator, text):
    assert not validator.is_valid(tomllib.loads(text))


def test_every_field_says_what_it_is():
    silent = [
        (words, name)
        for words, form in schema()["$defs"].items()
        if words not in ("range", "predict")
        for name, field in form["properties"].items()
        if "description" not in field and "anyOf" in field and "$ref" not in field["anyOf"][0]
    ]
    assert silent == []
