"""Networks as texts in ibsim's form, from which tests and benchmarks read them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.topology.core import port_numbers, way_back
from netloom.topology.names import serves
from netloom.topology.subnets.infiniband import LANE_GBPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.topology.core import Topology

SWITCH_GUID, HOST_GUID, OTHER_GUID = 0x2000000, 0x100000000, 0x200000000
"""GUIDs of the first switch, host and other end point where the network says none."""

_TOKENS = {lanes * gbps: f"{lanes}x{name}" for lanes in (1, 4) for name, gbps in LANE_GBPS.items()}


def ibsim_text(topology: Topology) -> str:
    """Return a network as a text in ibsim's form, each cable at both its ends.

    Routers are switches, hosts adapters. GUIDs, LIDs, port numbers and end points that run no
    programs are those of the file that the network came from, if it came from one. Rates are
    written where all are such as InfiniBand has. What is broken is left out. ``fabric:FILE`` reads
    the same network back, except for adapters without a cable.

    Raises
    ------
    InputError
        If a channel has no way back, for a cable leads both ways.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> print(ibsim_text(topology("leaf-spine:1x1x1")))
    switchguid=0x2000000(2000000)
    Switch	2 "S-0000000002000000"		# "leaf0" base port 0 lid 0 lmc 0
    [1]	"S-0000000002000001"[1]
    [2]	"H-0000000100000000"[1]
    <BLANKLINE>
    switchguid=0x2000001(2000001)
    Switch	1 "S-0000000002000001"		# "spine0" base port 0 lid 0 lmc 0
    [1]	"S-0000000002000000"[1]
    <BLANKLINE>
    caguid=0x100000000
    Ca	1 "H-0000000100000000"		# "h0"
    [1](100000001) 	"S-0000000002000000"[2]
    <BLANKLINE>
    """
    if (way_back(topology) < 0).any():
        raise InputError(topology.name, "channels that lead one way", "cables, which lead both")
    return "\n".join(_Text(topology).lines())


class _Text:
    """A network's GUIDs, ports and names, and the lines that say them."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.cabling = topology.cabling
        self.ports = port_numbers(topology)
        routers, hosts = topology.num_routers, topology.num_hosts
        self.guid = [SWITCH_GUID + router for router in range(routers)]
        self.port_host = np.arange(hosts) if topology.direct else topology.port_host
        at = np.arange(hosts) if topology.direct else topology.injection_router
        self.at = at.tolist()
        counts = np.bincount(self.port_host, minlength=hosts)
        stride = int(counts.max(initial=0)) + 1
        self.host_guid = [HOST_GUID + host * stride for host in range(hosts)]
        if self.cabling is not None:
            for mine, said in (
                (self.guid, self.cabling.router_guid), (self.host_guid, self.cabling.host_guid),
            ):  # fmt: skip
                mine[:] = [int(each) or made for made, each in zip(mine, said, strict=True)]
        self.cables = self._cables()

    def _cables(self) -> dict[int, list[tuple[int, str]]]:
        """Return the lines of each router's ports, by port. Sets where hosts' ports lead."""
        topology, (out_port, in_port) = self.topology, self.ports
        first, many = topology.num_network_channels, topology.num_hosts
        shift = 0 if topology.direct else many
        cables: dict[int, list[tuple[int, str]]] = {r: [] for r in range(topology.num_routers)}
        rates = self._rates()
        ends = zip(
            (topology.source_end[:first] - shift).tolist(), out_port[:first].tolist(),
            (topology.target_end[:first] - shift).tolist(), in_port[:first].tolist(),
            rates[:first], strict=True,
        )  # fmt: skip
        for here, port, there, far, rate in ends:
            cables[here].append((port, f'"S-{self.guid[there]:016x}"[{far}]{rate}'))
        ports = len(self.at)
        if topology.direct:
            beyond = [max((port for port, _ in cables[r]), default=0) + 1 for r in self.at]
            counted = np.ones(ports, np.int64).tolist()
            rates = [*rates, *([""] * ports)]
        else:
            beyond = in_port[first : first + ports].tolist()
            counted = out_port[first : first + ports].tolist()
        self.host_cables: list[list[tuple[int, int, int, str]]] = [[] for _ in range(many)]
        for place, (host, router) in enumerate(zip(self.port_host.tolist(), self.at, strict=True)):
            own, far, rate = counted[place], beyond[place], rates[first + place]
            cables[router].append((far, f'"H-{self.host_guid[host]:016x}"[{own}]{rate}'))
            self.host_cables[host].append((place, own, far, rate))
        if self.cabling is not None:
            others = self.cabling.others
            for place, router in enumerate(others.router.tolist()):
                cables[router].append((int(others.port[place]), f'"{self._other_key(place)}"[1]'))
        return cables

    def _rates(self) -> list[str]:
        """Return what is said of each channel's rate. Nothing if a rate is none of InfiniBand's."""
        topology = self.topology
        gbps = topology.channel_bandwidth * (topology.reference_gbps or 0.0)
        tokens = [_TOKENS.get(round(each, 6), "") for each in gbps.tolist()]
        return [f" # {each}" for each in tokens] if all(tokens) else [""] * len(tokens)

    def lines(self) -> Iterator[str]:
        topology, cabling = self.topology, self.cabling
        gone = set(topology.failed_nodes)
        for router, guid in enumerate(self.guid):
            if topology.router_vertex(router) in gone:
                continue
            name = topology.name_of(topology.router_vertex(router))
            name = f"switch {name}" if topology.direct else name
            lid = int(cabling.router_lid[router]) if cabling is not None else 0
            cables = sorted(self.cables[router])
            ports = max((port for port, _ in cables), default=1)
            ports = max(ports, int(cabling.router_ports[router]) if cabling is not None else 0)
            yield f"switchguid={guid:#x}({guid:x})"
            said = f'# "{name}" base port 0 lid {lid} lmc 0'
            yield f'Switch\t{ports} "S-{guid:016x}"\t\t{said}'
            yield from (f"[{port}]\t{line}" for port, line in cables)
            yield ""
        for host, guid in enumerate(self.host_guid):
            if not self.host_cables[host] or host in gone:
                continue
            ports = max(own for _, own, _, _ in self.host_cables[host])
            yield f"caguid={guid:#x}"
            yield f'Ca\t{ports} "H-{guid:016x}"\t\t# "{self._description(host)}"'
            yield from (self._host_line(host, *each) for each in self.host_cables[host])
            yield ""
        yield from self._other_lines()

    def _host_line(self, host: int, place: int, own: int, far: int, rate: str) -> str:
        cabling = self.cabling
        number = int(cabling.port_guid[place]) if cabling is not None else 0
        line = f'[{own}]({number or self.host_guid[host] + own:x}) \t"S-'
        line += f'{self.guid[self.at[place]]:016x}"[{far}]'
        if cabling is None or not cabling.port_lid[place]:
            return line + rate
        said = f"lid {cabling.port_lid[place]} lmc {cabling.lmc[place]}"
        return f"{line} # {said}{rate.replace(' #', '')}"

    def _description(self, host: int) -> str:
        """Return a host's name as the reader takes it apart: its computer, then its adapter."""
        topology = self.topology
        name, node = topology.name_of(host), int(topology.node_of_host[host])
        if name == f"0x{self.host_guid[host]:016x}":
            return "MT0 without a name"
        if topology.num_nodes == topology.num_hosts:
            return name.replace("/", " ", 1) if self.cabling is not None else name
        computer = topology.computer_name(node)
        if name.startswith(f"{computer}/"):
            return f"{computer} {name[len(computer) + 1 :]}"
        rank = host - int(np.argmax(topology.node_of_host == node))
        return f"{computer} HCA-{rank + 1}" if name != computer else name

    def _other_key(self, place: int) -> str:
        assert self.cabling is not None
        kind = "H" if serves(self.cabling.others.names[place]) else "R"
        return f"{kind}-{OTHER_GUID + 2 * place:016x}"

    def _other_lines(self) -> Iterator[str]:
        if self.cabling is None:
            return
        others = self.cabling.others
        for place, name in enumerate(others.names):
            node, key = OTHER_GUID + 2 * place, self._other_key(place)
            router, port, lid = int(others.router[place]), others.port[place], others.lid[place]
            kind = ("ca", "Ca") if key.startswith("H") else ("rt", "Rt")
            yield f"{kind[0]}guid={node:#x}"
            yield f'{kind[1]}\t1 "{key}"\t\t# "{name}"'
            said = f" # lid {lid} lmc 0" if lid else ""
            guid = int(others.guid[place]) or node + 1
            yield f'[1]({guid:x}) \t"S-{self.guid[router]:016x}"[{port}]{said}'
            yield ""
