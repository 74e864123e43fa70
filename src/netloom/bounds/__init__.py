"""What nothing can beat: parts of a network, and what must leave them over what leads out."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
