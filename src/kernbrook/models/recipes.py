"""The papers' algorithms by name: points of the product kernels x learner x combiner x selection.

A recipe named after a paper's algorithm is in table mode by default: its settings are those that
the paper's tables were made with. `mode="library"` takes the constructors' defaults instead. In
both it scales nothing unless told, by `scaling=`. "kernbrook-..." are our own.

Those of `voted_recipes` are batch: they have `fit` and `predict`, and run on no stream.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from kernbrook.combiners import BestOfPrefix, GroupNorm, Hedge, Selection, Uniform
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
from kernbrook.models.catalogue import RECIPES as CATALOGUE
from kernbrook.models.catalogue import Entry
from kernbrook.models.classifier import OnlineMKClassifier
from kernbrook.models.regression_recipes import OURS
from kernbrook.models.regression_recipes import RECIPES as OF_NUMBERS
from kernbrook.models.regressor import OnlineMKRegressor
from kernbrook.models.tasks import Task
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


def _kernbrook(
    kernels: Any = "omkc16",
    random_state: Any = None,
    budget: int = 2500,
    aggressiveness: float = 0.5,
    scaling: str | None = "auto",
) -> OnlineMKClassifier:
    learner = BPAS(budget, aggressiveness)
    return OnlineMKClassifier(kernels, learner, random_state=random_state, scaling=scaling)


def _one_gaussian(kernels: Any) -> Any:
    return [Gaussian(sigma=1.0)] if kernels is None else kernels


def _trivial(kind: type, strategy: str) -> Callable[..., Any]:
    def build(kernels: Any = None, random_state: Any = None) -> Any:
        return kind(strategy)

    return build


Recipe = tuple[Callable[..., Any], dict[str, Any]]


def _of_papers(recipe: Recipe) -> Recipe:
    """A recipe whose rows are neither scaled nor left out of any judgement, unless asked for."""
    build, library = recipe

    def builder(scaling: str | None = None, judge_stored: bool = True, **own: Any) -> Any:
        model = build(**own)
        center = {"center": False} if isinstance(model, OnlineMKRegressor) else {}
        return model.set_params(scaling=scaling, judge_stored=judge_stored, **center)

    own = inspect.signature(build).parameters.values()
    ours = inspect.signature(builder).parameters
    parameters = [*own, ours["scaling"], ours["judge_stored"]]
    builder.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return builder, {**library, "judge_stored": False}


# name -> (builder, settings of mode="library")
_OF_CLASSES: dict[str, Recipe] = {
    "omkc-dd": (_omkc("all", "all"), {"tie": "margin"}),
    "omkc-ds": (_omkc("all", "drawn"), {"tie": "margin"}),
    "omkc-sd": (_omkc("drawn", "all"), {"tie": "margin"}),
    "omkc-ss": (_omkc("drawn", "drawn"), {"tie": "margin"}),
    "omkc-u": (_omkc_u, {"tie": "margin"}),
    "perceptron": (_perceptron, {"tie": "margin"}),
    "perceptron-u": (_perceptron_u, {"tie": "margin"}),
    "perceptron-best": (_perceptron_best, {"tie": "margin", "fraction": None}),
    "om2": (_om2, {"q": None}),
    "spa": (_spa, {"unit_diagonal": False}),
    "rbp": (_budget_perceptron(RBP), {}),
    "forgetron": (_budget_perceptron(Forgetron), {}),
    "bogd": (_bogd, {}),
    "bpas": (_bpas, {}),
    "projectron": (_projectron(Projectron), {}),
    "projectron++": (_projectron(ProjectronPlusPlus), {}),
    "ahpatron": (_ahpatron, {}),
    "pegasos": (_pegasos, {}),
    "bpegasos-random": (_bpegasos("random"), {}),
    "bpegasos-smallest": (_bpegasos("smallest"), {}),
    "bpegasos-project": (_bpegasos("project"), {}),
    "bpegasos-merge": (_bpegasos("merge"), {}),
}
_RECIPES: dict[str, Recipe] = {
    **{name: _of_papers(recipe) for name, recipe in _OF_CLASSES.items()},
    "kernbrook-classification": (_kernbrook, {}),
    **OF_ALL_DATA,
    "majority": (_trivial(TrivialClassifier, "majority"), {}),
    "last-label": (_trivial(TrivialClassifier, "last-label"), {}),
    **{name: _of_papers(recipe) for name, recipe in OF_NUMBERS.items()},
    **OURS,
    "mean": (_trivial(TrivialRegressor, "mean"), {}),
    "last-value": (_trivial(TrivialRegressor, "last-value"), {}),
}


def names() -> tuple[str, ...]:
    """Every recipe.

    Examples
    --------
    >>> names()[:4]
    ('omkc-dd', 'omkc-ds', 'omkc-sd', 'omkc-ss')
    """
    return tuple(CATALOGUE)


def title(name: str) -> str:
    """The algorithm's name as its paper prints it.

    Examples
    --------
    >>> title("omkc-dd")
    'OMKC(D,D)'
    """
    return _entry(name).title


def task(name: str) -> Task:
    """What a recipe predicts: "classes" or "numbers".

    Examples
    --------
    >>> task("spa"), task("mean")
    ('classes', 'numbers')
    """
    return _entry(name).task


def batch(name: str) -> bool:
    """Whether a recipe learns from all data at once, by `fit`, and from no stream.

    Examples
    --------
    >>> batch("vkr-trace"), batch("omkc-dd")
    (True, False)
    """
    return _entry(name).batch


def parameters(name: str) -> tuple[str, ...]:
    """What `make` takes for a recipe, beside its mode.

    Examples
    --------
    >>> parameters("om2")
    ('kernels', 'random_state', 'q', 'scaling', 'judge_stored')
    """
    _entry(name)
    return tuple(inspect.signature(_RECIPES[name][0]).parameters)


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
