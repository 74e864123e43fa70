"""Mapping files come back as they went out, and a mistake in one is named with its line."""

import pytest
from hypothesis import given, strategies as st

from netloom.base.errors import InputError
from netloom.mapping import read_mapping, write_mapping


@pytest.mark.parametrize("suffix", [".txt", ".json"])
@given(node_of=st.lists(st.integers(0, 2**31), min_size=1))
def test_a_mapping_comes_back_as_it_went_out(tmp_path_factory, suffix, node_of):
    path = tmp_path_factory.getbasetemp() / f"mapping{suffix}"
    write_mapping(path, node_of, "mesh:4x4")
    assert read_mapping(path).tolist() == node_of
    assert "mesh:4x4" in path.read_text()


def test_comments_and_blank_lines_do_not_count(tmp_path):
    path = tmp_path / "m"
    path.write_text("\ufeff# task 0 first\r\n3 # corner\r\n\r\n  1\n")
    assert read_mapping(path).tolist() == [3, 1]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("m.txt", "0\n# one\n1 2\n", "m.txt:3: found '1 2'; expected a whole number"),
        ("m.txt", "0\n-1\n", "m.txt:2: found '-1'"),
        ("m.txt", "9" * 30, "m.txt:1: found '999"),
        ("m.txt", "# nothing\n", "m.txt: found no tasks"),
        ("m.json", '{"node_of":\n [1, }', "m.json:2: found no JSON"),
        ("m.json", "[" * 100_000, "m.json: found over 64 lists and records inside each other"),
        ("m.json", "[1, 2]", "m.json: found no list of nodes"),
        ("m.json", '{"node_of": []}', "m.json: found no list of nodes"),
        ("m.json", '{"node_of": [0, true]}', "m.json, task 1: found True"),
        ("m.json", '{"node_of": [0, 1.5]}', "m.json, task 1: found 1.5"),
        ("m.json", '{"node_of": [-3]}', "m.json, task 0: found -3"),
    ],
)
def test_mistakes_name_the_file_and_the_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_mapping(tmp_path / name)
