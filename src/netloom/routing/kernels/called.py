"""Calls of functions of users, which kernels know by their address only.

So a kernel that is compiled and kept can call a function that did not exist then.

Twin: ``tests/reference/by_hop.py``.
"""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

NEXT_PORT = types.int64(
    types.int64, types.int64,
    types.CPointer(types.int16), types.int64, types.CPointer(types.int32), types.int64, types.int64,
)  # fmt: skip
"""What is called: router, goal, ports and how many, what is used and how many, coin."""


@intrinsic
def intrinsic_call(_, address, router, goal, ports, start, count, used, here, size, coin):  # noqa: ARG001
    """Call the function at ``address`` with parts of the arrays ``ports`` and ``used``."""
    whole = types.int64
    signature = whole(
        whole, whole, whole, ports, whole, whole, used, whole, whole, whole
    )  # fmt: skip

    def generate(context, builder, signature, arguments):
        address, router, goal, ports, start, count, used, here, size, coin = arguments
        pointers = []
        for array, first, place in ((ports, start, 3), (used, here, 6)):
            data = context.make_array(signature.args[place])(context, builder, array).data
            pointers.append(builder.gep(data, [first]))
        kinds = [context.get_value_type(each) for each in NEXT_PORT.args]
        function = ir.FunctionType(context.get_value_type(NEXT_PORT.return_type), kinds)
        target = builder.inttoptr(address, function.as_pointer())
        listed, flits = pointers
        return builder.call(target, [router, goal, listed, count, flits, size, coin])

    return signature, generate


called: Any = intrinsic_call
