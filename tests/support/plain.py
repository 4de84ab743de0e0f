"""The machine as the papers have it: rows as they are, each judged, perceptrons by default."""

from typing import Any

import kernbrook as kb


def classifier(
    kernels: Any = "omkc16", learner: Any = None, combiner: Any = None, *others: Any, **named: Any
) -> kb.OnlineMKClassifier:
    """`OnlineMKClassifier` without scaling; every row is judged."""
    if learner is None and not isinstance(combiner, kb.GroupNorm):
        learner = kb.Perceptron()
    combiner = kb.FixedShare() if combiner is None else combiner
    named = {"scaling": None, "judge_stored": True, **named}
    return kb.OnlineMKClassifier(kernels, learner, combiner, *others, **named)


def regressor(
    kernels: Any = "amkl17", learner: Any = None, combiner: Any = None, *others: Any, **named: Any
) -> kb.OnlineMKRegressor:
    """`OnlineMKRegressor` without scaling or an offset; every row is judged."""
    learner = kb.Ridge() if learner is None else learner
    combiner = kb.MLPoly("squared") if combiner is None else combiner
    named = {"scaling": None, "center": False, "judge_stored": True, **named}
    return kb.OnlineMKRegressor(kernels, learner, combiner, *others, **named)
