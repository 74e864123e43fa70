"""Find the mapping under which a program contends least, and say what it buys."""

VERB = "find_mapping"
