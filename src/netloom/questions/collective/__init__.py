"""Time each algorithm of a collective on a network, by size, beside what none can beat."""

VERB = "compare_collectives"
