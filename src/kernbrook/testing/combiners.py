"""What every combiner and every selection must be able to do."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from kernbrook.combiners import AdaRaker, GroupNorm, Hedge
from kernbrook.engine.compose import loss_of
from kernbrook.errors import InputError
from kernbrook.features import RandomFeatures
from kernbrook.labels import RandomLabels
from kernbrook.learners import GradientDescent, Perceptron
from kernbrook.testing.properties import (
    Subject,
    Task,
    check_model,
    check_object,
    expect,
    model_of,
    tasks,
)


def check_combiner(combiner: Any) -> None:
    """Check a combiner, or a selection, in models of two Gaussians: classes, numbers, as it says.

    With every label and with some of them drawn:

    - Chunks of 1, 7 and all rows give the same predictions, labels asked for, support vectors and
      weights, to the last bit; so do dense and CSR rows.
    - Weights of experts are from 0, and sum to 1.
    - Predictions and rows without labels change nothing; nor does what a label of weight 0 says.
    - After an exception in the middle of a block a model goes on as if nothing had happened.
    - A model goes on from a file as it would have without, where a file can hold the object.
    - Predictions are finite on features of size 1e3.
    - Compiled with NUMBA_BOUNDSCHECK=1, its verbs use no index outside of an array.

    And of the object itself: its clone is equal to it, it prints without an address, and for each
    parameter that is a number it refuses NaN, -1 and a text with InputError.

    Parameters
    ----------
    combiner : the combiner, or the selection

    Raises
    ------
    AssertionError
        The combiner does not have one of these properties; the message says which.

    Examples
    --------
    >>> import kernbrook as kb
    >>> kb.testing.check_combiner(kb.Hedge(0.9, "hinge"))
    """
    choice = getattr(combiner, "choice", None)
    known = choice in ("combiner", "selection")
    expect(known, combiner, 'choice = "combiner", or "selection", is missing')
    own = [task for task in tasks() if _is_for(combiner, task)]
    expect(own, combiner, "it is neither for classes nor for numbers")
    check_object(combiner, lambda other: _model(own[0], other).learn(own[0].X, own[0].y))
    for task in own:
        for labels in ("all", RandomLabels(0.5)):
            subject = Subject(combiner, task, partial(_model, task, combiner, labels))
            check_model(subject)
        model, _, _ = subject.learned(task.X)
        weights = model.expert_weights_
        sound = (weights >= 0).all() and abs(weights.sum() - 1) < 1e-9
        subject.expect(sound, f"weights from 0 that sum to 1 expected, got {weights}")


def _is_for(combiner: Any, task: Task) -> bool:
    numbers = task.classes is None
    if combiner.choice == "selection":
        return True
    try:
        loss_of(combiner, numbers)
    except InputError:
        return False
    return not (numbers and isinstance(combiner, GroupNorm))


def _model(task: Task, combiner: Any, labels: Any = "all") -> Any:
    learner: Any = Perceptron() if task.classes else GradientDescent(0.2, features=None)
    if combiner.choice == "selection":
        weighing = Hedge(loss="mistakes" if task.classes else "squared")
        return model_of(task, learner=learner, combiner=weighing, selection=combiner, labels=labels)
    if isinstance(combiner, GroupNorm):
        learner = None
    if isinstance(combiner, AdaRaker):
        levels = combiner.levels if np.ndim(combiner.levels) == 0 else 1
        steps = range(levels) if isinstance(levels, int) and levels > 0 else range(1)
        learner = [GradientDescent(0.1, features=RandomFeatures(5)) for _ in steps]
    return model_of(task, learner=learner, combiner=combiner, labels=labels)
