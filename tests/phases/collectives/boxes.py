"""Networks of published collective schedules, as tests build them."""

from pathlib import Path

import networkx as nx

from netloom.machines import machine
from netloom.phases.collectives.judged import judge
from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.pipelines import Asked
from netloom.phases.collectives.synthesis import proven, synthesised
from netloom.topology import topology
from tests.reference.collectives_checked import check

EXAMPLES = Path(__file__).parents[3] / "examples"


def box(name):
    """Return the ranks and links of a machine of the examples, with its latencies."""
    given = machine(f"machine:{EXAMPLES / name}.toml")
    net = given.network()
    rate, latency = given.bandwidth_bytes_per_us * 1e6, given.latencies_us(net) / 1e6
    return rank_network(net, bytes_per_second=rate, latency_seconds=latency)


def a100(boxes):
    """Return boxes of 8 A100: 300 GB/s each to an NVSwitch, 25 GB/s to one InfiniBand switch."""
    graph = nx.MultiGraph()
    graph.add_nodes_from((f"g{gpu}" for gpu in range(8 * boxes)), kind="gpu")
    graph.add_nodes_from((f"nvswitch{each}" for each in range(boxes)), kind="switch")
    graph.add_edges_from(
        ((f"g{gpu}", f"nvswitch{gpu // 8}") for gpu in range(8 * boxes)), bandwidth="300GB/s"
    )
    if boxes > 1:
        graph.add_node("ib", kind="switch")
        graph.add_edges_from(((f"g{gpu}", "ib") for gpu in range(8 * boxes)), bandwidth="25GB/s")
    return rank_network(topology(graph), bytes_per_second=25e9 if boxes > 1 else 300e9)


def plain(spec):
    """Return every host of a network as a rank."""
    return rank_network(topology(nx.petersen_graph() if spec == "petersen" else spec))


def made(network, collective, size=1.0, **options):
    """Return a schedule that executes on data and that the judge finds right."""
    found = synthesised(Asked(network, collective, size, **options))
    check(found.program)
    judge(proven(found))
    return found
