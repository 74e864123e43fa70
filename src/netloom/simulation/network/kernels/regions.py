"""What processors that run regions of one network tell each other, once a cycle.

Each region writes only its own numbers of ``State.signs``, and reads those of the others once all
have reached the cycle. No region is more than a cycle ahead, so whatever is sent is there when it
is due.

Twin: ``tests/reference/network.py``.
"""

from typing import Any

from numba import types
from numba.extending import intrinsic

from netloom.base.compilation import inlined
from netloom.simulation.kernels.records import record, unsigned
from netloom.simulation.network.layout import SIGN

PATIENT = 2_000
"""Looks at another's sign before others are let run: about ten microseconds."""

let_others_run: Any = types.ExternalFunction("sched_yield", types.int32())


@intrinsic
def intrinsic_load(_, numbers, place):  # noqa: ARG001
    """Read a number that another thread writes, and see all that it wrote before."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load_atomic(builder.gep(data, [arguments[1]]), "acquire", 8)

    return types.int64(numbers, types.uint64), generate


@intrinsic
def intrinsic_store(_, numbers, place, number):  # noqa: ARG001
    """Write a number that others read, and with it let them see all that was written before."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        builder.store_atomic(arguments[2], builder.gep(data, [arguments[1]]), "release", 8)
        return context.get_dummy_value()

    return types.none(numbers, types.uint64, types.int64), generate


load: Any = intrinsic_load
store: Any = intrinsic_store


@inlined
def meet(setup, state, cycle):
    """Wait until all regions have come to a cycle.

    Return the last one in which a flit moved anywhere, and the free records of packets of all.
    What is told of two cycles lies apart: it may still be read when the next is written.
    """
    clock, told = record(state.clock, 0), 1 + 2 * (cycle & 1)
    own = setup.region * SIGN
    state.signs[unsigned(own + told)] = clock.last_move
    state.signs[unsigned(own + told + 1)] = clock.free_packets
    store(state.signs, unsigned(own), cycle)
    last, free = clock.last_move, 0
    for region in range(setup.regions):
        first = region * SIGN
        looks = 0
        while load(state.signs, unsigned(first)) < cycle:
            looks += 1
            if looks > PATIENT:
                let_others_run()
        last = max(last, state.signs[unsigned(first + told)])
        free += state.signs[unsigned(first + told + 1)]
    return last, free
