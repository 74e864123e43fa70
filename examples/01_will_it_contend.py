"""Will a recorded MPI program contend? The verdict, on three networks of 64 nodes."""

import netloom as nl

app = nl.read("examples/lammps-64.mtx", messages="examples/lammps-64.messages.mtx")
for network in ("mesh:8x8", "torus:8x8", "torus:4x4x4"):
    found = nl.analyze(app, network, offered=0.3)
    print(f"{network:12} {found.verdict.sentence}")
