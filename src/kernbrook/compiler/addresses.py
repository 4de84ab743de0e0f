"""Tuples that lie in memory: compiled code has their address, and takes out what it needs.

A tuple of sixty arrays is some five hundred numbers. Handed to a function by value it takes a
second to compile, wherever it is handed on; an address is one number. `At(kind)` is the type of the
address of a NamedTuple: its fields are read by name, as those of the tuple are, a field that is a
NamedTuple itself as an address again. What lies there is not changed while compiled code reads it,
and whoever made it keeps its arrays alive: references to them are not counted.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    lower_cast,
    lower_getattr_generic,
    models,
    register_model,
)

from kernbrook.compiler.borrowing import uncounted

POINTER = ir.IntType(8).as_pointer()


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
