"""Arrays without their reference counts."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def uncounted(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """`borrowed`, of a value of some type, while code is generated."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = ir.Constant(array.meminfo.type, None)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        for i, part in enumerate(kind):
            old = builder.extract_value(value, i)
            value = builder.insert_value(value, uncounted(context, builder, part, old), i)
    return value


@intrinsic
def borrowed(typing_context: Any, value: Any) -> Any:
    """An array, or a tuple with arrays, as it is but that references to it are not counted.

    Counts are atomic operations: each array taken out of a tuple costs two, more than most steps
    take. Only for arguments of a function, which its caller keeps alive, and never to be returned.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return uncounted(context, builder, value, arguments[0])

    return value(value), generate
