"""``nodes`` in every question that places tasks: ranks in order fill the list in its order."""

import pytest

import netloom as nl
from netloom.base.errors import InputError

NODES, LIST = [5, 4, 9, 8], "5,n4,(2,1),8"

QUESTIONS = {
    "analyze": lambda **more: nl.analyze("ring:4", "mesh:4x4", random_mappings=0, **more),
    "simulate": lambda **more: nl.simulate("mesh:4x4", app="ring:4", load=0.1, cycles=200, **more),
    "predict": lambda **more: nl.predict_latency("mesh:4x4", app="ring:4", offered=0.1, **more),
    "compile": lambda **more: nl.compile_phases("ring:4", "mesh:4x4", **more),
    "loop": lambda **more: nl.simulate_loop("mesh:4x4", app="ring:4", applied=0.1, loops=5, **more),
    "transactions": lambda **more: nl.simulate_transactions("mesh:4x4", app="ring:4", **more),
    "trace": lambda **more: nl.replay("mesh:8x8", trace="examples/halo.csv", **more),
}


def answer(found):
    """What is answered, without the question and without how long it took."""
    asked = ("provenance", "seconds", "cpu_seconds", "mapping", "nodes", "random_mapping")
    figures = found.to_dict()
    for each in ("next", "lines"):  # commands and subjects repeat what was asked
        figures["verdict"].pop(each)
    return {key: value for key, value in figures.items() if key not in asked}


@pytest.mark.parametrize("verb", sorted(set(QUESTIONS) - {"trace"}))
def test_ranks_fill_the_list_in_its_order(verb):
    ask = QUESTIONS[verb]
    assert answer(ask(nodes=LIST)) == answer(ask(mapping=NODES))
    with pytest.raises(InputError, match="mesh:4x4: found 3 nodes for 4 tasks"):
        ask(nodes="5,4,9")
    with pytest.raises(InputError, match="task 0 on host 0, which is not allocated"):
        ask(nodes=NODES, mapping=[0, 4, 8, 9])


def test_random_mappings_keep_to_the_list():
    found = nl.analyze("ring:4", "mesh:4x4", nodes=LIST, mapping="random", random_mappings=3)
    assert sorted(found.node_of.tolist()) == sorted(NODES)
    assert max(each.own.path_length.max for each in found.random) <= 2
    assert found.random_mapping.expected is None  # that would be of all nodes
