"""Calls through an address: what calls is compiled once, whatever is called.

A compiled function that is handed a rule, a tuple whose class says what a verb does, is compiled
anew for each class; one that is handed four, for each combination of classes that meet. A link to a
rule has one type instead: a row of ints with the address of the rule in memory, then one address
for each verb of its family. `through(verb, link, ...)` calls the verb. So what is compiled grows
with the sum of the choices. Where verbs run as Python, a link to a rule is the rule itself.
"""

from functools import cache
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.core import cgutils
from numba.core.compiler import Flags
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from kernbrook.numerics.borrowing import uncounted
from kernbrook.numerics.compiling import Option

# Arrays as verbs take them: C-contiguous, with so many axes.
Vector = Annotated[NDArray[np.float64], 1]
Matrix = Annotated[NDArray[np.float64], 2]
Cube = Annotated[NDArray[np.float64], 3]
Numbers = Annotated[NDArray[np.int64], 1]
Marks = Annotated[NDArray[np.bool_], 1]
MarkTable = Annotated[NDArray[np.bool_], 2]

T = TypeVar("T")
PINNED = "pinned"
Pinned = Annotated[T, PINNED]  # what compiled code puts into memory once for many calls, by `pin`

ROOM = 768  # words for what is put into memory
RAISED_AN_ERROR = "a compiled verb raised an error; where it runs as Python it says which"

LINK = 5  # ints of a link: a family has no more than four verbs
INT = ir.IntType(32)
WORD = ir.IntType(types.intp.bitwidth)
POINTER = ir.IntType(8).as_pointer()
STEP = ir.FunctionType(INT, [POINTER, POINTER, POINTER])  # of rule, message and answer; 0: done


def numba_type(hint: Any) -> types.Type:
    """The type that compiled code has for an annotation of a verb, or of a tuple's field."""
    plain = {int: types.int64, float: types.float64, bool: types.boolean, NoneType: types.none}
    if hint in plain:
        return plain[hint]
    if get_origin(hint) is Annotated:
        array, axes, *_ = get_args(hint)
        if axes == PINNED:
            return numba_type(array)
        while get_args(array):  # of NumPy 2.5 an alias with the scalar's type, before that an array
            array = get_args(array)[-1]
        return types.Array(from_dtype(np.dtype(array)), axes, "C")
    if get_origin(hint) is tuple:
        return types.BaseTuple.from_types([numba_type(part) for part in get_args(hint)])
    hints = get_type_hints(hint, include_extras=True)
    return types.BaseTuple.from_types([numba_type(hints[name]) for name in hint._fields], hint)


@cache
def types_of(verb: Any) -> tuple[list[types.Type], types.BaseTuple, types.Type]:
    """What a verb takes beside the rule, by its annotations; how it comes; what it returns."""
    hints = get_type_hints(verb.default, include_extras=True)
    gives = numba_type(hints.pop("return"))
    others = list(hints.values())[1:]
    takes = [numba_type(hint) for hint in others]
    comes = [
        types.voidptr if PINNED in get_args(hint) else kind
        for hint, kind in zip(others, takes, strict=True)
    ]
    return takes, types.BaseTuple.from_types(comes), gives


