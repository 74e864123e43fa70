"""Compare a mesh with a hypercube that is wired as densely."""

VERB = "predict_wiring"
