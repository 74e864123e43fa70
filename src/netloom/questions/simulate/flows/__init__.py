"""Send all of a program's traffic at once, as flows that share channels fairly."""

VERB = "simulate_flows"
