"""What the network is: routers, hosts and directed channels.

The package can be called, ``netloom.topology("torus:4x4x4")``: in the users' own language the
word names the thing as well as the place where such things are kept.
"""

import sys
from types import ModuleType
from typing import Any

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


class _CallablePackage(ModuleType):
    def __call__(self, spec: Any) -> Any:
        from netloom.topology.parse import topology

        return topology(spec)


sys.modules[__name__].__class__ = _CallablePackage
