"""Names of routings: what the table says is what the code takes, and answers' names come back."""

import re

import networkx as nx
import pytest

from netloom.base.errors import DeadlockError, InputError
from netloom.questions.predict.latency import predicted_network
from netloom.routing import parse_routing, virtual_channel_routing
from netloom.routing.by_hop.hosted import BY_HOP
from netloom.routing.forwarding.engines import ENGINES
from netloom.routing.parse import _HASHED, _PLAIN, NETWORKS, SYNONYMS, rows
from netloom.routing.virtual_channel_tables import RULES
from netloom.topology import graph_topology, topology

NETS = {
    "mesh": topology("mesh:4x4"), "torus": topology("torus:4x4"),
    "graph": graph_topology(nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3)])),
    "tree": topology("fat-tree:2x2"), "dragonfly": topology("dragonfly:1x2x1"),
    "grid": topology("torus:4x4/1"), "hyperx": topology("hyperx:3x3/1"),
    "rest": topology("jellyfish:8x3x1/3"),
}  # fmt: skip

TAKE = {
    "p": lambda net, name: str(parse_routing(name, net)),
    "s": lambda net, name: virtual_channel_routing(net, name, num_vcs=8).name,
    "m": lambda net, name: predicted_network(net, routing=name, vcs=8).routing,
}

NAMES = ["dimension-order", *_PLAIN, *_HASHED, *ENGINES, *RULES, *BY_HOP, *SYNONYMS]


def cells():
    """What the table says: {(name, network): letters}."""
    found = {}
    for names, row in rows():
        for name in re.findall(r"[a-z0-9-]+", re.sub(r"\[.*?\]|…|xy", "", names)):
            found |= {(name, net): letters for net, letters in zip(NETWORKS, row, strict=True)}
    return found


def taken(letter, net, name):
    """The name that an answer would have, "" where the routing is refused."""
    try:
        return TAKE[letter](net, name)
    except DeadlockError:
        return name
    except InputError:
        return ""


@pytest.fixture(scope="module")
def answers():
    """The name in answers: {(name, network, letter): name}."""
    return {
        (name, kind, letter): taken(letter, net, name)
        for name in dict.fromkeys(["default", *NAMES])
        for kind, net in NETS.items()
        for letter in TAKE
    }


def test_the_table_is_what_the_code_takes(answers):
    said = cells()
    assert {name for name, _ in said} == set(NAMES)
    for (name, kind), letters in said.items():
        found = "".join(letter for letter in TAKE if answers[name, kind, letter])
        said[name, kind] = letters.lower().replace("-", ""), found
    assert {key: both for key, both in said.items() if both[0] != both[1]} == {}


def test_capitals_are_defaults(answers):
    for (name, kind), letters in cells().items():
        if name not in SYNONYMS:
            default = {letter for letter in TAKE if answers["default", kind, letter] == name}
            assert {letter.lower() for letter in letters if letter.isupper()} == default, (
                name,
                kind,
            )


def test_a_name_in_an_answer_is_one_that_is_taken_back(answers):
    for (name, kind, letter), found in answers.items():
        if found not in ("", name):
            assert taken(letter, NETS[kind], found) == found, (name, kind, letter)
