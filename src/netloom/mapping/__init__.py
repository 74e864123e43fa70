"""Where each task runs: placements, layouts, search, and the rank files that launchers read."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
