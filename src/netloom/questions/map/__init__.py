"""Find the mapping under which a program contends least, and report what it gains."""

VERB = "find_mapping"
