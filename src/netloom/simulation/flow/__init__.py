"""Flows that share channels max-min fairly, event by event: bytes and seconds."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
