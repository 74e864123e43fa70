from pathlib import Path
from typing import Any

import pytest

from netloom.base.errors import InputError
from netloom.experiments.file import find_inputs, renamed, unpack
from netloom.machines import machine
from netloom.questions.base import Question, option


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
