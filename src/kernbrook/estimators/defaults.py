"""The pools of learners where none are named, found by measurement: `benchmarks/shootout.py`."""

from __future__ import annotations

import math
from typing import Any

from kernbrook.features import RandomFeatures
from kernbrook.kernels import Gaussian, Kernel, Polynomial
from kernbrook.learners import BPAS, BoostedTrees, Cells, GradientDescent, Group, LastLabel, Ridge
from kernbrook.learners.cells import MOST_FEATURES

MANY = MOST_FEATURES  # of a row, beyond which there are neither ranks nor random features
KEPT = 2**19  # numbers in the rows on which trees are fitted, where these are over 4,096 rows
SOLVED = 128  # features up to which a regression is solved on the features themselves
ON_KERNELS = (BPAS(budget=2500, aggressiveness=0.5),)  # where kernels are named, for classes
ON_KERNELS_OF_NUMBERS = (GradientDescent(0.5, "normalized"), Ridge())
LINE = Polynomial(1, offset=1.0)


def default_pool(regression: bool, width: int, scores: int = 1) -> list[Any]:
    """Learners for rows of so many features: whatever the stream is like, some of them are good.

    Where few labels are wrong: passive-aggressive steps under a budget. Where many are: ridge
    regressions and gradient steps on random features, of all inputs or of few, of moments and of
    ranks. Where the stream drifts: the same with forgetting, and the last label. Where it is long,
    or a few inputs decide by thresholds: cells. Where thresholds change: boosted trees.
    """
    if width > MANY:
        linear = [Cells(step=step) for step in (0.1, 0.2, 0.4)]
        return [*(ON_KERNELS_OF_NUMBERS if regression else [_few_kernels()]), *linear, LastLabel()]
    line: list[Kernel] = [LINE] if width <= SOLVED else []  # solved on the features themselves
    pool = _of_numbers(line) if regression else _of_classes(line, scores > 1)
    window = min(16_384, max(4096, KEPT // width))
    return [*pool, Cells(), BoostedTrees(window=window), LastLabel()]


def _few_kernels() -> Group:
    """For words, whose rows are of length 1, and for images, whose distances are far greater."""
    kernels = [Polynomial(1), Polynomial(2), Gaussian(sigma=4.0), Gaussian(sigma=16.0)]
    return Group(BPAS(budget=1000, aggressiveness=0.5), kernels)


def _of_classes(line: list[Kernel], many: bool) -> list[Any]:
    """Between two classes 500 examples tell as much as 2,500 do; between many they do not."""
    near, middle, wide = (gaussian(square) for square in (1.0, 3.16, 31.6))
    logistic = GradientDescent(0.5, "adagrad", loss="logistic")
    on_many = GradientDescent(
        0.5, "adagrad", loss="logistic", features=RandomFeatures(200, "orthogonal")
    )
    steady, slow, fast = Ridge(), Ridge(forgetting=0.998), Ridge(forgetting=0.98)
    return [
        Group(logistic, [LINE, near, middle, wide]),
        Group(on_many, gaussian(10.0)),
        *([Group(slow, line)] if line else []),
        Group(fast, [*line, middle, wide]),
        Group(steady, [middle, wide]),
        Group(steady, middle, "ranks"),
        Group(slow, near, "ranks"),
        Group(fast, [middle, wide], "ranks"),
        _on_few_inputs(1, 75, [1.0, 0.998], "ranks"),
        _on_few_inputs(2, 100, [0.998], "ranks"),
        _on_few_inputs(2, 50, [1.0], "ranks"),
        _on_few_inputs(4, 100, [1.0, 0.998]),
        _on_few_inputs(4, 100, [1.0], "ranks"),
        Group(BPAS(2500 if many else 500, 0.5), [Polynomial(1), Gaussian(sigma=0.25), near]),
        Group(BPAS(1000 if many else 500, 0.5), near, "ranks"),
    ]


def _on_few_inputs(
    inputs: int, n: int, forgetting: list[float], scaling: str | None = None
) -> Group:
    """Regressions on random features, each of so many inputs."""
    features = RandomFeatures(n, "orthogonal", inputs=inputs)
    solved = [Ridge(forgetting=one, features=features) for one in forgetting]
    return Group(solved, gaussian(float(inputs)), scaling)


def _of_numbers(line: list[Kernel]) -> list[Any]:
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
        *(_on_few_inputs(inputs, 100, [1.0]) for inputs in (1, 2, 4)),
    ]


def gaussian(square: float) -> Kernel:
    """A Gaussian of a squared width sigma^2."""
    return Gaussian(sigma=math.sqrt(square))
