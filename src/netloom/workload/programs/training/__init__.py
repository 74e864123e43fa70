"""Programs of training: Chakra and profiler records, parallel language models, as ranks do them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
