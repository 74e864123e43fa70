"""Check a fabric: which cable slows its jobs, credit loops, what is missing."""

VERB = "check_fabric"
