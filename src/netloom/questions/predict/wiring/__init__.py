"""Compare a square mesh with a hypercube of as many nodes and the same density of wires."""

VERB = "predict_wiring"
