"""Mapping files and rank files."""
