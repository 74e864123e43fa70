"""Every way of writing a network makes it, and its name makes it again."""

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.topology import spec_table, topology
from netloom.topology.parse import SPECS, TOPOLOGIES, spec_by_name
from tests.networks import DIRECT, EVERY, HOSTED, OTHERS, SWITCHED

FORMS = [form for spec in SPECS.values() for form in spec.forms if not form.endswith("FILE")]
FILES = ("graph", "fabric")


@pytest.mark.parametrize("form", [*FORMS, "omega:16/2", "dragonfly:2x4x2/9", "xgft:4x4/1x2/1x1"])
def test_a_name_makes_the_network_again(form):
    net = topology(form)
    again = topology(net.name)
    assert again.name == net.name
    for one, other in (
        (net.source_end, again.source_end),
        (net.target_end, again.target_end),
        (net.port_host, again.port_host),
        (net.node_of_host, again.node_of_host),
    ):
        assert np.array_equal(one, other)
    assert net.labels == again.labels


def test_every_family_has_an_example_that_all_tests_of_families_draw():
    """A new family is met by properties, routings, pictures and attacks once it stands there."""
    examples = {**DIRECT, **SWITCHED, **OTHERS}
    assert set(examples) == set(SPECS)
    for family, spec in examples.items():
        assert spec.startswith(f"{family}:")
    for spec in EVERY:
        net = topology(spec)
        assert net.name.partition("/")[0] == spec.partition("/")[0]
        assert net.direct == (spec not in HOSTED)
        assert net.num_hosts <= 24
        assert net.num_routers <= 18


def test_every_name_is_in_the_message_and_in_the_table():
    with pytest.raises(InputError) as caught:
        topology("moebius:4")
    table = spec_table()
    for name, spec in SPECS.items():
        assert name in str(caught.value)
        assert all(form.startswith(f"{name}:") and f"`{form}`" in table for form in spec.forms)
        assert spec.says in table
    assert TOPOLOGIES.endswith(", ".join(SPECS))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("form", FORMS)
def test_sides_by_name_make_the_same_network(form):
    """For every family: names give the numbers in their order, and numbers the names."""
    named = spec_by_name(form)
    assert "=" in named
    net = topology(named)
    assert net.name == topology(form).name
    family, _, sides = named.partition(":")
    backwards = ",".join(reversed(sides.split(",")))
    assert topology(f"{family}:{backwards}").name == net.name


def test_every_family_names_its_sides():
    assert [name for name, spec in SPECS.items() if not spec.sides] == ["graph", "fabric"]


def junk():
    numbers = ("", "0", "-1", "x", "4x", "4x4x4x4x4", "99999999999999999999", "4/", "/4", "4//4",
               "4x4/0", "4.5", "k=", "k=-2", "1e9", "4 4", "٤x٤", "4x4/4/4/4/4")  # fmt: skip
    return [f"{name}:{text}" for name in SPECS if name not in FILES for text in numbers]


@pytest.mark.parametrize("spec", junk())
def test_junk_is_one_clear_line_or_a_network(spec):
    try:
        found = topology(spec)
    except InputError as error:
        found = str(error)
    if isinstance(found, str):
        assert "\n" not in found
        assert spec.split(":")[0] in found
    else:
        assert found.num_hosts >= 1


@pytest.mark.parametrize(
    "spec",
    ["mesh:8000x8000/4", "torus:4000x4000/1", "hypercube:27/2", "hypercube:99/2", "ring:99999999/9",
     "cube:9999wx9999/2", "twisted-torus:4000x8000/2", "omega:131072"],
)  # fmt: skip
def test_sizes_are_checked_before_memory_is_taken(spec):
    import tracemalloc

    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            topology(spec)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()
