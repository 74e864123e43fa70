"""Which channels a packet may take: dimension order, shortest paths, tables, routes of your own.

Broken channels are gone round. On virtual channels also adaptive and oblivious routing. What can
deadlock is refused.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
