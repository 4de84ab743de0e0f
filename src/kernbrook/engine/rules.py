"""Rules: the parameters of a part as compiled code reads them."""

from typing import Any, get_type_hints

import numpy as np

from kernbrook.checks import is_number, is_whole, shown
from kernbrook.compiler.links import ROOM, words_of
from kernbrook.errors import InputError

PLAIN = {int: "an integer", float: "a number", bool: "True or False"}  # the types of numbers


def cast_rule(rule: Any) -> Any:
    """The rule with numbers of the types that its class names: another type is compiled anew.

    Raises
    ------
    InputError
        It is no NamedTuple of numbers, and of such tuples, or a number is not of its type.
    """
    kind = type(rule)
    if not hasattr(rule, "_replace"):
        raise InputError(
            "rule() must give a NamedTuple class of its own, such as MyRule(NamedTuple), got "
            f"{shown(rule)}"
        )
    names = get_type_hints(kind)
    for name in rule._fields:
        if name not in names:
            raise InputError(f"{kind.__name__}: {name} has no type; write `{name}: float`")
    values = {name: _cast(kind, name, names[name], getattr(rule, name)) for name in rule._fields}
    if words_of(rule) > ROOM:
        raise InputError(f"{kind.__name__}: no room for {words_of(rule):,} numbers in a rule")
    return rule._replace(**values)


def _cast(kind: type, name: str, wanted: Any, value: Any) -> Any:
    """The value of a field, by its type."""
    if isinstance(value, tuple) and wanted not in PLAIN:
        return cast_rule(value)
    fits = is_number(value) or isinstance(value, np.bool_)
    if fits and wanted is bool:
        fits = value in (0, 1)
    elif fits and wanted is int:
        fits = is_whole(value) or isinstance(value, np.bool_) or float(value).is_integer()
    if wanted not in PLAIN or not fits:
        such = PLAIN.get(wanted, "a number, or a NamedTuple of numbers")
        raise InputError(f"{kind.__name__}: {name} must be {such}, got {shown(value)}")
    return wanted(value)
