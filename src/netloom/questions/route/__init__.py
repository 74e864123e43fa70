"""Find better routing tables for a fabric, for all programs or for yours, and what they gain."""

VERB = "route_fabric"
