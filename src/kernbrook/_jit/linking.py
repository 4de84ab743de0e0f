"""Calls through an address: what calls is compiled once, whatever is called.

A compiled function that is handed tuples of some types is compiled for each combination of types
that meet. A step is called by an address instead, with its tuple in memory, and whoever calls it
knows the types of neither: what is compiled grows with the sum of the choices.

A link is a row of ints: where the tuple is, then the addresses of its steps, one a column. Where
steps run as Python, a link is the tuple itself.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload, register_jitable

from kernbrook._jit.borrowing import uncounted

WORD = ir.IntType(types.intp.bitwidth)


@intrinsic
def size_of(typing_context: Any, value: Any) -> Any:
    """Bytes that a tuple takes in memory."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return WORD(context.get_abi_sizeof(arguments[0].type))

    return types.intp(value), generate


@intrinsic
def put(typing_context: Any, value: Any, address: Any) -> Any:
    """Put a tuple into memory, without the reference counts of its arrays."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        held = uncounted(context, builder, value, arguments[0])
        builder.store(held, builder.inttoptr(arguments[1], held.type.as_pointer()))

    return types.void(value, types.intp), generate


@register_jitable
def place(value, link):
    """Put a tuple into memory that is returned, and its address into its link.

    The memory and the arrays of the tuple must outlive all calls through the link.
    """
    memory = np.empty(size_of(value), np.uint8)
    link[0] = memory.ctypes.data
    put(value, link[0])
    return memory


_bodies: dict[Any, Callable[..., None]] = {}  # of steps


def kind_of(count: int) -> ir.FunctionType:
    """A function called by its address: of another one and some numbers; 0 unless it failed."""
    return ir.FunctionType(WORD, [WORD] * (1 + count))


def numbers_of(body: Callable[..., None]) -> int:
    """How many numbers a step takes."""
    return len(signature(body).parameters) - 1


@intrinsic
def address(typing_context: Any, step: Any, value: Any) -> Any:
    """The address of a step, compiled for tuples like this one."""
    body = _bodies[step.typing_key]
    count = numbers_of(body)
    inner = types.void(value, *[types.intp] * count)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        compiled = context.compile_subroutine(builder, body, inner)
        name = builder.module.get_unique_name(f"step.{body.__name__}")
        function = ir.Function(builder.module, kind_of(count), name)
        function.linkage = "internal"
        inside = ir.IRBuilder(function.append_basic_block())
        where, *numbers = function.args
        held = inside.load(inside.inttoptr(where, arguments[1].type.as_pointer()))
        status, _ = context.call_internal_no_propagate(
            inside, compiled.fndesc, inner, [held, *numbers]
        )
        inside.ret(inside.zext(status.is_error, WORD))
        return builder.ptrtoint(function, WORD)

    return types.intp(step, value), generate


@intrinsic
def call(typing_context: Any, step: Any, where: Any, numbers: Any) -> Any:
    """Call the step of an address with the tuple of another; other than 0 where it failed."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count = len(numbers)
        function = builder.inttoptr(arguments[0], kind_of(count).as_pointer())
        given = cgutils.unpack_tuple(builder, arguments[2], count)
        return builder.call(function, [arguments[1], *given])

    ints = types.BaseTuple.from_types([types.intp] * len(numbers))
    return types.intp(types.intp, types.intp, ints), generate


def step(column: int) -> Callable[[Callable[..., None]], Any]:
    """Make a function of a tuple and some ints one that is called through a link.

    column : of the links where its address stands
    """

    def decorate(body: Callable[..., None]) -> Any:
        def run(link: Any, *numbers: int) -> None:
            body(link, *numbers)

        @overload(run, strict=False)
        def _run(link: Any, *numbers: Any) -> Any:
            def through(link, *numbers):  # type: ignore[no-untyped-def]
                if call(link[column], link[0], numbers):
                    raise RuntimeError("a compiled verb raised an error: see it as Python")

            return through

        _bodies[run] = body
        run.__name__, run.__doc__ = body.__name__, body.__doc__
        return run

    return decorate
