"""The command line: reads arguments, asks one verb, prints."""

from netloom.cli.app import main

__all__ = ["main"]
