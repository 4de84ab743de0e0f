"""Which learners there are, and the model that a machine's choices ask for."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kernbrook.checks import check, shown
from kernbrook.combiners import Stack
from kernbrook.engine.compose import compose
from kernbrook.engine.horizons.horizons import Horizons
from kernbrook.engine.model import Model
from kernbrook.engine.needs import check_part, check_together, gives
from kernbrook.engine.pool import Member, scalings_of
from kernbrook.engine.same import same
from kernbrook.engine.stores.base import Setting
from kernbrook.errors import InputError
from kernbrook.features import RandomFeatures
from kernbrook.kernels import Gaussian, Kernel, Polynomial, resolve
from kernbrook.kernels.constant import with_constant
from kernbrook.labels import AllLabels
from kernbrook.learners import (
    BPAS,
    BoostedTrees,
    Cells,
    External,
    GradientDescent,
    Group,
    LastLabel,
    Ridge,
)
from kernbrook.learners.cells import MOST_FEATURES
from kernbrook.selection import Selection

# -- the pools where no learners are named, found by measurement: `benchmarks/shootout.py` ---------


MANY = MOST_FEATURES  # of a row, beyond which there are neither ranks nor random features
KEPT = 2**19  # numbers in the rows on which trees are fitted, where these are over 4,096 rows
SOLVED = 128  # features up to which a regression is solved on the features themselves
ON_KERNELS = (BPAS(budget=2500, aggressiveness=0.5),)  # where kernels are named, for classes
ON_KERNELS_OF_NUMBERS = (GradientDescent(0.5, "normalized"), Ridge())
LINE = Polynomial(1, offset=1.0)


def default_pool(regression: bool, width: int, scores: int = 1, before: int = 0) -> list[Any]:
    """Learners for rows of so many features: whatever the stream is like, some of them are good.

    before : as in files of before 2026-11-29 (1), of before 2026-11-28 (2), with what left then

    Where few labels are wrong: passive-aggressive steps under a budget. Where many are: ridge
    regressions and gradient steps on random features, of all inputs or of few, of moments and of
    ranks. Where the stream drifts: the same with forgetting, and the last label. Where it is long,
    or a few inputs decide by thresholds: cells. Where thresholds change: boosted trees.
    """
    if width > MANY:
        linear = [Cells(step=step) for step in (0.1, 0.2, 0.4)]
        return [*(ON_KERNELS_OF_NUMBERS if regression else [_few_kernels()]), *linear, LastLabel()]
    line: list[Kernel] = [LINE] if width <= SOLVED else []  # solved on the features themselves
    pool = _of_numbers(line, before > 1) if regression else _of_classes(line, scores > 1, before)
    window = min(16_384, max(4096, KEPT // width))
    return [*pool, Cells(), BoostedTrees(window=window), LastLabel()]


def _few_kernels() -> Group:
    """For words, whose rows are of length 1, and for images, whose distances are far greater."""
    kernels = [Polynomial(1), Polynomial(2), Gaussian(sigma=4.0), Gaussian(sigma=16.0)]
    return Group(BPAS(budget=1000, aggressiveness=0.5), kernels)


def _of_classes(line: list[Kernel], many: bool, before: int) -> list[Any]:
    """Between two classes 500 examples tell as much as 4,000 do; between many they do not."""
    near, middle, wide = (gaussian(square) for square in (1.0, 3.16, 31.6))
    logistic = GradientDescent(0.5, "adagrad", loss="logistic")
    on_many = GradientDescent(
        0.5, "adagrad", loss="logistic", features=RandomFeatures(200, "orthogonal")
    )
    steady, slow, fast = Ridge(), Ridge(forgetting=0.998), Ridge(forgetting=0.98)
    first, second, ranked = [Polynomial(1), Gaussian(sigma=0.25)], [gaussian(0.5), near], 2500
    # Those of two classes go over where a third one comes: there are as many, in as many groups.
    few, more = BPAS(1000 if many else 400, 0.5), BPAS(4000 if many else 500, 0.5)
    kernels = [Group(few, first), Group(more, second)]
    if before:
        kernels = [Group(BPAS(2500 if many else 500, 0.5), [*first, near])]
        ranked = 1000
    return [
        Group(logistic, [LINE, near, middle, wide]),
        Group(on_many, gaussian(10.0)),
        *([Group(slow, line)] if line else []),
        Group(fast, [*line, middle, wide]),
        Group(steady, [middle, wide]),
        Group(steady, middle, "ranks"),
        *([Group(slow, near, "ranks")] if before > 1 else []),
        Group(fast, [middle, wide], "ranks"),
        _on_few_inputs(1, 75, [1.0, 0.998], "ranks"),
        *([_on_few_inputs(2, 100, [0.998], "ranks")] if before > 1 else []),
        *([_on_few_inputs(2, 50, [1.0], "ranks")] if before > 1 else []),
        _on_few_inputs(4, 100, [1.0, 0.998]),
        _on_few_inputs(4, 100, [1.0], "ranks"),
        *kernels,
        Group(BPAS(ranked if many else 500, 0.5), near, "ranks"),
    ]


def _on_few_inputs(
    inputs: int, n: int, forgetting: list[float], scaling: str | None = None
) -> Group:
    """Regressions on random features, each of so many inputs."""
    features = RandomFeatures(n, "orthogonal", inputs=inputs)
    solved = [Ridge(forgetting=factor, features=features) for factor in forgetting]
    return Group(solved, gaussian(float(inputs)), scaling)


def _of_numbers(line: list[Kernel], before: bool) -> list[Any]:
    """Numbers are seldom exact enough for narrow kernels alone to err."""
    narrow = [gaussian(square) for square in (0.1, 0.316, 1.0)]
    wide = [gaussian(square) for square in (3.16, 10.0, 31.6, 100.0)]
    middle, steps = wide[:2], GradientDescent(0.5, "normalized")
    return [
        Group(steps, [LINE, *narrow, *wide]),
        Group(Ridge(), [*line, *wide]),
        Group(Ridge(forgetting=0.98), [*line, *narrow]),
        Group(Ridge(forgetting=0.998), [*line, *wide], "ranks"),
        Group(Ridge(features=RandomFeatures(100, "orthogonal")), middle[0]),
        Group(
            GradientDescent(0.5, "normalized", features=RandomFeatures(500, "orthogonal")), middle
        ),
        *(_on_few_inputs(inputs, 100, [1.0]) for inputs in ((1, 2, 4) if before else (2, 4))),
    ]


def gaussian(square: float) -> Kernel:
    """A Gaussian of a squared width sigma^2."""
    return Gaussian(sigma=math.sqrt(square))


# -- the values that Cortes et al. (2015) searched for voted kernel regularization -----------------


POWERS = tuple(10.0**-i for i in range(7))  # of lam and of beta
COSTS = tuple(10.0**i for i in range(-4, 8))  # of the L2-SVM's C


# -- the model that choices ask for, once they are found to go together ----------------------------


class Pool(NamedTuple):
    """Kernels, learners with them or with some of their own, and the scaling of each view."""

    kernels: tuple[Kernel, ...]
    members: tuple[Member, ...]
    scalings: tuple[str | None, ...]


def pool_of(
    kernels: Any,
    learner: Any,
    combiner: Any,
    regression: bool,
    width: int,
    scaling: str | None,
    scores: int = 1,
) -> Pool:
    """The pool that an estimator's parameters ask for, each part of it checked.

    width : features of a row; scores : of each expert
    """
    given = learner
    if learner is None and not learns_itself(combiner):
        if is_auto(kernels):
            given = default_pool(regression, width, scores)
        else:
            given = ON_KERNELS_OF_NUMBERS if regression else ON_KERNELS
    members = members_of(given, combiner, regression, scaling)
    methods = tuple(scaling if method is None else method for method in scalings_of(members))
    return Pool(shared_kernels(kernels, regression), members, methods)


def goes_on(old: Pool, new: Pool) -> bool:
    """Whether a pool for more features takes over what the one for fewer has learned.

    Boosted trees begin anew in any case, so it does not matter how many rows they keep.
    """

    def of_any_rows(pool: Pool) -> Pool:
        trees = Member(BoostedTrees)
        return pool._replace(
            members=tuple(trees if isinstance(m.learner, BoostedTrees) else m for m in pool.members)
        )

    return same(of_any_rows(old), of_any_rows(new))


def with_constants(pool: Pool, width: int) -> Pool:
    """The same with 1 added to each kernel whose functions are all 0 at 0, such as x.z."""

    def mended(kernels: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
        return tuple(with_constant(kernel, width) for kernel in kernels)

    members = tuple(
        member if member.kernels is None else member._replace(kernels=mended(member.kernels))
        for member in pool.members
    )
    return pool._replace(kernels=mended(pool.kernels), members=members)


def learns_itself(combiner: Any) -> bool:
    """Whether a combiner learns from the kernels, without learners."""
    return bool(getattr(combiner, "learns_itself", False))


def is_auto(kernels: Any) -> bool:
    """Whether the kernels are left to the machine."""
    return isinstance(kernels, str) and kernels == "auto"


def shared_kernels(kernels: Any, regression: bool) -> tuple[Kernel, ...]:
    """The kernels of the learners that have none of their own."""
    named = "amkl17" if regression else "omkc16"
    return resolve(named if is_auto(kernels) else kernels)


def make_model(
    pool: Pool,
    combiner: Any,
    selection: Any,
    labels: Any,
    setting: Setting,
    delay: float | None = 0,
) -> Model:
    """The model that the choices ask for; InputError where they do not go together.

    None is the default of each. delay : as of `OnlineMachine`
    """
    selection = Selection() if selection is None else selection
    selection = _choice("selection", selection, "an object such as Selection()")
    default = Stack().for_task(setting.regression)
    such = default if "all experts" in gives(selection) else default.base
    combiner = such if combiner is None else combiner
    combiner = _choice("combiner", combiner, f"an object such as {default.base!r}")
    policy = AllLabels() if isinstance(labels, str) and labels == "all" else labels
    policy = _choice("labels", policy, "'all' or a policy such as Disagreement()")
    if hasattr(combiner, "for_task"):
        combiner = combiner.for_task(setting.regression)
    learners = [member.learner for member in pool.members]
    task = "regression" if setting.regression else "classification"
    parts = {
        "labels": [policy], "combiner": [combiner], "selection": [selection], "learner": learners,
    }  # fmt: skip
    check_together(task, parts)
    needed = getattr(combiner, "n_learners", None)
    if needed is not None and len(learners) != needed:
        wanted = "1 learner" if needed == 1 else f"{needed} learners"
        found = learners[0] if len(learners) == 1 else learners
        raise InputError(f"combiner: {combiner!r} needs {wanted}, got {found!r}")
    model = compose(pool.kernels, pool.members, combiner, selection, policy, setting)
    able = "all experts" in gives(selection) and not learns_itself(combiner)
    if delay and not able:
        raise InputError(
            f"delay: needs all experts in each vote, which {selection!r} with {combiner!r} does "
            "not give; leave delay=None"
        )
    several = model.n_experts > 1 and hasattr(combiner, "far_ahead")
    if delay != 0 and able and (delay is not None or several):
        model.horizons = Horizons(model)
    return model


def members_of(
    given: Any, combiner: Any, regression: bool, scaling: str | None
) -> tuple[Member, ...]:
    """The learners of a pool, with kernels and scaling of their own where they have them."""
    if learns_itself(combiner):
        if given is not None:
            name = type(combiner).__name__
            raise InputError(f"learner: {name} is its own learner; leave learner=None")
        return ()
    pool = given if isinstance(given, (list, tuple)) else [given]
    if not pool:
        raise InputError("learner: expected one learner or more, got none")
    wanted = f"an object such as {'Ridge' if regression else 'Perceptron'}()"
    members = []
    for item in pool:
        if isinstance(item, Group):
            check(item)
        for member in item.members() if isinstance(item, Group) else [Member(item)]:
            learner = _choice("learner", _as_learner(member.learner), wanted)
            of_numbers = getattr(learner, "of_numbers", False) and not getattr(
                learner, "only_classes", False
            )
            if regression and not of_numbers:
                raise InputError(f"learner: {learner!r} is for classes, not for numbers")
            if not regression and not getattr(learner, "of_classes", True):
                raise InputError(f"learner: {learner!r} is for numbers, not for classes")
            method = None if member.scaling == scaling else member.scaling
            members.append(member._replace(learner=learner, scaling=method))
    return tuple(members)


def _as_learner(given: Any) -> Any:
    """A model of another library as the learner that it can be; all else as it is."""
    learns = hasattr(given, "partial_fit") or hasattr(given, "learn_one")
    is_part = hasattr(given, "choice") or isinstance(given, type)
    return External(given) if learns and not is_part else given


def _choice(name: str, choice: Any, wanted: str) -> Any:
    """The choice, if it is of its kind, with parameters in their ranges; else InputError."""
    if isinstance(choice, type) or getattr(choice, "choice", None) != name:
        lacks = not isinstance(choice, type) and hasattr(choice, "rule")
        hint = f', whose class lacks choice = "{name}"' if lacks else ""
        raise InputError(f"{name}: expected {wanted}, got {shown(choice)}{hint}")
    check_part(choice)
    check(choice)
    return choice
