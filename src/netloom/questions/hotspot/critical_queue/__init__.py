"""Find, for each rate, the largest size of queues and wait buffers that still matters."""

VERB = "find_critical_queue"
