"""Compare a square mesh with a hypercube of equal size and wire density."""

VERB = "predict_wiring"
