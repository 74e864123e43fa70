"""Find the load at which a network saturates."""

VERB = "find_saturation"
