"""Calls through an address: what calls is compiled once, whatever is called.

A compiled function that is handed a rule, a tuple whose class says what a verb does, is compiled
anew for each class; one that is handed four, for each combination of classes that meet. A link to a
rule has one type instead: a row of ints with the address of the rule in memory, then one address
for each verb of its family. `through(verb, link, ...)` calls the verb. So what is compiled grows
with the sum of the choices.
"""

from collections.abc import Callable, Sequence
from functools import cache
from types import NoneType
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from llvmlite import ir
from numba import from_dtype, typeof, types
from numba.core import cgutils
from numba.core.dispatcher import _dispatcher
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin
from numpy.typing import NDArray

from kernbrook.compiler.addresses import (
    POINTER,
    At,
    Image,
    is_named,
    load,
    store,
    take_apart,
    value_at,
)
from kernbrook.compiler.borrowing import uncounted
from kernbrook.compiler.compiling import Option, from_outside, njit, stamp
from kernbrook.errors import InputError, KernbrookError

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
MOST_LINKS = 256  # that are kept for whoever asks again

compute_fingerprint = _dispatcher.compute_fingerprint  # of a value, by its type
LINK = 5  # ints of a link: a family has no more than four verbs
INT = ir.IntType(32)
WORD = ir.IntType(types.intp.bitwidth)
STEP = ir.FunctionType(INT, [POINTER, POINTER, POINTER])  # of rule, message and answer; 0: done
# Before a rule in memory stands a word: 0, or the column of a verb that has raised an error.


def numba_type(hint: Any) -> types.Type:
    """The type that compiled code has for an annotation of a verb, or of a tuple's field."""
    plain = {
        int: types.int64, np.uintp: types.uintp, float: types.float64, bool: types.boolean,
        NoneType: types.none,
    }  # fmt: skip
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
    """By a verb's annotations: the types of its arguments after the rule, as the verb knows them
    and as a call hands them over; and the type that the verb returns."""
    hints = get_type_hints(verb.default, include_extras=True)
    gives = numba_type(hints.pop("return"))
    takes, comes = [], []
    for hint in list(hints.values())[1:]:
        kind, pinned = numba_type(hint), PINNED in get_args(hint)
        takes.append(addressed(kind) if pinned else kind)
        comes.append(types.voidptr if pinned else kind)
    return takes, types.BaseTuple.from_types(comes), gives


def addressed(kind: types.Type) -> types.Type:
    """The type by which compiled code knows a value in memory: an address, or itself."""
    return At(kind) if is_named(kind) else kind


class Form(NamedTuple):
    """The form of rules of a type: where their verbs' code is, and how they lie in memory.

    link : (LINK,) int, a link but for what stands first
    code : kept alive
    """

    link: NDArray[np.int64]
    image: Image
    code: Any


_forms: dict[Any, Form] = {}


@cache
def _filling(verb: Any, kept: bool) -> Any:
    """The function that fills in the addresses of a verb's family, by the type at the address."""

    @njit(cache=kept)
    def addresses(rule, link):
        fill_in(verb, rule, link)

    return addresses


def _formed(verb: Any, kind: Any) -> Form:
    theirs = from_outside(kind)  # these go by verbs as they are now
    maker = _filling.__wrapped__(verb, False) if theirs else _filling(verb, True)
    link = np.zeros(LINK, np.int64)
    maker.compile((At(kind), types.intp))(None, link.ctypes.data)
    return Form(link, Image(kind), (maker, kind))


def _take_apart(verb: Any, rule: Any) -> tuple[Form, Any, Any]:
    """The form of a rule for a verb's family; the numbers and the arrays in the rule."""
    kinds: list[Any] = []
    numbers: list[Any] = []
    arrays: list[Any] = []
    take_apart(rule, kinds, numbers, arrays)
    key = verb, stamp(), compute_fingerprint(rule), tuple(kinds)
    form = _forms.get(key)
    if form is None:
        form = _forms[key] = _formed(verb, typeof(rule))
    return form, numbers, arrays


def new_links(verb: Any, rules: Sequence[Any]) -> NDArray[np.int64]:
    """(r, LINK) int, links to rules, each of which is to outlive what uses them.

    The rules lie in the memory of the array, which whoever uses a link has to keep.

    verb : of the family that is called
    """
    n, apart = len(rules), [_take_apart(verb, rule) for rule in rules]
    ends = n * LINK + np.cumsum([0, *(1 + form.image.words for form, _, _ in apart)])
    memory = np.zeros(ends[-1], np.int64)
    table, first = memory[: n * LINK].reshape(n, LINK), memory.ctypes.data
    for link, at, (form, numbers, arrays) in zip(table, ends.tolist(), apart, strict=False):
        link[:] = form.link
        link[0] = first + (at + 1) * memory.itemsize
        form.image.write(numbers, arrays, memory[at + 1 :])
    return table


