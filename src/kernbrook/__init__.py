"""kernbrook: learning with many kernels on a stream."""

from __future__ import annotations

import ast
from pathlib import Path

from lazy_loader import attach

from kernbrook.gone import gone

__version__ = "0.1.0"


def _public() -> tuple[set[str], dict[str, list[str]]]:
    """Modules, and names by module, as the stub beside this file imports them.

    A star stands for the `__all__` of a folder, which is read and not imported.
    """
    here = Path(__file__).parent
    modules: set[str] = set()
    names: dict[str, list[str]] = {}
    for line in ast.parse((here / "__init__.pyi").read_text("utf-8")).body:
        if isinstance(line, ast.ImportFrom):
            found = [alias.name for alias in line.names]
            if line.module is None:
                modules.update(found)
            else:
                star = found == ["*"]
                more = _exports(here / line.module / "__init__.py") if star else found
                names.setdefault(line.module, []).extend(more)
    return modules, names


def _exports(source: Path) -> list[str]:
    for line in ast.parse(source.read_text("utf-8")).body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "__all__":
            return list(ast.literal_eval(line.value))
    raise AssertionError(f"{source} has no __all__")


# Imported on first use: `import kernbrook` stays light.
_public_name, __dir__, __all__ = attach(__name__, *_public())


def __getattr__(name: str) -> object:
    if reason := gone(name):
        raise AttributeError(reason)
    return _public_name(name)
