"""Copies and pickles of objects that several threads use, and what is made of them again."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, TypeVar

import numpy as np

from kernbrook.turns import in_turn

T = TypeVar("T")


class Snapshots:
    """An object whose copies and pickles are of one state: they wait for their turn.

    What is pickled is a copy: by then, another thread may change the object again.
    """

    def __getstate__(self) -> dict[str, Any]:
        return self._snapshot({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        other = object.__new__(type(self))
        memo[id(self)] = other
        other.__dict__.update(self._snapshot(memo))
        return other

    @in_turn
    def _snapshot(self, memo: dict[int, Any]) -> dict[str, Any]:
        held = {name: value for name, value in vars(self).items() if name != "_turn"}
        return deepcopy(held, memo)  # which makes a turn of its own


def copy_with(thing: T, **attributes: Any) -> T:
    """A copy that shares all attributes but these; quicker than `copy.copy`."""
    other = object.__new__(type(thing))
    other.__dict__.update(vars(thing), **attributes)
    return other


PACKAGE = __name__.partition(".")[0]


def in_memory(value: Any, seen: dict[int, Any]) -> Any:
    """The value, with copies of arrays that cannot be written to, such as joblib maps from files.

    Compiled code would be compiled for them anew. Lists, dicts and objects of this package's
    classes are changed in place. seen : by `id`, what was found before, and what it became
    """
    if id(value) in seen:
        return seen[id(value)][1]
    new = value
    if isinstance(value, np.ndarray):
        new = value if value.flags.writeable else np.array(value)
    elif isinstance(value, tuple):
        parts = [in_memory(part, seen) for part in value]
        if any(part is not old for part, old in zip(parts, value, strict=True)):
            kind: Any = type(value)
            new = kind._make(parts) if hasattr(kind, "_make") else kind(parts)
    seen[id(value)] = value, new
    if isinstance(value, list):
        value[:] = [in_memory(part, seen) for part in value]
    elif isinstance(value, dict):
        value.update({key: in_memory(part, seen) for key, part in value.items()})
    elif hasattr(value, "__dict__") and any(
        base.__module__.partition(".")[0] == PACKAGE for base in type(value).__mro__
    ):
        in_memory(vars(value), seen)
    return new
