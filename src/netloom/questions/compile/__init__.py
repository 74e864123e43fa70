"""Compile a pattern that is known beforehand into phases, routes and a timetable."""

VERB = "compile_phases"
