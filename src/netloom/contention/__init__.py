"""Static analysis of a routed process graph: loads, path contention, saturation, estimates."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
