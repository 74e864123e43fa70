"""Make a schedule of a collective for a network, and prove how close to optimal."""

VERB = "compile_collective"
