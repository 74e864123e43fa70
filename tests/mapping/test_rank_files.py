"""Every format read back by its own rules puts each rank on the node that the mapping names."""

import re

import pytest
from hypothesis import given, strategies as st

from netloom.mapping import (
    FORMATS,
    how_to_apply,
    rank_file,
    read_hosts,
    read_mapping,
    write_rank_file,
)

mappings = st.lists(st.integers(0, 9), min_size=1, max_size=40)


@given(mappings)
def test_openmpi_rankfile_gives_each_rank_of_a_node_its_own_slot(node_of):
    pattern = re.compile(r"rank (\d+)=n(\d+) slot=(\d+)")
    rows = [
        tuple(map(int, pattern.fullmatch(line).groups()))
        for line in rank_file(node_of).splitlines()
    ]
    assert [(rank, node) for rank, node, _ in rows] == list(enumerate(node_of))
    for node in set(node_of):
        slots = [slot for _, at, slot in rows if at == node]
        assert slots == list(range(len(slots)))


@given(mappings, st.sampled_from(["openmpi-rankfile", "openmpi-seq", "mpich", "slurm"]))
def test_rank_files_are_mapping_files(tmp_path_factory, node_of, kind):
    path = tmp_path_factory.getbasetemp() / "ranks.txt"
    write_rank_file(path, node_of, kind)
    names = {f"n{node}": node for node in range(10)}
    assert read_mapping(path, names).tolist() == node_of


def test_lines_of_rank_files_that_people_wrote(tmp_path):
    path, names = tmp_path / "ranks.txt", {"a": 0, "b": 1}
    path.write_text("rank 1=b slot=0:0-3\nrank 0 = a\n")
    assert read_mapping(path, names).tolist() == [0, 1]
    path.write_text("b:2\na\n")
    assert read_mapping(path, names).tolist() == [1, 1, 0]


@given(st.integers(1, 5), st.integers(1, 12), st.integers(0, 4), st.randoms(use_true_random=False))
def test_cray_order_refilled_by_slots_gives_the_mapping_back(per_node, full_nodes, last, random):
    node_of = [node for node in range(full_nodes) for _ in range(per_node)]
    node_of += [full_nodes] * min(last, per_node)
    random.shuffle(node_of)
    order = [int(rank) for rank in ",".join(rank_file(node_of, "cray").splitlines()).split(",")]
    assert sorted(order) == list(range(len(node_of)))
    assert [node_of[rank] for rank in order] == [s // per_node for s in range(len(order))]


@pytest.mark.parametrize("kind", FORMATS)
def test_what_is_written_is_the_text_and_the_command_names_the_file(tmp_path, kind):
    path = tmp_path / "my ranks"
    write_rank_file(path, [1, 0, 2], kind)
    assert path.read_text() == rank_file([1, 0, 2], kind)
    command = how_to_apply(kind, path, 3, tasks_per_node=1)
    assert f"'{path}'" in command
    assert " 3 " in command


def test_hosts_are_read_line_by_line(tmp_path):
    (tmp_path / "hosts").write_text("# rack 1\nnid0001\n\nnid0007 # spare\n")
    assert read_hosts(tmp_path / "hosts") == ["nid0001", "nid0007"]
