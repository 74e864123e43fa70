"""The one place where netloom's version is written."""

__version__ = "0.1.0.dev0"
