"""Shorter ways through numba for code of this package, by which a fifth of a first use goes.

The same is computed, to the bit. For one element of an array numba writes some fifty instructions,
most of which LLVM takes out again: here ten. It counts references to arrays in functions that only
borrow them, and looks for the type of each call anew, among all that the function could mean.
"""

import operator
from typing import Any

from numba.core import cgutils, ir, types
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import AnnotateTypes
from numba.core.types.functions import BaseFunction
from numba.extending import lower_builtin
from numba.np import arrayobj

from kernbrook.compiler.borrowing import borrowed


class Under:
    """Whether code of this package is compiled at this moment, under numba's lock."""

    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


of_ours = Under()

# -- types of calls --------------------------------------------------------------------------------

_known: dict[int, Any] = {}  # of a function's id: the function, and what calls of it are
_find = BaseFunction.get_call_type


def _call_type(function: Any, context: Any, args: Any, named: Any) -> Any:
    if not of_ours.depth or hasattr(function.typing_key, "implementations"):  # these may change
        return _find(function, context, args, named)
    _, calls = _known.setdefault(id(function), (function, {}))
    key = ConfigStack.top_or_none(), args, tuple(named.items())
    if key not in calls:
        found = _find(function, context, args, named)
        calls[key] = found, function.get_impl_key(found)
    found, function._impl_keys[found.args] = calls[key]
    return found


BaseFunction.get_call_type = _call_type

# -- elements of arrays ----------------------------------------------------------------------------


def _element(context: Any, builder: Any, kind: Any, array: Any, index: Any, value: Any) -> Any:
    """The address of one element; None where an index means something else, or is checked."""
    kinds, values = (index,), (value,)
    if isinstance(index, types.BaseTuple):
        kinds, values = tuple(index), range(len(index))
    whole = len(kinds) == kind.ndim and all(
        isinstance(kind, types.Integer) and kind.bitwidth <= types.intp.bitwidth for kind in kinds
    )
    if not (whole and of_ours.depth) or context.enable_boundscheck or kind.layout == "F":
        return None
    word, places = context.get_value_type(types.intp), []
    lengths = [builder.extract_value(array, [5, axis]) for axis in range(kind.ndim)]
    for one, place, length in zip(kinds, values, lengths, strict=True):
        if isinstance(place, int):
            place = builder.extract_value(value, place)
        place = (builder.sext if one.signed else builder.zext)(place, word)
        if one.signed:
            below = builder.icmp_signed("<", place, word(0))
            place = builder.select(below, builder.add(length, place), place)
        places.append(place)
    data, at = builder.extract_value(array, 4), places[0]
    if kind.layout == "C":
        for place, length in zip(places[1:], lengths[1:], strict=True):
            at = builder.add(builder.mul(at, length), place)
        return builder.gep(data, [at])
    steps = [builder.extract_value(array, [6, axis]) for axis in range(kind.ndim)]
    at, *others = (builder.mul(step, place) for step, place in zip(steps, places, strict=True))
    for other in others:
        at = builder.add(at, other)
    return cgutils.pointer_add(builder, data, at)


def _reading(usual: Any) -> Any:
    def read(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (kind, index), (array, value) = signature.args, arguments
        place = _element(context, builder, kind, array, index, value)
        if place is None:
            return usual(context, builder, signature, arguments)
        return arrayobj.load_item(context, builder, kind, place)

    return read


def _write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    (kind, index, given), (array, value, item) = signature.args, arguments
    place = _element(context, builder, kind, array, index, value)
    if place is None:
        return arrayobj.setitem_array(context, builder, signature, arguments)
    item = context.cast(builder, item, given, kind.dtype)
    arrayobj.store_item(context, builder, kind, item, place)
    return context.get_dummy_value()


lower_builtin(operator.getitem, types.Array, types.Integer)(_reading(arrayobj.getitem_arraynd_intp))
lower_builtin(operator.getitem, types.Array, types.BaseTuple)(
    _reading(arrayobj.getitem_array_tuple)
)
lower_builtin(operator.setitem, types.Array, types.Any, types.Any)(_write)

# -- references ------------------------------------------------------------------------------------

LENT = "getattr", "getitem", "static_getitem", "build_tuple", "exhaust_iter", "cast"
PLAIN = ir.Assign, ir.Del, ir.Jump, ir.Branch, ir.Return, ir.SetItem, ir.StaticSetItem
INDEX = types.Integer, types.SliceType
VIEWS = borrowed, "array.reshape"  # calls that make no array


@register_pass(mutates_CFG=False, analysis_only=True)
class Borrowing(AnalysisPass):
    """Counts no references in a function that makes no array, and returns none."""

    _name = "kernbrook_borrowing"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        models = state.targetctx.data_model_manager

        def counted(kind: Any) -> bool:
            return bool(models[kind].contains_nrt_meminfo())

        def lent(statement: Any) -> bool:
            if not isinstance(statement, (*PLAIN, ir.StaticRaise)):
                return False
            if isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
                return not counted(kinds[statement.value.name])  # what overlaps would be copied
            if not isinstance(statement, ir.Assign):
                return True
            value = statement.value
            if isinstance(value, (ir.Arg, ir.Var)) or not counted(kinds[statement.target.name]):
                return True
            if isinstance(value, ir.Expr) and value.op == "call":
                called = kinds[value.func.name]
                view = getattr(called, "typing_key", None) in VIEWS
                return view or isinstance(called, types.NamedTupleClass)
            if not isinstance(value, ir.Expr) or value.op not in LENT:
                return False
            index = value._kws.get("index_var") or value._kws.get("index")
            place = kinds[index.name] if isinstance(index, ir.Var) else types.intp
            places = place if isinstance(place, types.BaseTuple) else (place,)
            return all(isinstance(place, INDEX) for place in places)

        kinds, blocks = state.typemap, state.func_ir.blocks.values()
        if not counted(state.return_type) and all(lent(line) for b in blocks for line in b.body):
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        return False


class Inside(Compiler):
    """How functions of this package are compiled."""

    def define_pipelines(self) -> Any:
        (passes,) = super().define_pipelines()
        passes.add_pass_after(Borrowing, AnnotateTypes)
        passes.finalize()
        return [passes]
