"""pyarrow, which is loaded when something of it is first asked for: many data need none of it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class _Later:
    """A module, whose attributes are those of the one that is loaded then."""

    def __init__(self, module: str):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._module), name)
        setattr(self, name, found)
        return found


pa: Any = _Later("pyarrow")
compute: Any = _Later("pyarrow.compute")
