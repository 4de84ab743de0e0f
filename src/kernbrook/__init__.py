"""kernbrook: learning with many kernels on a stream."""

from __future__ import annotations

import ast
from pathlib import Path

from lazy_loader import attach

from kernbrook.gone import gone

__version__ = "0.1.0"


def _imports(stub: Path) -> list[ast.ImportFrom]:
    lines = ast.parse(stub.read_text("utf-8")).body
    return [line for line in lines if isinstance(line, ast.ImportFrom)]


def _public() -> tuple[set[str], dict[str, list[str]]]:
    """Modules, and names by module, as the stub beside this file imports them.

    A star stands for all that the stub of a folder imports.
    """
    here = Path(__file__).parent
    modules: set[str] = set()
    names: dict[str, list[str]] = {}
    for line in _imports(here / "__init__.pyi"):
        found = [alias.name for alias in line.names]
        if line.module is None:
            modules.update(found)
            continue
        if found == ["*"]:
            stub = here / line.module / "__init__.pyi"
            found = [alias.name for of_folder in _imports(stub) for alias in of_folder.names]
        names.setdefault(line.module, []).extend(found)
    return modules, names


# Imported on first use: `import kernbrook` stays light.
_public_name, __dir__, __all__ = attach(__name__, *_public())


def __getattr__(name: str) -> object:
    if reason := gone(name):
        raise AttributeError(reason)
    return _public_name(name)
