"""What a mapping does to latency, and to processors that wait: from models, and a check of one."""

import netloom as nl

app = nl.read("examples/lammps-64.mtx")
for mapping in ("identity", "random"):
    found = nl.predict_latency("mesh:8x8", app=app, mapping=mapping, offered=0.25)
    print(f"{mapping:8} {found.latency:.1f} cycles, saturates at {found.saturation:.3f}")
check = nl.predict_latency("mesh:8x8", app=app, mapping="random", offered=0.25, simulate=True)
measured = check.points[0].simulated
print(f"simulated: {measured.latency:.1f} ± {measured.ci95:.1f} cycles")
print(nl.predict_locality(on="torus:8x8", app=app, contexts=4))
