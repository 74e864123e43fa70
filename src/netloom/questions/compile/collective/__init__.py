"""Make a schedule of a collective for this very network, with a proof of how good it is."""

VERB = "compile_collective"