def new_link(verb: Any, rule: Any) -> NDArray[np.int64]:
    """(LINK,) int, the same of one rule."""
    return new_links(verb, (rule,))[0]


_links: dict[Any, Any] = {}  # of this process: links, the rules, and their verb


def links_to(verb: Any, rules: Sequence[Any]) -> NDArray[np.int64]:
    """The links of `new_links`, made once for rules of the same numbers."""
    key = verb, tuple(map(kind_of, rules)), tuple(rules), stamp()
    found = _links.pop(key, None)
    if found is None:
        while len(_links) >= MOST_LINKS:  # the one that nobody has asked for the longest time goes
            _links.pop(next(iter(_links)), None)
        found = new_links(verb, rules), tuple(rules), verb
    _links[key] = found
    links: NDArray[np.int64] = found[0]
    return links


def words_of(rule: Any) -> int:
    """How many words a rule of numbers takes at most."""
    return sum(words_of(part) if isinstance(part, tuple) else 1 for part in rule)


def kind_of(rule: Any) -> Any:
    """A key of rules that are compiled apart: their types, all the way down."""
    return type(rule), *(kind_of(part) for part in rule if isinstance(part, tuple))


def naming(call: Callable[..., Any]) -> Callable[..., Any]:
    """The function, but the error of a compiled verb names the verb."""

    def run(*arguments: Any) -> Any:
        try:
            return call(*arguments)
        except Exception as error:
            named = _find_raiser(error)
            if named is error or isinstance(error, KernbrookError):  # a guard's, which says who
                raise
            raise named from error

    return run