def new_link(maker: Any, rule: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The link to a rule, (LINK,) int, and what must outlive it beside arrays in the rule.

    maker : compiled function of a rule and a link, which fills in the addresses of verbs, and puts
        the rule at the address that stands first
    """
    link, memory = np.zeros(LINK, np.int64), np.empty(ROOM, np.int64)
    link[0] = memory.ctypes.data
    maker(rule, link)
    return link, memory


def family(*verbs: Any) -> None:
    """Verbs that one rule has: in a link, their addresses stand one after the other."""
    for column, verb in enumerate(verbs, 1):
        verb.column, verb.family = column, verbs


def through(verb: Any, link: Any, *others: Any) -> Any:
    """Call a verb of the rule behind a link."""
    return verb(link, *others)


@overload(through, strict=False, jit_options={"forceinline": True})
def _through(verb: Any, link: Any, *others: Any) -> Any:
    def calling(verb, link, *others):  # type: ignore[no-untyped-def]
        return call(verb, link, others)

    return calling


def pin(value: Any, room: Any) -> Any:
    """Put a tuple or an array into memory, (ROOM,) int, that the caller keeps; say where."""
    return value


@overload(pin, strict=False, jit_options={"forceinline": True})
def _pin(value: Any, room: Any) -> Any:
    return lambda value, room: put(value, room.ctypes.data)


@intrinsic
def put(typing_context: Any, value: Any, where: Any) -> Any:
    """Put a tuple or an array at an address, without reference counts of arrays; the address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _put(context, builder, value, *arguments)
        return builder.inttoptr(arguments[1], POINTER)

    return types.voidptr(value, types.intp), generate


def _put(context: Any, builder: Any, kind: Any, value: Any, where: Any) -> None:
    """`put`, of a value of some type, as code is generated."""
    held = uncounted(context, builder, kind, value)
    assert context.get_abi_sizeof(held.type) <= 8 * ROOM, f"no room for {kind}"
    store(builder, held, builder.inttoptr(where, held.type.as_pointer()))


@intrinsic
def fill_in(typing_context: Any, verb: Any, rule: Any, link: Any) -> Any:
    """Fill in the link to a rule: the addresses of a verb and of its family, and the rule itself.

    The rule goes to the address that stands first in the link.
    """
    family = verb.typing_key.family

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row = context.make_array(link)(context, builder, arguments[2]).data
        for one in family:
            if isinstance(one, Option) and _body(one, rule) is one.default:
                address = ir.Constant(WORD, 0)
            else:
                address = _address(context, builder, one, rule, arguments[1].type)
            builder.store(address, cgutils.gep(builder, row, one.column))
        _put(context, builder, rule, arguments[1], builder.load(row))

    return types.void(verb, rule, link), generate


def _body(verb: Any, rule: Any) -> Any:
    """What runs for a rule's type."""
    return verb.implementation(getattr(rule, "instance_class", None))


def _address(context: Any, builder: Any, verb: Any, rule: Any, form: Any) -> Any:
    """The address of a verb, compiled for a rule's class; form : the type of the rule in LLVM."""
    takes, comes, gives = types_of(verb)
    inner = gives(rule, *takes)
    body = _body(verb, rule)
    flags = Flags()
    flags.nrt = flags.forceinline = True
    compiled = context.compile_subroutine(builder, body, inner, flags=flags)
    name = builder.module.get_unique_name(f"step.{body.__name__}")
    function = ir.Function(builder.module, STEP, name)
    function.linkage = "internal"
    inside = ir.IRBuilder(function.append_basic_block())
    where, message, answer = function.args
    told = load(inside, message, context.get_value_type(comes))
    given = [uncounted(context, inside, rule, load(inside, where, form))]
    for i, (kind, came) in enumerate(zip(takes, comes, strict=True)):
        one = inside.extract_value(told, i)
        if came is types.voidptr:
            one = load(inside, one, context.get_value_type(kind))
        given.append(uncounted(context, inside, kind, one))
    status, result = context.call_internal_no_propagate(inside, compiled.fndesc, inner, given)
    if gives is not types.none:
        store(inside, result, inside.bitcast(answer, result.type.as_pointer()))
    inside.ret(inside.zext(status.is_error, INT))
    return builder.ptrtoint(function, WORD)


@intrinsic
def call(typing_context: Any, verb: Any, link: Any, others: Any) -> Any:
    """`through`, in compiled code."""
    own = verb.typing_key
    _, comes, gives = types_of(own)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row = context.make_array(link)(context, builder, arguments[1]).data
        where, function = (
            builder.load(cgutils.gep(builder, row, column)) for column in (0, own.column)
        )
        if isinstance(own, Option):
            with builder.if_then(builder.icmp_unsigned("!=", function, ir.Constant(WORD, 0))):
                step(context, builder, comes, gives, (where, function, arguments[2]))
            return context.get_dummy_value()
        return step(context, builder, comes, gives, (where, function, arguments[2]))

    return gives(verb, link, comes), generate


def step(context: Any, builder: Any, comes: Any, gives: Any, what: Any) -> Any:
    """A call of a verb: what is (the rule's address, the verb's, its arguments)."""
    where, function, others = what
    told = uncounted(context, builder, comes, others)
    message = cgutils.alloca_once(builder, told.type)
    store(builder, told, message)
    answer = cgutils.alloca_once(builder, context.get_value_type(gives))
    failed = builder.call(
        builder.inttoptr(function, STEP.as_pointer()),
        [
            builder.inttoptr(where, POINTER),
            builder.bitcast(message, POINTER),
            builder.bitcast(answer, POINTER),
        ],
    )
    with cgutils.if_unlikely(builder, cgutils.is_not_null(builder, failed)):
        context.call_conv.return_user_exc(builder, RuntimeError, (RAISED_AN_ERROR,))
    return context.get_dummy_value() if gives is types.none else load(builder, answer, None)


def store(builder: Any, value: Any, pointer: Any) -> None:
    """Store a value number by number: one after the other can be left out where nobody looks."""
    if isinstance(value.type, (ir.LiteralStructType, ir.ArrayType)):
        for i in range(len(value.type)):
            store(builder, builder.extract_value(value, i), cgutils.gep(builder, pointer, 0, i))
    else:
        builder.store(value, pointer)


def load(builder: Any, pointer: Any, kind: Any) -> Any:
    """Load a value, number by number, of a type; None: the pointer's own."""
    if kind is None:
        kind = pointer.type.pointee
    pointer = builder.bitcast(pointer, kind.as_pointer())
    if not isinstance(kind, (ir.LiteralStructType, ir.ArrayType)):
        return builder.load(pointer)
    value = ir.Constant(kind, ir.Undefined)
    for i in range(len(kind)):
        part = load(builder, cgutils.gep(builder, pointer, 0, i), None)
        value = builder.insert_value(value, part, i)
    return value
