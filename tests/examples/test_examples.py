"""Every script in examples/ runs from a checkout and says what its first line promises."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted(Path("examples").glob("*.py"))
SAYS = {
    "01_will_it_contend.py": ["Delays 24 of 64 nodes", "No contention expected"],
    "02_where_is_it_hot.py": ["(4,4) -> (4,3): 22 paths, 23,072,276 bytes"],
    "03_my_own_routes.py": [
        "dimension-order:0,1: Contends above 50",
        "routed apart: Contention-free",
    ],
    "05_without_simulating.py": [
        "identity 24.3 cycles, saturates at 0.587",
        "simulated: 40.",
        "Rank order already has 8.3 of the 12\u00a0% that placement can give",
    ],
    "06_compile_a_pattern.py": [
        "64 tasks, 322 connections, 2,850 words",
        "✓ Verified: 322 connections in 2 phases break no rule.",
        "✓ All 2,850 words of 322 connections arrived, in order and in their phases.",
        "Use phases: ",
    ],
    "07_map.py": [
        "Found: the busiest channel carries 54",
        "mpirun -np 64 --hostfile HOSTS --rankfile ranks.txt ./program",
        "'promised_channel_load': 2, 'measured_channel_load': 2",
        "Keep rank order: no better mapping found in 1 round",
    ],
    "04_shared_counter.py": ["waiting  14 steps, 14 idle", "Cannot keep up", "Keeps up"],
}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_example(script):
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for words in SAYS[script.name]:
        assert words in done.stdout
