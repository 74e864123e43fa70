"""The numbers of ``counter_random``, looked up one at a time within a kernel.

Twin: ``tests/reference/packets.py``.
"""

import numpy as np

from netloom.base.compilation import inlined

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@inlined
def scrambled(bits):
    """SplitMix64's bijection of 64 bits, each of which depends on all."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@inlined
def chain_key(stream_key, chain):
    """Return the key of a chain of a stream, whose own key ``counter_random.stream_keys`` gives."""
    return scrambled(stream_key + np.uint64(chain) * GOLDEN)


@inlined
def bits_at(key, index):
    """Return the 64 bits at a place of a chain."""
    return scrambled(key + (np.uint64(index) + np.uint64(1)) * GOLDEN)


@inlined
def uniform_at(key, index):
    """Return the number in [0, 1) at a place of a chain."""
    return np.float64(bits_at(key, index) >> np.uint64(11)) * 2.0**-53
