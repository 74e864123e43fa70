"""Mapping files, rank files and route files."""
