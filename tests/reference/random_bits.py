"""SplitMix64 in whole numbers: how routings and networks draw what a seed or a coin decides."""

ALL_BITS = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def drawn_bits(number):
    """Return 31 bits that look random: SplitMix64's finalizer before its last step."""
    return multiplied(number) >> 33


def scrambled(number):
    """Return SplitMix64's bijection of 64 bits, its finalizer."""
    number = multiplied(number)
    return number ^ number >> 31


def multiplied(number):
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        number &= ALL_BITS
        number = (number ^ number >> shift) * factor
    return number & ALL_BITS


def mixed(number):
    """Return the number that SplitMix64 says next from a state."""
    return scrambled(number + GOLDEN)
