"""The pools of learners where none are named, found by measurement: `benchmarks/shootout.py`."""

from __future__ import annotations

import math
from typing import Any

from kernbrook.features import RandomFeatures
from kernbrook.kernels import Gaussian, Kernel, Polynomial
from kernbrook.learners import BPAS, GradientDescent, Group, LastLabel, Ridge

MANY = 512  # features of a row, from which on there are neither ranks nor random features
SOLVED = 128  # features up to which a regression is solved on the features themselves
ON_KERNELS = (BPAS(budget=2500, aggressiveness=0.5),)  # where kernels are named, for classes
ON_KERNELS_OF_NUMBERS = (GradientDescent(0.5, "normalized"), Ridge())


def default_pool(regression: bool, width: int) -> list[Any]:
    """Learners for rows of so many features: whatever the stream is like, some of them are good.

    Where few labels are wrong: passive-aggressive steps under a budget. Where many are: ridge
    regressions and gradient steps on random features, of all inputs or of few, of moments and of
    ranks. Where the stream drifts: the same with forgetting, and the last label.
    """
    if width > MANY:
        return [*(ON_KERNELS_OF_NUMBERS if regression else ON_KERNELS), LastLabel()]
    # Squared widths. Numbers are seldom exact enough for narrow kernels alone to err.
    squares = [0.1, 0.316, 1.0, 3.16, 10.0, 31.6, 100.0] if regression else [1.0, 3.16, 10.0, 31.6]
    line, smooth = Polynomial(1, offset=1.0), [_gaussian(square) for square in squares]
    steps: Any = GradientDescent(0.5, "normalized")
    if not regression:
        steps = GradientDescent(0.5, "adagrad", loss="logistic")
    solved = [line, *smooth] if width <= SOLVED else smooth
    steady, slow, quick = Ridge(), Ridge(forgetting=0.998), Ridge(forgetting=0.98)
    pool = [
        Group(steps, [line, *smooth]),
        Group([steady, slow, quick] if regression else [slow, quick], solved),
        Group([steady, slow], solved, "ranks"),
    ]
    for inputs in (1, 2, 4):
        kernel = _gaussian(float(inputs))
        if regression:
            few = RandomFeatures(200, "orthogonal", inputs=inputs)
            pool.append(Group(Ridge(features=few), kernel))
            continue
        few = RandomFeatures(100, "orthogonal", inputs=inputs)
        both = [Ridge(features=few), Ridge(forgetting=0.998, features=few)]
        pool += [Group(both, kernel), Group(both, kernel, "ranks")]
    if not regression:
        margins = [*(Polynomial(degree) for degree in (1, 2, 3)), *_doubling(-3, 3)]
        pool.append(Group(list(ON_KERNELS), margins))
    return [*pool, LastLabel()]


def _gaussian(square: float) -> Kernel:
    """A Gaussian of a squared width sigma^2."""
    return Gaussian(sigma=math.sqrt(square))


def _doubling(first: int, last: int) -> list[Kernel]:
    """Gaussians with sigma = 2^first ... 2^last."""
    return [Gaussian(sigma=2.0**power) for power in range(first, last + 1)]
