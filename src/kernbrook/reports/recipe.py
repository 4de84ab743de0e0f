"""A recipe on one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbrook.recipes.catalogue import RECIPES
from kernbrook.recipes.describing import Parameter, describe
from kernbrook.recipes.making import make
from kernbrook.reports.code import in_lines
from kernbrook.reports.table import Column, Table
from kernbrook.reports.terminal import facts, rendered

if TYPE_CHECKING:
    from rich.console import Group

LINES = 14  # of the machine
LABELS = 10  # columns of a terminal that the names of the facts take
NUMBERS = 4  # of a list of defaults that is shown whole


def recipe_page(name: str, width: int = 80) -> Group:
    """What a recipe is, its paper, its machine, when to take it, and its parameters.

    Parameters
    ----------
    name : one of `kernbrook.recipes.names()`
    width : columns of the terminal
    """
    from rich.console import Group

    entry, model = RECIPES[name], make(name)
    kind = f"{entry.task}, from all data at once" if entry.batch else entry.task
    lines = [
        ("what", entry.what),
        ("paper", entry.paper),
        ("take it", entry.take),
        ("not", entry.leave),
        ("machine", in_lines(model, width - LABELS, LINES)),
    ]
    shown: list[Any] = [facts(lines, f"{name}: {entry.title}, for {kind}")]
    if parameters := describe(name):
        shown += ["", rendered(_table(parameters, entry.batch), width)]
    return Group(*shown)


def _table(parameters: list[Parameter], batch: bool) -> Table:
    return Table(
        (
            Column(
                "parameter" if batch else "--set", tuple(p.name for p in parameters), kind="code"
            ),
            Column("default", tuple(_default(p) for p in parameters), kind="code"),
            Column("may be", tuple(p.words for p in parameters), kind="text"),
        )
    )


def _default(parameter: Parameter) -> str:
    value: Any = parameter.default
    if parameter.name == "kernels" and value is None:
        return "as above"
    if isinstance(value, (list, tuple)) and len(value) > NUMBERS:
        return f"{value[0]:g}, {value[1]:g} ... {value[-1]:g}"
    return str(value)
