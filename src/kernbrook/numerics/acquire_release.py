"""Numbers by which one thread tells another how far it is, in compiled code."""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def heard(typing_context: Any, array: Any, i: Any) -> Any:
    """array[i], an int; what the thread that told it had written before is seen from here on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        where = _address(context, builder, array, arguments)
        return builder.load_atomic(where, "acquire", 8)

    return types.int64(array, types.intp), generate


@intrinsic
def tell(typing_context: Any, array: Any, i: Any, value: Any) -> Any:
    """array[i] = value, an int, for a thread that hears it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        where = _address(context, builder, array, arguments)
        builder.store_atomic(arguments[2], where, "release", 8)

    return types.void(array, types.intp, types.int64), generate


def _address(context: Any, builder: Any, array: Any, arguments: Any) -> Any:
    data = context.make_array(array)(context, builder, arguments[0]).data
    return cgutils.gep(builder, data, arguments[1])
