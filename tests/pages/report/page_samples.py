"""A small experiment that is really run, and what a page is made of from it."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from netloom.experiments import load_results, run

TEXT = """\
title = "Torus or mesh?"
question = "What do the wraps buy at 16 nodes?"

[all]
on = ["torus:4x4", "mesh:4x4"]

[[simulate]]
load = [0.1, 0.3, 0.5, 0.75, 0.9]
cycles = 1500
repeat = 3
knee = 0

[[predict.latency]]

[analyze]
app = "binary-tree:15"
random_mappings = 3

[hotspot]
pes = 16
hot_spots = 4
rate = [0.1, 0.2]
steps = 300

[compile]
app = "ring:16"
on = "mesh:4x4"
"""


@cache
def _folder():
    return TemporaryDirectory(prefix="netloom-page-")


@cache
def store():
    """Return the file of the experiment, once it has been run; its store is beside it."""
    path = Path(_folder().name) / "small.toml"
    path.write_text(TEXT)
    run(path, workers=1)
    return path


@cache
def small_results():
    """Return what the experiment has found."""
    return load_results(store())
