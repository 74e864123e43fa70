"""Find where a mapped program contends and what limits it, without simulating."""

VERB = "analyze"