def _find_raiser(error: Exception) -> Exception:
    """An error that names the verb which has raised this one; this one if it is not known."""
    for table, rules, first in list(_links.values()):
        for link, rule in zip(table, rules, strict=True):
            memory = table.base[(link[0] - table.base.ctypes.data) // table.itemsize - 1 :]
            if memory[0]:
                verb, memory[0] = first.family[memory[0] - 1], 0
                who = verb.of_whom(type(rule))
                return RuntimeError(f"{who} raised {type(error).__name__}: {error}")
    for who, mark in _marks.items():
        if mark[0]:
            mark[0] = 0
            return RuntimeError(f"{who} raised {type(error).__name__}: {error}")
    return error


_marks: dict[str, NDArray[np.int64]] = {}  # of verbs that no link calls: 1 while they run


def mark_of(who: str) -> int:
    """The address of a verb's mark, by which `naming` knows of an error in it."""
    place: int = _marks.setdefault(who, np.zeros(1, np.int64)).ctypes.data
    return place


@intrinsic
def write_word(typing_context: Any, place: Any, mark: Any) -> Any:
    """Write a number at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], builder.inttoptr(arguments[0], WORD.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.intp, types.intp), generate


def family(*verbs: Any) -> None:
    """Verbs that one rule has: in a link, their addresses stand one after the other."""
    if len(verbs) >= LINK:
        raise InputError(f"family: a link has room for {LINK - 1} verbs, got {len(verbs)}")
    for column, verb in enumerate(verbs, 1):
        verb.column, verb.family = column, verbs


def through(verb: Any, link: Any, *others: Any) -> Any:
    """Call a verb of the rule behind a link."""
    return verb(link, *others)


@infer_global(through)
class _Through(AbstractTemplate):
    def generic(self, arguments: Any, names: Any) -> Any:
        verb, link, *_ = arguments
        _, comes, gives = types_of(verb.typing_key)
        return gives(verb, link, *comes)


@lower_builtin(through, types.VarArg(types.Any))
def _call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    verb = signature.args[0].typing_key
    _, comes, gives = types_of(verb)
    row = context.make_array(signature.args[1])(context, builder, arguments[1]).data
    where, function = (
        builder.load(cgutils.gep(builder, row, column)) for column in (0, verb.column)
    )
    message = context.make_tuple(builder, comes, arguments[2:])
    if isinstance(verb, Option):
        with builder.if_then(builder.icmp_unsigned("!=", function, ir.Constant(WORD, 0))):
            call_step(context, builder, comes, gives, (where, function, message))
        return context.get_dummy_value()
    return call_step(context, builder, comes, gives, (where, function, message))


def pin(value: Any, room: Any) -> Any:
    """Put a tuple or an array into memory, (ROOM,) int, that the caller keeps; say where.

    What lies in memory already stays where it is.
    """
    return value


@infer_global(pin)
class _Pin(AbstractTemplate):
    def generic(self, arguments: Any, names: Any) -> Any:
        return types.voidptr(*arguments)


@lower_builtin(pin, types.Any, types.Array)
def _pin(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    if isinstance(signature.args[0], At):
        return arguments[0]
    room = context.make_array(signature.args[1])(context, builder, arguments[1]).data
    _put(context, builder, signature.args[0], arguments[0], room)
    return builder.bitcast(room, POINTER)


def _put(context: Any, builder: Any, kind: Any, value: Any, where: Any) -> None:
    """Store a value of some type at an address, without reference counts of arrays."""
    held = uncounted(context, builder, kind, value)
    if context.get_abi_sizeof(held.type) > 8 * ROOM:
        raise InputError(f"no room for {str(kind)[:200]}: more than {ROOM} words")
    store(builder, held, builder.bitcast(where, held.type.as_pointer()))


@intrinsic
def fill_in(typing_context: Any, verb: Any, rule: Any, link: Any) -> Any:
    """Fill in the addresses of a verb's family; link : where the link stands.

    rule : of the type that the verbs are for; no more is asked of it
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row = builder.inttoptr(arguments[2], WORD.as_pointer())
        for step in verb.typing_key.family:
            body = step.implementation(rule.instance_class)
            if isinstance(step, Option) and body is step.default:
                address = ir.Constant(WORD, 0)
            else:
                address = _address(context, builder, step, rule)
            builder.store(address, cgutils.gep(builder, row, step.column))

    return types.void(verb, rule, link), generate


def _address(context: Any, builder: Any, verb: Any, rule: Any) -> Any:
    """The address of a verb, compiled for a rule's class."""
    takes, comes, gives = types_of(verb)
    kinds = rule, *takes
    compiled = verb.compiled(rule).inner(kinds, gives)
    context.active_code_library.add_linking_library(compiled.code)
    name = builder.module.get_unique_name(f"step.{compiled.fndesc.qualname}")
    function = ir.Function(builder.module, STEP, name)
    function.linkage = "internal"
    inside = ir.IRBuilder(function.append_basic_block())
    where, message, answer = function.args
    values = value_at(context, inside, comes, message)
    given = [where, *(inside.extract_value(values, i) for i in range(len(takes)))]
    for i, (kind, came) in enumerate(zip(kinds, (types.voidptr, *comes), strict=True)):
        if came is types.voidptr and not isinstance(kind, At):
            given[i] = value_at(context, inside, kind, given[i])
    status, result = context.call_internal_no_propagate(
        inside, compiled.fndesc, gives(*kinds), given
    )
    into = inside.bitcast(answer, _answer_type(context, gives).as_pointer())
    if gives is not types.none:
        store(inside, result, cgutils.gep(inside, into, 0, 0))
    with cgutils.if_unlikely(inside, status.is_error):
        failed = cgutils.gep(inside, inside.bitcast(where, WORD.as_pointer()), -1)
        inside.store(ir.Constant(WORD, verb.column), failed)
        inside.store(inside.bitcast(status.excinfoptr, POINTER), cgutils.gep(inside, into, 0, 1))
    inside.ret(inside.select(status.is_error, status.code, ir.Constant(INT, 0)))
    return builder.ptrtoint(function, WORD)


def _answer_type(context: Any, gives: Any) -> Any:
    """The type of a verb's answer: what it returns, and numba's information on an error."""
    return ir.LiteralStructType([context.get_value_type(gives), POINTER])


def _raise(convention: Any, builder: Any, code: Any, information: Any) -> None:
    """Raise an error as a call of a compiled function does: `except` looks at it later."""
    place = convention._get_excinfo_argument(builder.function)
    builder.store(builder.bitcast(information, place.type.pointee), place)
    within = convention.check_try_status(builder).in_try
    with builder.if_then(builder.not_(within)):
        convention._return_errcode_raw(builder, code)


def call_step(context: Any, builder: Any, comes: Any, gives: Any, call: Any) -> Any:
    """A call of a verb: what is (the rule's address, the verb's, its arguments)."""
    where, function, others = call
    values = uncounted(context, builder, comes, others)
    message = cgutils.alloca_once(builder, values.type)
    store(builder, values, message)
    answer = cgutils.alloca_once(builder, _answer_type(context, gives))
    failed = builder.call(
        builder.inttoptr(function, STEP.as_pointer()),
        [
            builder.inttoptr(where, POINTER),
            builder.bitcast(message, POINTER),
            builder.bitcast(answer, POINTER),
        ],
    )
    with cgutils.if_unlikely(builder, cgutils.is_not_null(builder, failed)):
        information = builder.load(cgutils.gep(builder, answer, 0, 1))
        _raise(context.call_conv, builder, failed, information)
    if gives is types.none:
        return context.get_dummy_value()
    return load(builder, cgutils.gep(builder, answer, 0, 0), fixed=False)
