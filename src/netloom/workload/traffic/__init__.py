"""Traffic: which node sends packets when, how long, and to whom."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
