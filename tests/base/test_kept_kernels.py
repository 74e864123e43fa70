"""Compiled kernels of checkouts: one folder for each content, wherever the checkout is."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import netloom
from netloom.base.kept_kernels import MOST_VERSIONS

SOURCE = Path(netloom.__file__).parent

ASKED = """
import numpy as np
from netloom.contention.kernels import channel_loads, permutations
kernel, none, zero = permutations.permutation_figures, np.zeros(0, int), np.zeros(1, int)
kernel(none, zero, none, none, zero, none + 1.0, 0, none, none)
print(kernel._cache.cache_path)
print(channel_loads.count_dimension._cache.cache_path)
print(sum(kernel.stats.cache_hits.values()))
"""


@pytest.fixture
def checkout(tmp_path):
    """Return a function that copies netloom's source to a folder of this name."""

    def copied(name):
        folder = tmp_path / name
        leave = shutil.ignore_patterns("__pycache__")
        shutil.copytree(SOURCE, folder / "src/netloom", ignore=leave)
        (folder / "pyproject.toml").touch()
        return folder

    return copied


def compiled_in(folder):
    """Compile a kernel: the folders of two modules, and how often it was there already."""
    env = os.environ | {"PYTHONPATH": str(folder / "src")}
    env |= {"XDG_CACHE_HOME": str(folder.parent / "cache")}
    env.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-c", ASKED]
    run = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    permutations, loads, hits = run.stdout.split()
    return Path(permutations), Path(loads), int(hits)


def test_another_checkout_compiles_only_what_differs(checkout):
    one, other = checkout("one"), checkout("elsewhere/other")
    permutations, loads, hits = compiled_in(one)
    assert hits == 0
    assert permutations.is_relative_to(one.parent / "cache")
    shutil.copytree(one.parent / "cache", other.parent / "cache")
    again, loads_again, hits = compiled_in(other)
    assert (again.name, loads_again.name, hits) == (permutations.name, loads.name, 1)

    called = other / "src/netloom/routing/kernels/dimension_order.py"
    called.write_text(called.read_text() + "# what channel_loads.py imports\n")
    again, loads_again, hits = compiled_in(other)
    assert (again.name, hits) == (permutations.name, 1)
    assert loads_again.name != loads.name

    for each in range(MOST_VERSIONS):
        (loads_again.parent / str(each)).mkdir()
    called.write_text(called.read_text() + "# once more\n")
    compiled_in(other)
    assert len(list(loads_again.parent.iterdir())) == MOST_VERSIONS


def test_installations_keep_kernels_where_numba_does(checkout):
    folder = checkout("installed")
    (folder / "pyproject.toml").unlink()
    permutations, _, hits = compiled_in(folder)
    assert (permutations.name, hits) == ("__pycache__", 0)


SIZE = """
from netloom.base.compilation import njit
@njit()
def size(state):
    return state.size
"""

STATE = "from typing import NamedTuple\nclass State(NamedTuple):\n    size: int\n"

COMPILED = """
import os
from netloom.base import compilation
compilation.in_checkout = lambda: False
from kernels import size
from {module} import State
print(size(State(3)))
print(sum(size.stats.cache_hits.values()))
"""


def test_kernels_of_a_module_that_was_renamed_are_compiled_again(tmp_path):
    """As after an upgrade in place: an index of kernels names the types that they were made for."""
    Path(tmp_path, "kernels.py").write_text(SIZE)
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(SOURCE.parent)])}
    env["NUMBA_CACHE_DIR"] = str(tmp_path / "kept")

    def hits(module):
        command = [sys.executable, "-c", COMPILED.format(module=module)]
        run = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        found, hits = run.stdout.split()
        assert found == "3"
        return int(hits)

    before, after = tmp_path / "before.py", tmp_path / "after.py"
    before.write_text(STATE)
    assert [hits("before"), hits("before")] == [0, 1]
    before.rename(after)
    shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
    assert [hits("after"), hits("after")] == [0, 1]
