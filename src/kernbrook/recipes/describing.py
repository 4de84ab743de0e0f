"""What a recipe's parameters are: found by making it, so that nothing is said twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kernbrook.checks import Flag, ranges_of
from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.kernels import Kernel
from kernbrook.recipes.making import defaults, make


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
    trivial = hasattr(make(name), "strategy")  # and has no kernels
    without = {"random_state", "kernels"} if trivial else {"random_state"}
    return [
        Parameter(own, value, _words(name, own, value))
        for own, value in defaults(name).items()
        if own not in without
    ]


def _words(name: str, parameter: str, default: Any) -> str:
    if parameter == "kernels":
        return str(ranges_of(OnlineMKClassifier)["kernels"].words).removeprefix("'auto', ")
    other = _another(default)
    said = {
        own: ranges_of(kind)[own].words
        for kind, own, value in _parameters(make(name, **{parameter: other}))
        if type(value) is type(other) and value == other and own in ranges_of(kind)
    }
    if parameter in said or (said and not isinstance(default, bool)):
        return str(said.get(parameter, next(iter(said.values()))))
    if isinstance(default, bool):
        return Flag().words
    return "a list of numbers" if isinstance(default, Sequence) else "as in scikit-learn"


def _another(default: Any) -> Any:
    """A value that is not the default, and that nothing else of a recipe has."""
    if isinstance(default, bool):
        return not default
    if isinstance(default, int):
        return default + 11
    if isinstance(default, float):
        return 0.8125 * default
    if isinstance(default, Sequence) and not isinstance(default, str):
        return [0.8125]
    return "another"


def _parameters(value: Any) -> Iterator[tuple[type, str, Any]]:
    """Every parameter of an estimator and of its parts: its class, name and value."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _parameters(item)
    elif hasattr(value, "get_params") and not isinstance(value, (type, Kernel)):
        for name, own in value.get_params(deep=False).items():
            yield type(value), name, own
            yield from _parameters(own)
