"""What ibnetdiscover would say of a network of one of netloom's own families."""

from itertools import count
from random import Random

from netloom.topology.core import port_numbers, way_back

AGGREGATION = "Mellanox Technologies Aggregation Node"


def scan(network, *, seed=None, lmc=0, aggregated=()):
    """Return the output of ibnetdiscover: LIDs as vertices come, or shuffled by a seed.

    Every host port answers to 2**lmc LIDs; the routers ``aggregated`` have an aggregation node at
    a further port.
    """
    ports = _ports(network)
    vertices, hosts = network.num_ends, network.num_hosts
    names = [network.name_of(vertex) for vertex in range(vertices)]
    guids = [0x1000 + 16 * host for host in range(hosts)]
    guids += [0x2000000 + 16 * router for router in range(network.num_routers)]
    for router in aggregated:
        here, port = hosts + router, max(ports[hosts + router]) + 1
        ports[here][port] = (len(names), 1)
        ports.append({1: (here, port)})
        names.append(AGGREGATION)
        guids.append(0x3000000 + 16 * router)
    switches = range(hosts, vertices)
    lids = _lids(ports, switches, lmc, seed)

    def end(device, port):
        if device in switches:
            return f'"S-{guids[device]:016x}"[{port}]', lids[device, 0]
        guid = guids[device]
        return f'"H-{guid:016x}"[{port}]({guid + port:x}) ', lids[device, port]

    lines = ["# Topology file: generated on Sun Nov 22 06:40:49 2026"]
    for device, cables in enumerate(ports):
        guid, name, switch = guids[device], names[device], device in switches
        kind, letter = ("Switch", "S") if switch else ("Ca", "H")
        said = f" enhanced port 0 lid {lids[device, 0]} lmc 0" if switch else ""
        lines += ["", f"{kind.lower()}guid=0x{guid:x}" + f"({guid:x})" * switch]
        lines += [f'{kind}\t{max(cables)} "{letter}-{guid:016x}"\t\t# "{name}"{said}']
        for port, peer in sorted(cables.items()):
            word, lid = end(*peer)
            own = "" if switch else f"lid {lids[device, port]} lmc {lmc * (device < hosts)} "
            at = "" if switch else f"({guid + port:x}) "
            lines += [f'[{port}]{at}\t{word}\t\t# {own}"{names[peer[0]]}" lid {lid} 4xEDR']
    return "\n".join(lines) + "\n"


def _ports(network):
    """Return what each port of each vertex is cabled to: {port: (vertex, its port)} of each."""
    assert (way_back(network) >= 0).all()
    found = [{} for _ in range(network.num_ends)]
    ends = (network.source_end, network.target_end, *port_numbers(network))
    for source, target, out, into in zip(*(each.tolist() for each in ends), strict=True):
        found[source][out] = (target, into)
    return found


def _lids(ports, switches, lmc, seed):
    """Return the LID of each port of an adapter, and of port 0 of each switch."""
    ends = [(device, port) for device, cables in enumerate(ports)
            for port in ([0] if device in switches else sorted(cables))]  # fmt: skip
    if seed is not None:
        Random(seed).shuffle(ends)
    free, lids = 1, {}
    for device, port in ends:
        wide = 2**lmc if device < switches.start else 1
        lids[device, port] = next(lid for lid in count(free) if lid % wide == 0)
        free = lids[device, port] + wide
    return lids
