"""Find, by rate, the largest queue and wait-buffer size that still matters."""

VERB = "find_critical_queue"
