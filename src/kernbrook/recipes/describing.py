"""Descriptions of recipes' parameters, by the classes that take them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kernbrook.checks import Flag, ranges_of
from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.kernels import Kernel
from kernbrook.recipes.making import defaults, make

_NAMED = {"weight_step": "step"}  # parameters of recipes whose names in the classes are others


class Parameter(NamedTuple):
    """A parameter that `make` takes for a recipe.

    name, default : as `make` has them
    words : what it may be
    """

    name: str
    default: Any
    words: str


def describe(name: str) -> list[Parameter]:
    """The parameters of a recipe, but for `random_state`.

    What one may be is what the class says to which it goes: see `parameter_ranges`.

    Raises
    ------
    UnknownNameError
        No recipe has that name.

    Examples
    --------
    >>> for parameter in describe("bogd")[1:4]:
    ...     print(*parameter)
    budget 100 an integer from 1 to 100,000,000
    discount 0.99 a number in (0, 1]
    step 0.1 a positive number
    """
    model = make(name)
    trivial = hasattr(model, "strategy")  # and has no kernels
    without = {"random_state", "kernels"} if trivial else {"random_state"}
    ranges = list(_ranges(model))
    kernels = str(ranges_of(OnlineMKClassifier)["kernels"].words).removeprefix("'auto', ")
    return [
        Parameter(key, value, kernels if key == "kernels" else _say(ranges, key, value))
        for key, value in defaults(name).items()
        if key not in without
    ]


def _say(ranges: list[tuple[str, Any, str]], parameter: str, default: Any) -> str:
    entries = [entry for entry in ranges if entry[0] == _NAMED.get(parameter, parameter)]
    if entries:  # several classes may have the name: the one that has the recipe's value
        return max(entries, key=lambda e: type(e[1]) is type(default) and e[1] == default)[2]
    if isinstance(default, bool):
        return Flag().words
    return "a list of numbers" if isinstance(default, Sequence) else "as in scikit-learn"


def _ranges(value: Any) -> Iterator[tuple[str, Any, str]]:
    """Each parameter of an estimator and of its parts, its value, and what it may be."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _ranges(item)
    elif hasattr(value, "get_params") and not isinstance(value, (type, Kernel)):
        kind: Any = type(value)
        known = ranges_of(kind)
        for name, setting in value.get_params(deep=False).items():
            if name in known:
                yield name, setting, known[name].words
            yield from _ranges(setting)
