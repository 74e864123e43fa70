"""Which tests belong to a change."""

from pathlib import Path

from tests.check import defining, nearest_tests


def test_a_name_of_a_package_means_the_module_that_defines_it():
    face = Path("src/netloom/contention")
    module = Path("src/netloom/contention/saturation_limit.py")
    assert defining(face, "verdict") == module
    assert defining(Path("src/netloom/contention/saturation_limit"), "Level") == module
    assert defining(face, "nothing") is None


def test_the_nearest_tests_come_first():
    changed = Path("src/netloom/contention/busiest.py")
    own = Path("tests/contention/test_ties.py")
    other = Path("tests/base/test_units.py")
    found = nearest_tests([changed])
    assert found[0] == own
    assert other not in found
    assert nearest_tests([changed, other])[:2] == [other, own]
    assert nearest_tests([Path("README.md")]) == []
