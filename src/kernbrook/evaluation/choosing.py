"""Which recipes are compared, and with which parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernbrook import recipes as book
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.estimators.tasks import Task
from kernbrook.evaluation.tasks import OURS, check_settings, make_online

# Where nobody names recipes: ours, one of each paper, a linear one, the trivial ones.
SHORT_LISTS: dict[Task, tuple[str, ...]] = {
    "classes": (
        OURS["classes"], "omkc-dd", "spa", "bpegasos-merge", "perceptron",
        "majority", "last-label",
    ),
    "numbers": (
        OURS["numbers"], "kernbrook-active", "raker", "amkl-aks", "kl-linear",
        "mean", "last-value",
    ),
}  # fmt: skip
TRIVIAL = ("majority", "last-label", "mean", "last-value")  # they have no parameters


def named(recipes: Any) -> tuple[str, ...] | None:
    """The recipes that `compare` is given by name; None where the data decide.

    Raises
    ------
    InputError
        They are neither names, nor "all", nor None.

    Examples
    --------
    >>> named("spa"), named(["spa", "bpas", "spa"]), named("all")
    (('spa',), ('spa', 'bpas'), None)
    """
    if recipes is None or (isinstance(recipes, str) and recipes == "all"):
        return None
    names = [recipes] if isinstance(recipes, str) else recipes
    try:
        names = tuple(dict.fromkeys(names))
    except TypeError:
        names = (recipes,)
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                "recipes: expected names such as ['omkc-dd', 'spa'], 'all' or None, "
                f"got {recipes!r}"
            )
    return names


def task_of_recipes(names: Sequence[str], overrides: Mapping[str, Any] | None = None) -> Task:
    """What recipes predict; a wrong name, parameter or value is found before any data are read.

    Raises
    ------
    InputError
        There are none, some predict classes and others numbers, or a parameter is wrong.
    UnknownNameError
        No recipe has such a name.
    """
    if not names:
        raise InputError("recipes: expected one or more names, got none")
    for name, own in settings_of(names, overrides or {}).items():
        check_settings(make_online(name, **own))
    by_task: dict[Task, list[str]] = {}
    for name in names:
        by_task.setdefault(book.task(name), []).append(name)
    if len(by_task) > 1:
        told = " and ".join(f"for {task} {', '.join(own)}" for task, own in by_task.items())
        raise InputError(f"recipes: expected all for classes or all for numbers, got {told}")
    (task,) = by_task
    return task


def settings_of(names: Sequence[str], overrides: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """For each recipe, those of the parameters given that it has.

    Raises
    ------
    UnknownNameError
        No recipe has a parameter of that name.

    Examples
    --------
    >>> settings_of(["omkc-dd", "om2", "majority"], {"q": 4, "mode": "library"})["omkc-dd"]
    {'mode': 'library'}
    """
    if "random_state" in overrides:
        raise InputError("random_state: give seed, each run draws its own from it")
    known = {name: ("mode", *book.parameters(name)) for name in names}
    real = [name for name in names if name not in TRIVIAL] or list(names)
    theirs = dict.fromkeys(parameter for name in real for parameter in known[name])
    for parameter in overrides:
        if parameter not in theirs:
            owner = f" of {real[0]}" if len(real) == 1 else ""
            raise UnknownNameError(f"parameter{owner}", parameter, theirs)
    return {
        name: {key: value for key, value in overrides.items() if key in own}
        for name, own in known.items()
    }
