"""Products of rings, lines and full graphs are recognised, however they are numbered."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given, settings, strategies as st

from netloom.topology.subnets.shapes import grid_words, mended

KINDS = {"ring": (nx.cycle_graph, 5), "line": (nx.path_graph, 3), "full": (nx.complete_graph, 4)}


def ends(graph, seed):
    order = np.random.default_rng(seed).permutation(len(graph))
    number = {vertex: int(place) for vertex, place in zip(graph, order, strict=True)}
    pairs = sorted(sorted((number[a], number[b])) for a, b in graph.edges)
    here, there = np.array(pairs, np.int64).T
    return len(graph), here, there


@st.composite
def grids(draw):
    kind = draw(st.sampled_from(sorted(KINDS)))
    make, least = KINDS[kind]
    sides = draw(st.lists(st.integers(least, 7), min_size=2, max_size=2 + (kind == "line")))
    graph = nx.empty_graph(1)
    for side in sides:
        graph = nx.cartesian_product(graph, make(side))
    word = {"ring": "torus", "line": "mesh", "full": "HyperX"}[kind]
    words = f"{word} {'x'.join(map(str, sorted(sides, reverse=True)))}"
    return words, ends(graph, draw(st.integers(0, 99)))


@settings(max_examples=50)
@given(grids())
def test_grids_are_recognised(grid):
    words, graph = grid
    assert grid_words(*graph) == words


@settings(max_examples=30)
@given(grids(), st.integers(0, 10**6))
def test_a_grid_that_lacks_a_cable_is_none(grid, which):
    _, (size, here, there) = grid
    keep = np.arange(len(here)) != which % len(here)
    assert grid_words(size, here[keep], there[keep]) == ""


@settings(max_examples=30)
@given(grids(), st.data())
def test_a_torus_or_hyperx_that_lacks_cables_is_mended(grid, data):
    words, (size, here, there) = grid
    if words.startswith("mesh"):
        return
    lost = data.draw(st.sets(st.integers(0, len(here) - 1), min_size=1, max_size=2))
    keep = ~np.isin(np.arange(len(here)), list(lost))
    gone = sorted((int(here[each]), int(there[each])) for each in lost)
    assert mended(size, here[keep], there[keep]) == (words, gone)


@settings(max_examples=30)
@given(st.integers(0, 99))
def test_other_graphs_are_no_grids(seed):
    graph = nx.random_regular_graph(3, 14, seed=seed)
    if nx.is_connected(graph) and not nx.is_isomorphic(graph, nx.circular_ladder_graph(7)):
        assert grid_words(*ends(graph, seed)) == ""
    assert grid_words(*ends(nx.petersen_graph(), seed)) == ""
