"""The papers' algorithms by name: points of the product kernels x learner x combiner x selection.

A recipe named after a paper's algorithm is in table mode by default: its settings are those that
the paper's tables were made with. `mode="library"` takes the constructors' defaults instead.

Those of `voted_recipes` are batch: they have `fit` and `predict`, and run on no stream.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from kernbrook.combiners import BestOfPrefix, FixedShare, GroupNorm, Hedge, Selection, Uniform
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.kernels import Gaussian, Linear, Mean, resolve
from kernbrook.learners import (
    BOGD,
    BPAS,
    RBP,
    Ahpatron,
    Forgetron,
    Pegasos,
    Perceptron,
    Projectron,
    ProjectronPlusPlus,
    SparsePA,
)
from kernbrook.models.classifier import OnlineMKClassifier
from kernbrook.models.regression_recipes import RECIPES as OF_NUMBERS
from kernbrook.models.tasks import Task, is_batch, task_of
from kernbrook.models.trivial import TrivialClassifier, TrivialRegressor
from kernbrook.models.voted_recipes import RECIPES as OF_ALL_DATA

_MODES = ("table", "library")


def _omkc(update: str, vote: str) -> Callable[..., OnlineMKClassifier]:
    def build(
        kernels: Any = "omkc16",
        random_state: Any = None,
        discount: float = 0.8,
        smoothing: float = 0.01,
        tie: str = "label",
        weighted: bool = True,
    ) -> OnlineMKClassifier:
        return OnlineMKClassifier(
            kernels,
            Perceptron(tie=tie),
            Hedge(discount=discount),
            Selection(update=update, vote=vote, smoothing=smoothing, weighted=weighted),
            random_state=random_state,
        )

    return build


def _omkc_u(
    kernels: Any = "omkc16", random_state: Any = None, tie: str = "label"
) -> OnlineMKClassifier:
    return OnlineMKClassifier(kernels, Perceptron(tie=tie), Uniform(), random_state=random_state)


def _perceptron(
    kernels: Any = None, random_state: Any = None, tie: str = "label"
) -> OnlineMKClassifier:
    chosen = resolve([Linear()] if kernels is None else kernels)
    if len(chosen) != 1:
        raise InputError(
            f"perceptron: kernels must be one kernel, got {len(chosen)}; "
            "perceptron-u takes the mean of several"
        )
    return OnlineMKClassifier(chosen, Perceptron(tie=tie), Uniform(), random_state=random_state)


def _perceptron_u(
    kernels: Any = "omkc16", random_state: Any = None, tie: str = "label"
) -> OnlineMKClassifier:
    mean = Mean(resolve(kernels))
    return OnlineMKClassifier([mean], Perceptron(tie=tie), Uniform(), random_state=random_state)


def _perceptron_best(
    kernels: Any = "omkc16",
    random_state: Any = None,
    tie: str = "label",
    fraction: float | None = 0.1,
    rounds: int = 100,
) -> OnlineMKClassifier:
    selection = BestOfPrefix(rounds=rounds, fraction=fraction)
    return OnlineMKClassifier(
        kernels, Perceptron(tie=tie), Uniform(), selection, random_state=random_state
    )


def _om2(
    kernels: Any = "omkc16", random_state: Any = None, q: float | None = 1000.0
) -> OnlineMKClassifier:
    return OnlineMKClassifier(kernels, combiner=GroupNorm(q=q), random_state=random_state)


def _spa(
    kernels: Any = "omkc16",
    random_state: Any = None,
    step: float = 0.1,
    cap: float = 1.0,
    divisor: float = 3.0,
    discount: float = 0.99,
    smoothing: float = 0.001,
    unit_diagonal: bool = True,
    budget: int | None = None,
) -> OnlineMKClassifier:
    return OnlineMKClassifier(
        kernels,
        SparsePA(step=step, cap=cap, divisor=divisor, unit_diagonal=unit_diagonal, budget=budget),
        Hedge(discount=discount, loss="hinge"),
        Selection(update="drawn", smoothing=smoothing, spread=False),
        random_state=random_state,
    )


def _budget_perceptron(learner: type) -> Callable[..., OnlineMKClassifier]:
    def build(
        kernels: Any = "omkc16",
        random_state: Any = None,
        budget: int = 100,
        discount: float = 0.99,
        tie: str = "margin",
    ) -> OnlineMKClassifier:
        chosen = learner(budget=budget, tie=tie)
        combiner = Hedge(discount=discount)
        return OnlineMKClassifier(kernels, chosen, combiner, random_state=random_state)

    return build


def _projectron(learner: type) -> Callable[..., OnlineMKClassifier]:
    def build(
        kernels: Any = None,
        random_state: Any = None,
        budget: int = 100,
        discount: float = 0.99,
        threshold: float = 0.3,
        tie: str = "margin",
    ) -> OnlineMKClassifier:
        chosen = learner(budget=budget, threshold=threshold, tie=tie)
        combiner = Hedge(discount=discount)
        pool = _one_gaussian(kernels)
        return OnlineMKClassifier(pool, chosen, combiner, random_state=random_state)

    return build


def _ahpatron(
    kernels: Any = "omkc16",
    random_state: Any = None,
    budget: int = 100,
    discount: float = 0.99,
    margin: float = 0.5,
    radius: float | None = None,
    ridge: float = 0.0005,
) -> OnlineMKClassifier:
    learner = Ahpatron(budget=budget, margin=margin, radius=radius, ridge=ridge)
    return OnlineMKClassifier(kernels, learner, Hedge(discount=discount), random_state=random_state)


def _bogd(
    kernels: Any = "omkc16",
    random_state: Any = None,
    budget: int = 100,
    discount: float = 0.99,
    step: float = 0.1,
    regularization: float = 0.01,
) -> OnlineMKClassifier:
    learner = BOGD(budget=budget, step=step, regularization=regularization)
    return OnlineMKClassifier(kernels, learner, Hedge(discount=discount), random_state=random_state)


def _bpas(
    kernels: Any = "omkc16",
    random_state: Any = None,
    budget: int = 100,
    discount: float = 0.99,
    aggressiveness: float = 0.1,
) -> OnlineMKClassifier:
    learner = BPAS(budget=budget, aggressiveness=aggressiveness)
    combiner = Hedge(discount=discount, loss="hinge")
    return OnlineMKClassifier(kernels, learner, combiner, random_state=random_state)


def _pegasos(
    kernels: Any = None, random_state: Any = None, regularization: float = 1e-4, ball: bool = True
) -> OnlineMKClassifier:
    learner = Pegasos(None, regularization, ball=ball)
    return OnlineMKClassifier(_one_gaussian(kernels), learner, random_state=random_state)


def _bpegasos(upkeep: str) -> Callable[..., OnlineMKClassifier]:
    def build(
        kernels: Any = None,
        random_state: Any = None,
        budget: int = 100,
        regularization: float = 1e-4,
        ball: bool = True,
        merging: str = "exact",
    ) -> OnlineMKClassifier:
        learner = Pegasos(budget, regularization, upkeep, ball, merging)
        return OnlineMKClassifier(_one_gaussian(kernels), learner, random_state=random_state)

    return build


def _classification(  # temporary, the lead's replaces it
    kernels: Any = "omkc16",
    random_state: Any = None,
    budget: int = 100,
    scaling: str | None = "moments",
) -> OnlineMKClassifier:
    return OnlineMKClassifier(
        kernels, BPAS(budget=budget), FixedShare(), random_state=random_state, scaling=scaling
    )


def _one_gaussian(kernels: Any) -> Any:
    return [Gaussian(sigma=1.0)] if kernels is None else kernels


def _trivial(kind: type, strategy: str) -> Callable[..., Any]:
    def build(kernels: Any = None, random_state: Any = None) -> Any:
        return kind(strategy)

    return build


# name -> (title as the papers print it, builder, settings of mode="library")
_RECIPES: dict[str, tuple[str, Callable[..., Any], dict[str, Any]]] = {
    "omkc-dd": ("OMKC(D,D)", _omkc("all", "all"), {"tie": "margin"}),
    "omkc-ds": ("OMKC(D,S)", _omkc("all", "drawn"), {"tie": "margin"}),
    "omkc-sd": ("OMKC(S,D)", _omkc("drawn", "all"), {"tie": "margin"}),
    "omkc-ss": ("OMKC(S,S)", _omkc("drawn", "drawn"), {"tie": "margin"}),
    "omkc-u": ("OMKC(U)", _omkc_u, {"tie": "margin"}),
    "perceptron": ("Perceptron", _perceptron, {"tie": "margin"}),
    "perceptron-u": ("Perceptron(u)", _perceptron_u, {"tie": "margin"}),
    "perceptron-best": ("Perceptron(*)", _perceptron_best, {"tie": "margin", "fraction": None}),
    "om2": ("OM-2", _om2, {"q": None}),
    "spa": ("SPA", _spa, {"unit_diagonal": False}),
    "rbp": ("RBP", _budget_perceptron(RBP), {}),
    "forgetron": ("Forgetron", _budget_perceptron(Forgetron), {}),
    "bogd": ("BOGD", _bogd, {}),
    "bpas": ("BPAS", _bpas, {}),
    "projectron": ("Projectron", _projectron(Projectron), {}),
    "projectron++": ("Projectron++", _projectron(ProjectronPlusPlus), {}),
    "ahpatron": ("Ahpatron", _ahpatron, {}),
    "pegasos": ("Pegasos", _pegasos, {}),
    "bpegasos-random": ("BPegasos(random)", _bpegasos("random"), {}),
    "bpegasos-smallest": ("BPegasos(smallest)", _bpegasos("smallest"), {}),
    "bpegasos-project": ("BPegasos(projection)", _bpegasos("project"), {}),
    "bpegasos-merge": ("BPegasos(merging)", _bpegasos("merge"), {}),
    "kernbrook-classification": ("kernbrook", _classification, {}),
    **OF_ALL_DATA,
    "majority": ("majority so far", _trivial(TrivialClassifier, "majority"), {}),
    "last-label": ("last label", _trivial(TrivialClassifier, "last-label"), {}),
    **OF_NUMBERS,
    "mean": ("mean so far", _trivial(TrivialRegressor, "mean"), {}),
    "last-value": ("last value", _trivial(TrivialRegressor, "last-value"), {}),
}


def names() -> tuple[str, ...]:
    """Every recipe.

    Examples
    --------
    >>> names()[:4]
    ('omkc-dd', 'omkc-ds', 'omkc-sd', 'omkc-ss')
    """
    return tuple(_RECIPES)


def title(name: str) -> str:
    """The algorithm's name as its paper prints it.

    Examples
    --------
    >>> title("omkc-dd")
    'OMKC(D,D)'
    """
    return _recipe(name)[0]


@cache
def task(name: str) -> Task:
    """What a recipe predicts: "classes" or "numbers".

    Examples
    --------
    >>> task("spa"), task("mean")
    ('classes', 'numbers')
    """
    return task_of(make(name))


@cache
def batch(name: str) -> bool:
    """Whether a recipe learns from all data at once, by `fit`, and from no stream.

    Examples
    --------
    >>> batch("vkr-trace"), batch("omkc-dd")
    (True, False)
    """
    return is_batch(make(name))


def parameters(name: str) -> tuple[str, ...]:
    """What `make` takes for a recipe, beside its mode.

    Examples
    --------
    >>> parameters("om2")
    ('kernels', 'random_state', 'q')
    """
    return tuple(inspect.signature(_recipe(name)[1]).parameters)


def make(name: str, mode: str = "table", **overrides: Any) -> Any:
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
    _, build, library = _recipe(name)
    if mode not in _MODES:
        raise InputError(f"mode: expected one of {', '.join(_MODES)}, got {mode!r}")
    known = parameters(name)
    for override in overrides:
        if override not in known:
            raise InputError(f"recipe {name}: no parameter {override!r}; it has {', '.join(known)}")
    return build(**{**(library if mode == "library" else {}), **overrides})


def _recipe(name: str) -> tuple[str, Callable[..., Any], dict[str, Any]]:
    if name not in _RECIPES:
        raise UnknownNameError("recipe", name, _RECIPES)
    return _RECIPES[name]
