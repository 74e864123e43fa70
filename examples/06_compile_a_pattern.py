"""The halo exchange of a mesh in phases: routed, timed, verified, and run on real words."""

from pathlib import Path
from tempfile import TemporaryDirectory

import netloom as nl

if __name__ == "__main__":  # run_plan starts processes, which read this file again
    halo = nl.compile_phases(
        "examples/plate-64.mtx", "torus:8x8", channels=12, clocks_per_word=10, both_ways=False
    )
    print(halo)
    print(halo.phases().select("phase", "connections", "processor_clocks", "makespan"))
    with TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.json"
        halo.write(plan)
        print(nl.verify_plan(plan))
        print(nl.run_plan(plan))
    streams = nl.compile_phases("all-to-all:64", "torus:8x8", words=256, execute=True)
    print(streams.verdict.sentence)
