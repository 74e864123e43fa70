"""Omega networks whose switches combine requests to one word, step by step."""

from netloom_papers.combining.network import (
    CombiningEngine,
    CombiningNetwork,
    CombiningRun,
    run_combining,
)

__all__ = ["CombiningEngine", "CombiningNetwork", "CombiningRun", "run_combining"]
