"""Find better routing tables for a fabric, for all programs or for yours."""

VERB = "route_fabric"
