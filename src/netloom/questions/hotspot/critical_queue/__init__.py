"""Find the largest queues that do worse than unbounded ones."""
