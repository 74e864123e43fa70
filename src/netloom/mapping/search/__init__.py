"""The search for a mapping: objectives, their bounds, starts, and rounds of annealing."""
