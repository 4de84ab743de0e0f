"""Calls through an address: what calls is compiled once, whatever is called.

A compiled function that is handed tuples of some types is compiled for each combination of types
that meet. `step` makes a function of a tuple and five numbers into one that is called by its
address, with the tuple in memory: whoever calls it knows neither.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

NUMBERS = 5


@intrinsic
def size_of(typing_context: Any, value: Any) -> Any:
    """Bytes that a tuple takes in memory."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = context.get_abi_sizeof(arguments[0].type)
        return context.get_constant(types.intp, size)

    return types.intp(value), generate


@intrinsic
def put(typing_context: Any, value: Any, address: Any) -> Any:
    """Put a tuple into memory. References to its arrays are not counted: the caller keeps them."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        held, where = arguments
        builder.store(held, builder.inttoptr(where, held.type.as_pointer()))

    return types.void(value, types.intp), generate


def step(body: Callable[..., None]) -> Any:
    """A function for compiled code: of a tuple the address of `body` for tuples of its type.

    body : of the tuple and five ints; nothing that it is given may outlive the call
    """

    @intrinsic
    def address_of(typing_context: Any, value: Any) -> Any:
        inner = types.void(value, *[types.intp] * NUMBERS)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            compiled = context.compile_subroutine(builder, body, inner)
            word = context.get_value_type(types.intp)
            kind = ir.FunctionType(word, [word] * (1 + NUMBERS))
            name = builder.module.get_unique_name(f"step.{body.__name__}")
            function = ir.Function(builder.module, kind, name)
            function.linkage = "internal"
            inside = ir.IRBuilder(function.append_basic_block())
            where, *numbers = function.args
            held = inside.load(inside.inttoptr(where, arguments[0].type.as_pointer()))
            status, _ = context.call_internal_no_propagate(
                inside, compiled.fndesc, inner, [held, *numbers]
            )
            inside.ret(inside.zext(status.is_error, word))
            return builder.ptrtoint(function, word)

        return types.intp(value), generate

    return address_of


@intrinsic
def call(typing_context: Any, address: Any, where: Any, numbers: Any) -> Any:
    """Call a step, by its address and that of its tuple; other than 0 where it has failed."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = context.get_value_type(types.intp)
        kind = ir.FunctionType(word, [word] * (1 + NUMBERS))
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        given = cgutils.unpack_tuple(builder, arguments[2])
        return builder.call(function, [arguments[1], *given])

    return types.intp(types.intp, types.intp, types.UniTuple(types.intp, NUMBERS)), generate
