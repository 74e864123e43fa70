"""One counter that all ask for: what combining switches gain, and the buffers that they need."""

import netloom as nl

counter = {"pes": 64, "hot_spots": 1, "assign": 1.0}
for combining in ("none", "waiting"):
    found = nl.simulate_hot_spots(**counter, rate=0.15, combining=combining)
    point = found.points[0]
    print(f"{combining:8} {point.steps.mean:.0f} steps, {found.unhindered_steps} idle")
    print(found.verdict.sentence)
print(nl.find_critical_queue(64, 4, rate=[0.1, 0.3]))
