"""Models of NVIDIA's topograph: switches, what hangs below each, and nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.base.errors import InputError
from netloom.topology.subnets.documents import Document, Record, read_document
from netloom.topology.subnets.trees import Tree, add_tree

if TYPE_CHECKING:
    from netloom.topology.subnets.records import Subnet

WANTED = "topograph's model: switches, each with switches or nodes"

ONE_CABLE = (
    "topograph's model says which switches and nodes are joined, not by how many cables: "
    "netloom takes one for each."
)


def read_topograph(subnet: Subnet, text: str) -> None:
    """Fill in what a model of NVIDIA's topograph says, in any of the forms that it has had.

    ``switches`` is a mapping from names, or a list of records with a ``name``. Below a switch are
    ``switches`` and ``nodes``, or the nodes of its ``capacity_blocks``. Those of ``blocks`` are on
    the ``switch`` that each names. Domains of accelerators, labels and types are left out: they are
    no cables of this network.

    Raises
    ------
    InputError
        Naming file and line.
    """
    document = read_document(subnet.path, text, wanted=WANTED)
    top = document.top
    if not isinstance(top, Record) or "switches" not in top:
        raise InputError(subnet.path, "no switches", WANTED)
    blocks = dict(_named(document, top, "capacity_blocks"))
    tree = Tree()
    for name, switch in _named(document, top, "switches"):
        nodes = document.names(switch, "nodes")
        for block in document.names(switch, "capacity_blocks"):
            if block not in blocks:
                found = f"capacity block '{block:.40}', which the file does not have"
                raise InputError(document.at(switch), found, "blocks of the file")
            nodes += document.names(blocks[block], "nodes")
        tree.add(name, document.names(switch, "switches"), nodes, document.at(switch))
    for each in document.records(top, "blocks"):
        name = document.text(each, "switch")
        tree.hang(name, document.names(each, "nodes"), document.at(each))
    tree.add_leaves()
    subnet.notes.append(ONE_CABLE)
    add_tree(subnet, tree)


def _named(document: Document, top: Record, key: str) -> list[tuple[str, Record]]:
    """Return names and records of a mapping, or of a list whose records say their name."""
    value = top.get(key)
    if isinstance(value, Record):
        return [(name, document.record(value, name)) for name in value]
    return [(document.text(each, "name"), each) for each in document.records(top, key)]
