"""Small experiments for the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.experiments.file import read_experiment

if TYPE_CHECKING:
    from pathlib import Path

    from netloom.experiments.file import Experiment

SWEEP = """
title = "small"
question = "Which carries more?"

[all]
on = ["torus:4x4", "mesh:4x4"]

[simulate]
load = "0.3:0.9:0.3"
cycles = 300
repeat = 2
knee = 1

[predict.latency]

[analyze]
app = "ring.mtx"
"""

RING = "%%MatrixMarket matrix coordinate real general\n4 4 4\n1 2 8\n2 3 8\n3 4 8\n4 1 8\n"


def write(folder: Path, text: str = SWEEP, name: str = "small.toml") -> Path:
    """Write an experiment file and the program that it names."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ring.mtx").write_text(RING)
    path = folder / name
    path.write_text(text)
    return path


def experiment(folder: Path, text: str = SWEEP) -> Experiment:
    """Return an experiment that was written to a folder."""
    return read_experiment(write(folder, text))
