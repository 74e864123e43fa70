"""Real subnets: how good their routing tables are, better ones, and the files that they go to."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
