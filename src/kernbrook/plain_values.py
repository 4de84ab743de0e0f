"""Plain values as files of ours hold them, checked."""

from __future__ import annotations

from reprlib import repr as shortened
from types import NoneType
from typing import Any, TypeGuard

from kernbrook.checks import COUNTED
from kernbrook.errors import InputError

_IN_JSON = {list: "a list", str: "a string", dict: "an object", NoneType: "null"}


def expect(name: str, value: Any, *kinds: type) -> None:
    """Raise InputError unless a value in the JSON is of one of these kinds."""
    if not isinstance(value, kinds):
        wanted = " or ".join(_IN_JSON[kind] for kind in kinds)
        raise InputError(f"{name}: expected {wanted}, got {shortened(value)}")


def is_count(value: Any) -> TypeGuard[int]:
    """Whether a value can be a number of things that were met."""
    return type(value) is int and 0 <= value <= COUNTED
