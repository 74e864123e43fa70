"""Timetables: when each connection of a phase moves its words."""
