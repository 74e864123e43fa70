"""Explorers: pages that show a network, and answer questions about it with the mouse.

The package itself can be called: ``netloom.explore(answer, "page.html")``.
"""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["EXPLORED", "explore"]

EXPLORED = (
    "analyze", "check_fabric", "compare_collectives", "compile_phases", "find_mapping",
    "find_saturation", "predict_latency", "replay", "route_fabric", "simulate",
    "simulate_broadcast", "simulate_flows", "simulate_loop", "simulate_transactions",
)  # fmt: skip
"""The verbs whose answers say what each channel carries."""


def explore(results: Any, path: str | Path, *, on: str = "") -> Path:
    """Write a page to explore one network in. See ``file.explore``."""
    from netloom.explore.file import explore as write  # Jinja, when it is needed

    return write(results, path, on=on)


class _CallablePackage(ModuleType):
    __call__ = staticmethod(explore)


sys.modules[__name__].__class__ = _CallablePackage
