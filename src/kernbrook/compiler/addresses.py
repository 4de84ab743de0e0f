"""Tuples that lie in memory: compiled code has their address, and takes out what it needs.

A tuple of sixty arrays is some five hundred numbers. Handed to a function by value it takes a
second to compile, wherever it is handed on; an address is one number. `At(kind)` is the type of the
address of a NamedTuple: its fields are read by name, as those of the tuple are, a field that is a
NamedTuple itself as an address again. What lies there is not changed while compiled code reads it,
and whoever made it keeps its arrays alive: references to them are not counted.
"""

from collections.abc import Sequence
from struct import Struct, calcsize
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_cast,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)
from numba.np.numpy_support import as_dtype
from numpy.typing import NDArray

from kernbrook.compiler.borrowing import uncounted
from kernbrook.compiler.compiling import njit

POINTER = ir.IntType(8).as_pointer()
HEAD = object.__basicsize__  # bytes of an object of Python before what its type has


class At(types.Type):
    """The address of a NamedTuple of some type."""

    def __init__(self, kind: Any):
        self.kind = kind
        super().__init__(name=f"At({kind})")

    @property
    def key(self) -> Any:
        return self.kind

    @property
    def instance_class(self) -> Any:
        return self.kind.instance_class

    def can_convert_to(self, typing_context: Any, other: Any) -> Any:
        return Conversion.safe if other == self.kind else None


def is_named(kind: Any) -> bool:
    """Is a numba type that of a NamedTuple?"""
    return isinstance(kind, types.BaseNamedTuple)


@register_model(At)
class _Address(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, POINTER)


@infer_getattr
class _Fields(AttributeTemplate):
    key = At

    def generic_resolve(self, at: At, name: str) -> Any:
        if name not in at.kind.fields:
            return None
        kind = at.kind.types[at.kind.fields.index(name)]
        return At(kind) if is_named(kind) else kind


@lower_getattr_generic(At)
def _field(context: Any, builder: Any, at: At, address: Any, name: str) -> Any:
    i = at.kind.fields.index(name)
    kind, whole = at.kind.types[i], context.get_value_type(at.kind)
    place = cgutils.gep_inbounds(builder, builder.bitcast(address, whole.as_pointer()), 0, i)
    if is_named(kind):
        return builder.bitcast(place, POINTER)
    return uncounted(context, builder, kind, load(builder, place))


@lower_cast(At, types.BaseTuple)
def _whole(context: Any, builder: Any, at: At, kind: Any, address: Any) -> Any:
    """The tuple behind an address, where a verb takes it by value."""
    return value_at(context, builder, kind, address)


def value_at(context: Any, builder: Any, kind: Any, address: Any) -> Any:
    """The value of some type behind an address, without reference counts of arrays."""
    pointer = builder.bitcast(address, context.get_value_type(kind).as_pointer())
    return uncounted(context, builder, kind, load(builder, pointer))


def store(builder: Any, value: Any, pointer: Any) -> None:
    """Store a value number by number: one after the other can be left out where nobody looks."""
    if isinstance(value.type, (ir.LiteralStructType, ir.ArrayType)):
        for i in range(len(value.type)):
            store(builder, builder.extract_value(value, i), cgutils.gep(builder, pointer, 0, i))
    else:
        builder.store(value, pointer)


def load(builder: Any, pointer: Any, fixed: bool = True) -> Any:
    """Load a value number by number; fixed : is it not changed while it is read?"""
    kind = pointer.type.pointee
    if not isinstance(kind, (ir.LiteralStructType, ir.ArrayType)):
        number = builder.load(pointer)
        if fixed:
            number.set_metadata("invariant.load", builder.module.add_metadata([]))
        return number
    value = ir.Constant(kind, ir.Undefined)
    for i in range(len(kind)):
        part = load(builder, cgutils.gep(builder, pointer, 0, i), fixed)
        value = builder.insert_value(value, part, i)
    return value


@unbox(At)
def _no_address(at: At, nothing: Any, c: Any) -> Any:
    """Where Python calls what goes by the type alone."""
    return NativeValue(c.context.get_constant_null(at))


class Image:
    """How tuples of some type lie in memory.

    kind : the type that compiled code has for them
    words : that they take
    """

    def __init__(self, kind: Any):
        self._arrays: list[tuple[int, int, int]] = []  # place, axes, bytes of an item
        self._numbers = Struct(self._laid_out(kind, ""))
        self.words = -(-self._numbers.size // 8)
        self._forms = np.array(self._arrays, dtype=np.int64).reshape(-1, 3)

    def _laid_out(self, kind: Any, before: str) -> str:
        """In the language of `struct`, whose numbers are aligned as LLVM's are; an array, a row of
        words, is left out."""
        if isinstance(kind, types.BaseTuple):  # begins and ends where its widest number may lie
            edge = inside = f"0{_widest(kind)}"
            for part in kind:
                inside += self._laid_out(part, before + inside)
            return inside + edge
        if isinstance(kind, types.Array):
            place = calcsize(before + "0q") // 8
            self._arrays.append((place, kind.ndim, as_dtype(kind.dtype).itemsize))
            return f"0q{8 * (5 + 2 * kind.ndim)}x"
        return "0q8x" if kind is types.none else as_dtype(kind).char

    def write(self, numbers: Sequence[Any], arrays: Sequence[NDArray[Any]], memory: Any) -> None:
        """Write a tuple of these numbers and arrays, in the order that they have there, into
        (words,) int."""
        self._numbers.pack_into(memory, 0, *numbers)
        which = np.fromiter(map(id, arrays), np.int64, len(arrays))
        _write_arrays(which, self._forms, memory)


def _widest(kind: Any) -> str:
    """The letter that `struct` has for the widest number in a type."""
    if isinstance(kind, types.BaseTuple):
        return max(map(_widest, kind), key=calcsize, default="?")
    return "q" if kind is types.none or isinstance(kind, types.Array) else as_dtype(kind).char


def take_apart(
    rule: Any, kinds: list[type], numbers: list[Any], arrays: list[NDArray[Any]]
) -> None:
    """Collect what is in a tuple, all the way down: the classes of tuples, numbers, and arrays."""
    kinds.append(type(rule))
    for part in rule:
        if isinstance(part, np.ndarray):
            arrays.append(part)
        elif isinstance(part, tuple):
            take_apart(part, kinds, numbers, arrays)
        elif part is not None:
            numbers.append(part)


@intrinsic
def _word(typing_context: Any, address: Any) -> Any:
    """The word at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = context.get_value_type(types.intp)
        return builder.load(builder.inttoptr(arguments[0], value.as_pointer()))

    return types.intp(types.intp), generate


@njit(cache=True)
def _write_arrays(which, forms, memory):
    """Write arrays, where forms says, as compiled code has them; which : the objects' addresses.

    NumPy's object has, first of all: data, number of axes, shape and strides.
    """
    for i in range(len(which)):
        at, axes, size = forms[i, 0], forms[i, 1], forms[i, 2]
        start = which[i] + HEAD
        items, shape, strides = 1, _word(start + 16), _word(start + 24)
        for a in range(axes):
            n = _word(shape + 8 * a)
            items *= n
            memory[at + 5 + a] = n
            memory[at + 5 + axes + a] = _word(strides + 8 * a)
        memory[at + 2], memory[at + 3], memory[at + 4] = items, size, _word(start)
