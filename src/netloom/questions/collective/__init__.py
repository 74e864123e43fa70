"""Time each algorithm of a collective on a network, by size, with a lower bound."""

VERB = "compare_collectives"
