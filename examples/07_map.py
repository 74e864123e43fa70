"""Which mapping removes the contention? Before, after, and what no mapping can do better than."""

from pathlib import Path
from tempfile import TemporaryDirectory

import netloom as nl
from netloom.mapping import how_to_apply, write_rank_file

better = nl.find_mapping("examples/lammps-64.mtx", "mesh:8x8", rounds=4)
print(better)
print(better.table().select("mapping", "objective", "path_contention_max", "saturation_worst_node"))
with TemporaryDirectory() as folder:
    ranks = Path(folder) / "ranks.txt"
    write_rank_file(ranks, better.mapping)
    print(how_to_apply("openmpi-rankfile", ranks.name, num_tasks=64))
tree = nl.find_mapping("binary-tree:255", "mesh:16x16", layout="tiles")
print(tree.layout)
everyone = nl.find_mapping("all-to-all:16", "torus:4x4", rounds=1)
print(everyone.verdict.sentence)
