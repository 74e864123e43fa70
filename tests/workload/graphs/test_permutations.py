import pytest

from netloom.workload import read


def targets(graph):
    """Where each task sends, itself where it does not send."""
    sent = dict(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    return [sent.get(task, task) for task in range(graph.num_tasks)]


def bits(task, num_bits=5):
    return f"{task:0{num_bits}b}"


def test_transpose_swaps_row_and_column():
    assert targets(read("transpose:3")) == [0, 3, 6, 1, 4, 7, 2, 5, 8]


@pytest.mark.parametrize(
    ("spec", "moved"),
    [
        ("bit-complement:32", lambda b: b.translate(str.maketrans("01", "10"))),
        ("bit-reverse:32", lambda b: b[::-1]),
        ("shuffle:32", lambda b: b[1:] + b[:1]),
    ],
)
def test_permutations_of_bits(spec, moved):
    assert targets(read(spec)) == [int(moved(bits(task)), 2) for task in range(32)]


def test_shifts_go_ahead_by_their_distances():
    graph = read("shift:1,5/12")
    sent = set(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    assert sent == {(i, (i + by) % 12) for i in range(12) for by in (1, 5)}


def test_a_seed_gives_one_random_permutation():
    first, same, other = (targets(read(f"random-permutation:64,{seed}")) for seed in (1, 1, 2))
    assert first == same != other
    assert targets(read("random-permutation:64")) == first


@pytest.mark.parametrize(
    ("spec", "rows", "columns"), [("tornado:5x8", 2, 3), ("neighbour:5x8", 1, 1)]
)
def test_permutations_of_coordinates(spec, rows, columns):
    wanted = [(i + rows) % 5 * 8 + (j + columns) % 8 for i in range(5) for j in range(8)]
    assert targets(read(spec)) == wanted


@pytest.mark.parametrize(
    "spec", ["transpose:1", "bit-reverse:1", "shuffle:1", "tornado:2x2", "neighbour:1x1"]
)
def test_a_permutation_that_moves_nothing_has_no_edges(spec):
    assert read(spec).num_edges == 0
    assert read(spec).num_tasks >= 1
