"""Names of array types.

Integers are int32 where there are many, such as ends of channels and paths, and int64 elsewhere.
A docstring says which, and the shape. Other types are spelled out.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.signedinteger[Any]]
"""Integers with a sign, of 32 or 64 bits."""

Floats: TypeAlias = NDArray[np.float64]
"""Numbers of double precision."""

Bools: TypeAlias = NDArray[np.bool_]
"""Truth values."""

Records: TypeAlias = NDArray[Any]
"""Records of several fields, or numbers whose type the caller knows."""
