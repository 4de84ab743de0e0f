"""Copies and pickles of objects that several threads use."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, ClassVar

from kernbrook.turns import in_turn


class Snapshots:
    """An object whose copies and pickles are of one state: they wait for their turn.

    What is pickled is a copy: by then, another thread may change the object again.
    """

    _not_copied: ClassVar[tuple[str, ...]] = ("_turn",)  # what a copy makes for itself

    def __getstate__(self) -> dict[str, Any]:
        return self._snapshot({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        other = object.__new__(type(self))
        memo[id(self)] = other
        other.__dict__.update(self._snapshot(memo))
        return other

    @in_turn
    def _snapshot(self, memo: dict[int, Any]) -> dict[str, Any]:
        held = {name: value for name, value in vars(self).items() if name not in self._not_copied}
        return deepcopy(held, memo)
