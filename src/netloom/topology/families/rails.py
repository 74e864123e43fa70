"""Rail-optimised networks: the NICs of a computer hang on different leaves, one for each rail."""

from __future__ import annotations

import numpy as np

from netloom.base.spec import whole_number
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.families.wires import at_least_one, check_sizes, linked, numbers, parts
from netloom.topology.family import TreeShape


def rail(units: int, computers: int, rails: int, spines: int, cables: int = 1) -> Topology:
    """Return a rail-optimised network: NIC r of each computer of a unit hangs on leaf (unit, r).

    A computer (node) owns as many hosts, its NICs, as there are rails: host n · rails + r is NIC r
    of computer n, which belongs to unit n div ``computers``. Leaf (u, r) is router u · rails + r.
    The spines follow, and each leaf is joined to each. It is a tree of two levels whose hosts are
    numbered computer by computer, not leaf by leaf.

    Parameters
    ----------
    units
        Scalable units.
    computers
        Computers in a unit.
    rails
        NICs of a computer, and leaves of a unit.
    spines
        Spines.
    cables
        Links between a leaf and a spine.

    Raises
    ------
    InputError
        If a number is below 1, or the network would be too large.

    Examples
    --------
    >>> net = rail(2, 4, 8, 4)
    >>> net, net.num_nodes, net.name_of(9), net.channel_name(net.num_network_channels + 9)
    (<rail:2x4x8x4: 64 hosts, 20 routers, 128 directed channels>, 8, 'n1.1', 'n1.1 -> u0rail1')
    """
    name = f"rail:{units}x{computers}x{rails}x{spines}" + (f"/{cables}" if cables != 1 else "")
    at_least_one(name, "units, computers per unit, rails, spines and cables",
                 units, computers, rails, spines, cables)  # fmt: skip
    nodes, leaves = units * computers, units * rails
    check_sizes(
        name, hosts=nodes * rails, routers=leaves + spines,
        channels=2 * (leaves * spines * cables + nodes * rails),
    )  # fmt: skip
    leaf, spine = np.divmod(np.arange(leaves * spines), spines)
    names = [f"u{unit}rail{r}" for unit in range(units) for r in range(rails)]
    joined = linked(
        name, leaves + spines, leaf.repeat(cables), (leaves + spine).repeat(cables),
        labels=(*names, *(f"spine{i}" for i in range(spines))),
    )  # fmt: skip
    node, nic = np.divmod(np.arange(nodes * rails, dtype=np.int32), rails)
    # the place of a host in the tree: leaf by leaf, computers in order
    place = (node // computers * rails + nic) * computers + node % computers
    shape = TreeShape(
        (computers, leaves), (1, spines), (1, cables), host_at=np.argsort(place).astype(np.int32)
    )
    return attach_hosts(
        joined, node // computers * rails + nic, name=name, family=shape,
        labels=(*(f"n{n}.{r}" for n in range(nodes) for r in range(rails)), *joined.labels),
        node_of_host=node, computer_labels=tuple(f"n{n}" for n in range(nodes)),
    )  # fmt: skip


def rail_of(argument: str, spec: str) -> Topology:
    """Read ``2x4x8x4``: units, computers per unit, rails, spines. Cables behind a slash."""
    wanted = "units, computers per unit, rails and spines, such as rail:2x4x8x4"
    shape, *cables = parts(argument, where=spec, most=2, wanted=wanted)
    many = [whole_number(word, where=spec, least=1) for word in cables]
    return rail(*numbers(shape, where=spec, count=4, wanted=wanted), *many)
