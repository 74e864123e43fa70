"""Find which cable of a fabric slows its jobs, and why, and what is broken."""

VERB = "check_fabric"
