"""Find the largest queues that do worse than unbounded ones."""

VERB = "find_critical_queue"
