"""What simulators and models ask of a network: all channels alike, perhaps every router a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.base.errors import InputError

if TYPE_CHECKING:
    from netloom.topology.core import Topology


def check_alike(topology: Topology, what: str) -> None:
    """Refuse a network whose channels differ in bandwidth or latency.

    Parameters
    ----------
    topology
        The network. Injection and ejection channels count, where it lists them.
    what
        What is asked for, such as ``compiled phases``.

    Raises
    ------
    InputError
        Naming the first channel that does not take a flit per cycle in one cycle.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> check_alike(topology("leaf-spine:4x2x4"), "compiled phases")
    """
    odd = (topology.channel_bandwidth != 1) | (topology.channel_cycles != 1)
    if odd.any():
        first = int(odd.argmax())
        rate, cycles = topology.channel_bandwidth[first], topology.channel_cycles[first]
        name = topology.channel_name(first)
        found = f"channel {name} of bandwidth {rate:g} and latency {cycles} cycles"
        wanted = f"channels of bandwidth 1 and latency 1 for {what}; analyze takes any"
        raise InputError(topology.name, found, wanted)


def check_direct(topology: Topology, what: str, instead: str = "analyze or map") -> None:
    """Refuse a network whose hosts hang on routers.

    ``what`` is asked for, such as ``simulation flit by flit``. ``instead`` are the commands and
    options that take such a network.

    Raises
    ------
    InputError
        If the network has channels between hosts and routers.

    Examples
    --------
    >>> from netloom.topology import mesh, topology
    >>> check_direct(mesh(4, 4), "simulation flit by flit")
    >>> check_direct(topology("leaf-spine:4x2x4"), "simulation flit by flit")
    Traceback (most recent call last):
        ...
    netloom.InputError: leaf-spine:4x2x4: found hosts that hang on routers; expected a \
direct network (mesh, torus …) for simulation flit by flit; for this one, use analyze or map
    """
    if not topology.direct:
        wanted = f"a direct network (mesh, torus …) for {what}; for this one, use {instead}"
        raise InputError(topology.name, "hosts that hang on routers", wanted)
