"""Recipes by name: builders, their settings, and estimators of them."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

from kernbrook.errors import InputError, UnknownNameError
from kernbrook.estimators.regressor import OnlineMKRegressor
from kernbrook.estimators.tasks import Task
from kernbrook.estimators.trivial import TrivialClassifier, TrivialRegressor
from kernbrook.recipes import amkl, budgets, omkc, ours, vkr
from kernbrook.recipes.catalogue import RECIPES as CATALOGUE
from kernbrook.recipes.catalogue import Entry, Recipe

_MODES = ("table", "library")


def _of_papers(recipe: Recipe) -> Recipe:
    """A recipe whose rows are neither scaled nor left out of any judgement, unless asked for."""
    build, library = recipe

    def builder(scaling: str | None = None, judge_stored: bool = True, **settings: Any) -> Any:
        model = build(**settings)
        center = {"center": False} if isinstance(model, OnlineMKRegressor) else {}
        return model.set_params(scaling=scaling, judge_stored=judge_stored, **center)

    accepted = inspect.signature(build).parameters.values()
    added = inspect.signature(builder).parameters
    parameters = [*accepted, added["scaling"], added["judge_stored"]]
    builder.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return builder, {**library, "judge_stored": False}


def _trivial(kind: type, strategy: str, kernels: Any = None, random_state: Any = None) -> Any:
    return kind(strategy)


_OF_CLASSES = {**omkc.RECIPES, **budgets.RECIPES}
_RECIPES: dict[str, Recipe] = {
    **{name: _of_papers(recipe) for name, recipe in _OF_CLASSES.items()},
    **ours.OF_CLASSES,
    **vkr.RECIPES,
    "majority": (partial(_trivial, TrivialClassifier, "majority"), {}),
    "last-label": (partial(_trivial, TrivialClassifier, "last-label"), {}),
    **{name: _of_papers(recipe) for name, recipe in amkl.RECIPES.items()},
    **ours.OF_NUMBERS,
    "mean": (partial(_trivial, TrivialRegressor, "mean"), {}),
    "last-value": (partial(_trivial, TrivialRegressor, "last-value"), {}),
}


def names() -> tuple[str, ...]:
    """The names of all recipes.

    Examples
    --------
    >>> names()[:4]
    ('omkc-dd', 'omkc-ds', 'omkc-sd', 'omkc-ss')
    """
    return tuple(CATALOGUE)


def title(name: str) -> str:
    """The algorithm's name as its paper prints it.

    Parameters
    ----------
    name : one of `names()`

    Examples
    --------
    >>> title("omkc-dd")
    'OMKC(D,D)'
    """
    return _entry(name).title


def task(name: str) -> Task:
    """The task of a recipe: "classification" or "regression".

    Parameters
    ----------
    name : one of `names()`

    Examples
    --------
    >>> task("spa"), task("mean")
    ('classification', 'regression')
    """
    return _entry(name).task


def batch(name: str) -> bool:
    """Whether a recipe learns from all data at once, by `fit`, and from no stream.

    Parameters
    ----------
    name : one of `names()`

    Examples
    --------
    >>> batch("vkr-trace"), batch("omkc-dd")
    (True, False)
    """
    return _entry(name).batch


def parameters(name: str) -> tuple[str, ...]:
    """The parameters that `make` takes for a recipe, beside its mode.

    Parameters
    ----------
    name : one of `names()`

    Examples
    --------
    >>> parameters("om2")
    ('kernels', 'random_state', 'q', 'scaling', 'judge_stored')
    """
    return tuple(defaults(name))


def defaults(name: str) -> dict[str, Any]:
    """The parameters of a recipe with their defaults.

    Examples
    --------
    >>> defaults("om2")["q"]
    1000.0
    """
    _entry(name)
    found = inspect.signature(_RECIPES[name][0]).parameters
    return {parameter: spec.default for parameter, spec in found.items()}


def make(name: str, /, mode: str = "table", **overrides: Any) -> Any:
    """An estimator, ready for `partial_fit` or `prequential`; of a batch recipe, for `fit`.

    Parameters
    ----------
    name : one of `names()`
    mode : "table", the settings of the paper's tables, or "library", the constructors' defaults
    **overrides : random_state and kernels for every recipe, and the recipe's own parameters

    Raises
    ------
    UnknownNameError
        No recipe has that name.
    InputError
        The recipe has no such parameter.

    Examples
    --------
    >>> make("omkc-dd", discount=0.9).combiner
    Hedge(discount=0.9)
    """
    _entry(name)
    build, library = _RECIPES[name]
    if mode not in _MODES:
        raise InputError(f"mode: expected one of {', '.join(_MODES)}, got {mode!r}")
    known = parameters(name)
    for override in overrides:
        if override not in known:
            raise InputError(f"recipe {name}: no parameter {override!r}; it has {', '.join(known)}")
    return build(**{**(library if mode == "library" else {}), **overrides})


def _entry(name: str) -> Entry:
    if not isinstance(name, str) or name not in CATALOGUE:
        raise UnknownNameError("recipe", str(name), CATALOGUE)
    return CATALOGUE[name]
