"""Measure a network's effective bisection bandwidth, shifts and all-to-all."""

VERB = "analyze_permutations"
