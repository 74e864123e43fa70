"""Models: latency by the queueing of channels, and what messages and phases take."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
