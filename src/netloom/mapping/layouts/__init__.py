"""Layouts: mappings that are built for one kind of program on one kind of network."""
