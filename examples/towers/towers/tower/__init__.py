"""Build a tower of blocks."""

VERB = "build_tower"
