"""Explorers: pages that show a network, and answer questions about it with the mouse.

The package itself can be called: ``netloom.explore(answer, "page.html")``.
"""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from netloom.explore.explored import EXPLORED

__all__ = ["EXPLORED", "explore"]


def explore(results: Any, path: str | Path, *, on: str = "") -> Path:
    """Write a page to explore one network in. See ``file.explore``."""
    from netloom.explore.file import explore as write  # Jinja, when it is needed

    return write(results, path, on=on)


class _CallablePackage(ModuleType):
    __call__ = staticmethod(explore)


sys.modules[__name__].__class__ = _CallablePackage
