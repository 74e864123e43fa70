"""BookSim 2's networks, routing functions and traffic patterns, wired and numbered as it does."""
