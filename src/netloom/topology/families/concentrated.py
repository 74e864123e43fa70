"""Several hosts on each router of a network that is drawn without hosts, such as a mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.topology.core import Topology, attach_hosts
from netloom.topology.families.wires import check_sizes

if TYPE_CHECKING:
    from collections.abc import Callable


def concentrated(routers: Topology, hosts: int) -> Topology:
    """Return a direct network with ``hosts`` hosts on each router. Host h hangs on h div hosts.

    Raises
    ------
    InputError
        If there are no hosts, or the network would be too large.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> concentrated(mesh(4, 4), 4)
    <mesh:4x4/4: 64 hosts, 16 routers, 48 directed channels>
    """
    name, many = f"{routers.name}/{hosts}", routers.num_vertices
    if hosts < 1:
        raise InputError(name, f"{hosts} hosts per router", "at least 1")
    channels = routers.num_channels + 2 * many * hosts
    check_sizes(name, hosts=many * hosts, routers=many, channels=channels)
    return attach_hosts(routers, np.arange(many).repeat(hosts), name=name)


def with_hosts(
    make: Callable[[str, str], Topology], count: Callable[[str, str], int]
) -> Callable[[str, str], Topology]:
    """Return a maker that also takes ``/c`` behind what ``make`` takes: c hosts on each router.

    ``count`` returns the number of routers that ``make`` would make, before it makes them.
    """

    def made(argument: str, spec: str) -> Topology:
        shape, slash, hosts = argument.partition("/")
        if not slash:
            return make(argument, spec)
        inner = spec.rpartition("/")[0]
        each, routers = whole_number(hosts, where=spec, least=1), count(shape, spec)
        check_sizes(spec, hosts=routers * each, routers=routers, channels=2 * routers * each)
        return concentrated(make(shape, inner), each)

    return made
