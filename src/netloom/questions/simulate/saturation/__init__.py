"""Find the offered load at which a network saturates, by bracketing."""

VERB = "find_saturation"
