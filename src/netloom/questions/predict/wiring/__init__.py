"""Compare a mesh with a hypercube that is wired as densely."""
