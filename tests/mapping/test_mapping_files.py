"""Mapping files come back as they went out, and a mistake in one is named with its line."""

import pytest
from hypothesis import given, strategies as st

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
