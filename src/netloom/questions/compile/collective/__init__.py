"""Make a schedule of a collective for a network, and prove how near the optimum it is."""

VERB = "compile_collective"
