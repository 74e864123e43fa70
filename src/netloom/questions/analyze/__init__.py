"""Tell, without simulating, where a mapped program contends and what limits it."""

VERB = "analyze"
