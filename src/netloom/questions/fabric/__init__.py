"""Find the cable of a fabric that slows its jobs, the cause, and broken parts."""

VERB = "check_fabric"
