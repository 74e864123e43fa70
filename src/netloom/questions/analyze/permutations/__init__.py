"""Find how a network bears permutations: effective bisection bandwidth, shifts, all-to-all."""

VERB = "analyze_permutations"
