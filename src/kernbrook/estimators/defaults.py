"""The pools of learners where none are named, found by measurement: `benchmarks/shootout.py`."""

from __future__ import annotations

import math
from typing import Any

from kernbrook.features import RandomFeatures
from kernbrook.kernels import Gaussian, Kernel, Polynomial
from kernbrook.learners import BPAS, Cells, GradientDescent, Group, LastLabel, Ridge
from kernbrook.learners.cells import MOST_FEATURES

MANY = MOST_FEATURES  # of a row, beyond which there are neither ranks nor random features
SOLVED = 128  # features up to which a regression is solved on the features themselves
ON_KERNELS = (BPAS(budget=2500, aggressiveness=0.5),)  # where kernels are named, for classes
ON_KERNELS_OF_NUMBERS = (GradientDescent(0.5, "normalized"), Ridge())
LINE = Polynomial(1, offset=1.0)


def default_pool(regression: bool, width: int) -> list[Any]:
    """Learners for rows of so many features: whatever the stream is like, some of them are good.

    Where few labels are wrong: passive-aggressive steps under a budget. Where many are: ridge
    regressions and gradient steps on random features, of all inputs or of few, of moments and of
    ranks. Where the stream drifts: the same with forgetting, and the last label. Where it is long,
    or a few inputs decide by thresholds: cells.
    """
    if width > MANY:
        linear = [Cells(step=step) for step in (0.1, 0.2, 0.4)]
        return [*(ON_KERNELS_OF_NUMBERS if regression else [_few_kernels()]), *linear, LastLabel()]
    of = _of_numbers if regression else _of_classes
    # A regression on the features themselves, where they are few.
    return [*of([LINE] if width <= SOLVED else []), Cells(), LastLabel()]


def _few_kernels() -> Group:
    """For words, whose rows are of length 1, and for images, whose distances are far greater."""
    widths = [Gaussian(sigma=sigma) for sigma in (0.5, 1.0, 4.0, 16.0)]
    return Group(BPAS(budget=1000, aggressiveness=0.5), [Polynomial(2), *widths])


def _of_classes(line: list[Kernel]) -> list[Any]:
    smooth = [gaussian(square) for square in (1.0, 3.16, 10.0, 31.6)]
    slow = Ridge(forgetting=0.998)
    pool = [
        Group(GradientDescent(0.5, "adagrad", loss="logistic"), [LINE, *smooth]),
        Group(slow, [*line, *smooth]),
        Group(Ridge(forgetting=0.98), [*line, *smooth[::2]]),
        Group([Ridge(), slow], [*line, *smooth], "ranks"),
    ]
    for inputs in (1, 4):
        few = RandomFeatures(100, "orthogonal", inputs=inputs)
        both = [Ridge(features=few), Ridge(forgetting=0.998, features=few)]
        kernel = gaussian(float(inputs))
        pool += [Group(both, kernel), Group(both, kernel, "ranks")]
    margins = [Polynomial(1), Polynomial(3), *_doubling(-2, 0), Gaussian(sigma=4.0)]
    return [*pool, Group(list(ON_KERNELS), margins)]


def _of_numbers(line: list[Kernel]) -> list[Any]:
    """Numbers are seldom exact enough for narrow kernels alone to err."""
    narrow = [gaussian(square) for square in (0.1, 0.316, 1.0)]
    wide = [gaussian(square) for square in (3.16, 10.0, 31.6, 100.0)]
    middle, steps = wide[:2], GradientDescent(0.5, "normalized")
    pool = [
        Group(steps, [LINE, *narrow, *wide]),
        Group(Ridge(), [*line, *wide]),
        Group(Ridge(forgetting=0.98), [*line, *narrow]),
        Group(Ridge(forgetting=0.998), [*line, *wide], "ranks"),
        Group(Ridge(features=RandomFeatures(100, "orthogonal")), middle[0]),
        Group(Ridge(features=RandomFeatures(250, "orthogonal")), middle[1]),
        Group(
            GradientDescent(0.5, "normalized", features=RandomFeatures(500, "orthogonal")), middle
        ),
    ]
    for inputs in (1, 2, 4):
        few = RandomFeatures(100, "orthogonal", inputs=inputs)
        pool.append(Group(Ridge(features=few), gaussian(float(inputs))))
    return pool


def gaussian(square: float) -> Kernel:
    """A Gaussian of a squared width sigma^2."""
    return Gaussian(sigma=math.sqrt(square))


def _doubling(first: int, last: int) -> list[Kernel]:
    """Gaussians with sigma = 2^first ... 2^last."""
    return [Gaussian(sigma=2.0**power) for power in range(first, last + 1)]
