"""Plain values as files of ours hold them, checked."""

from __future__ import annotations

import sys
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from reprlib import repr as shortened
from types import NoneType
from typing import Annotated, Any, TypeGuard, get_args, get_origin, get_type_hints

from kernbrook.checks import COUNTED
from kernbrook.errors import InputError

_IN_JSON = {
    list: "a list", str: "a string", dict: "an object", NoneType: "null", bool: "true or false"
}  # fmt: skip
_RANGES = {int: (-sys.maxsize, sys.maxsize), float: (-sys.float_info.max, sys.float_info.max)}
Count = Annotated[int, 0, COUNTED]  # of things that were met
Size = Annotated[float, 0, sys.float_info.max]


def expect(name: str, value: Any, *kinds: type) -> None:
    """Raise InputError unless a value in the JSON is of one of these kinds."""
    if not isinstance(value, kinds):
        wanted = " or ".join(_IN_JSON[kind] for kind in kinds)
        raise InputError(f"{name}: expected {wanted}, got {shortened(value)}")


def is_count(value: Any) -> TypeGuard[int]:
    """Whether a value can be a number of things that were met."""
    return type(value) is int and 0 <= value <= COUNTED


def read_as(kind: Any, given: Any, name: str) -> Any:
    """A value of a type out of plain values; InputError where they are none of it.

    Parameters
    ----------
    kind : bool, int of 64 bits, finite float, str, `Annotated` with the least and the most; lists,
        dicts with keys of text, and alternatives to None of such; Any; or a dataclass of all these.
        What an object has no word of is as the class has it by default, what the class does not
        know is passed over
    name : of the value, for messages

    Examples
    --------
    >>> read_as(dict[str, Count | None], {"rows": 3, "left": None}, "counts")
    {'rows': 3, 'left': None}
    """
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return given
    if NoneType in parts:
        present = next(part for part in parts if part is not NoneType)
        return None if given is None else read_as(present, given, name)
    if origin is list:
        expect(name, given, list)
        return [read_as(parts[0], item, name) for item in given]
    if origin is dict:
        expect(name, given, dict)
        return {key: read_as(parts[1], item, f"{name}: {key}") for key, item in given.items()}
    if isinstance(kind, type) and is_dataclass(kind):
        expect(name, given, dict)
        for part in fields(kind):
            if part.name not in given and part.default is part.default_factory is MISSING:
                raise InputError(f"{name}: {part.name} is missing")
        known = ((key, part) for key, part in _hints(kind).items() if key in given)
        return kind(**{key: read_as(part, given[key], f"{name}: {key}") for key, part in known})
    if kind in (bool, str):
        expect(name, given, kind)
        return given
    plain, low, high = parts if origin is Annotated else (kind, *_RANGES[kind])
    if type(given) is int:
        low, high = max(low, -COUNTED), min(high, COUNTED)
    if type(given) not in (int, plain) or not low <= given <= high:
        whole = "an integer" if plain is int else "a number"
        raise InputError(f"{name}: expected {whole} from {low:g}, got {shortened(given)}")
    return given


_hints = cache(partial(get_type_hints, include_extras=True))
