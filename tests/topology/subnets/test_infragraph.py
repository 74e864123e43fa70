"""InfraGraph's infrastructures."""

from __future__ import annotations

import json

from netloom.topology.core import TreeShape
from tests.topology.subnets.fabric_files import text_of
from tests.topology.subnets.said import links, network


def clos():
    """Return a Clos of two tiers, as InfraGraph's documentation describes it."""
    return json.loads(text_of("clos.json"))


def test_a_clos_is_a_fat_tree_of_named_cards(tmp_path):
    net = network(tmp_path, json.dumps(clos()))
    assert isinstance(net.family, TreeShape)
    assert (net.family.children, net.family.parents) == ((4, 4), (1, 3))
    assert net.labels[0] == "server.0.nic.0"
    assert net.computer_labels == tuple(f"server.{i}" for i in range(4))
    assert net.local_group.tolist() == [server for server in range(4) for _ in range(4)]
    rates = {rate for a, b, rate, _ in links(net) if "spine" in a or "spine" in b}
    assert rates == {400.0}
    assert net.reference_gbps == 100.0
    assert net.cable_end(0) == ("leaf.0", 5, "spine.0", 1)  # ports are counted from 1


def test_yaml_and_json_and_an_outer_key_say_the_same(tmp_path):
    import yaml

    expected = links(network(tmp_path, json.dumps(clos())))
    for text in (yaml.safe_dump(clos()), json.dumps({"infrastructure": clos()}, indent=1)):
        assert links(network(tmp_path, text)) == expected


def test_many_to_many_joins_all(tmp_path):
    found = clos()
    found["devices"][1]["components"][0]["choice"] = "switch"
    found["edges"][4:] = [{"ep1": {"instance": "leaf", "component": "asic"}, "link": "eth2",
                           "ep2": {"instance": "spine", "component": "asic[0]"},
                           "scheme": "many2many"}]  # fmt: skip
    net = network(tmp_path, json.dumps(found))
    assert (net.family.children, net.family.parents) == ((4, 4), (1, 3))


def test_a_card_that_is_a_device_is_one_host(tmp_path):
    found = clos()
    found["devices"].append({"name": "cx5", "components": [
        {"name": "asic", "count": 1, "choice": "cpu"},
        {"name": "port", "count": 2, "choice": "port"},
    ]})  # fmt: skip
    found["devices"][0]["components"][1] = {"name": "cx5", "count": 2, "choice": "device"}
    for edge in found["edges"][:4]:
        edge["ep1"]["component"] = "cx5.port"
    net = network(tmp_path, json.dumps(found))
    assert (net.num_hosts, net.num_ports) == (8, 16)
    assert net.labels[:2] == ("server.0.cx5.0", "server.0.cx5.1")


def change(path, value):
    """Return the Clos with one value changed."""
    found = here = clos()
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = value
    return json.dumps(found)


def test_a_port_of_two_links_is_two_and_a_link_to_itself_is_none(tmp_path):
    net = network(tmp_path, change(("edges", 4, "ep1", "component"), "port[3]"))
    assert net.num_channels == 2 * 28
    assert any("4 more links lead to ports that have one already" in each for each in net.notes)
    found = clos()
    loop = {"instance": "spine[0]", "component": "port[8]"}
    found["edges"].append(
        {"ep1": loop, "ep2": loop | {"component": "port[9]"}, "scheme": "one2one"}
    )
    net = network(tmp_path, json.dumps(found))
    assert net.num_channels == 2 * 28
    assert "1 link from a switch to itself" in net.notes[-1]
