"""What only readers of the five papers ask: their machines, models, tables and figures.

The package adds its questions, commands and process graphs to netloom by entry points (see
``pyproject.toml``). Nothing in netloom imports it.
"""
