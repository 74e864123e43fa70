"""Compile a communication pattern, known in advance, into phases, routes and a timetable."""

VERB = "compile_phases"
