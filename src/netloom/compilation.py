"""How kernels are compiled: the decorators of functions that share one hot loop.

Such functions take all arrays of a state as one tuple. Counting references to each of them at every
access costs twenty times what the work does, hence ``_nrt=False``: these functions allocate
nothing. ``inlined`` ones are compiled into their callers, for the same tuple would be copied at
every call.
"""

from typing import Any

from numba import njit

kernel: Any = njit(cache=True, nogil=True, _nrt=False)  # type: ignore[call-overload]
inlined: Any = njit(cache=True, nogil=True, _nrt=False, forceinline=True)  # type: ignore[call-overload]
