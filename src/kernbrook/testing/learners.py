"""What every component learner must be able to do."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from kernbrook.combiners import Hedge
from kernbrook.errors import InputError
from kernbrook.labels import RandomLabels
from kernbrook.testing.properties import (
    Subject,
    Task,
    check_model,
    check_object,
    expect,
    model_of,
    tasks,
    what_is_learned,
)


def check_learner(learner: Any) -> None:
    """Check a learner in models of two Gaussians: two classes, three, numbers, as it says.

    With every label and with some of them drawn:

    - Chunks of 1, 7 and all rows give the same predictions, labels asked for, support vectors and
      weights, to the last bit; so do dense and CSR rows, but for models of other libraries.
    - Predictions, rows without labels and rows of weight 0 change nothing.
    - After an exception in the middle of a block a model goes on as if nothing had happened.
    - A model goes on from a file as it would have without, where a file can hold the learner.
    - Predictions are finite on features of size 1e3.
    - The learner's budget, where it has one, is never exceeded.
    - Compiled with NUMBA_BOUNDSCHECK=1, its verbs use no index outside of an array.

    And of the learner itself: its clone is equal to it, it prints without an address, and for each
    parameter that is a number it refuses NaN, -1 and a text with InputError.

    Parameters
    ----------
    learner : the learner; `of_numbers`, `of_classes` and `only_classes` say what it is for. Three
        classes it may refuse with InputError. An `External` passes with a model that predicts a
        row to the last bit like among others, as trees do and most linear models do not.

    Raises
    ------
    AssertionError
        The learner does not have one of these properties; the message says which.

    Examples
    --------
    >>> import kernbrook as kb
    >>> kb.testing.check_learner(kb.RBP(20))
    """
    expect(getattr(learner, "choice", None) == "learner", learner, 'choice = "learner" is missing')
    numbers = getattr(learner, "of_numbers", False) and not getattr(learner, "only_classes", False)
    classes = getattr(learner, "of_classes", True)
    expect(numbers or classes, learner, "it is neither for classes nor for numbers")
    own = [task for task in tasks() if (numbers if task.classes is None else classes)]
    check_object(learner, lambda other: _model(own[0], other).learn(own[0].X, own[0].y))
    for task in own:
        refused = _refusal(task, learner)
        if refused:
            told = f"it says that it is for {task.name}, but is not: {refused}"
            expect(task.classes == 3, learner, told)
            continue
        for labels in ("all", RandomLabels(0.5)):
            subject = Subject(learner, task, partial(_model, task, learner, labels))
            check_model(subject)
            _check_weightless(subject)
        _check_budget(subject)


def _model(task: Task, learner: Any, labels: Any = "all") -> Any:
    combiner = Hedge(loss="squared" if task.classes is None else "mistakes")
    return model_of(task, learner=learner, combiner=combiner, labels=labels)


def _refusal(task: Task, learner: Any) -> str:
    """What a model says that cannot learn with it; "" of one that can."""
    model = _model(task, learner)
    more = {} if task.classes is None else {"classes": np.arange(task.classes)}
    try:
        model.learn(task.X[:1], task.y[:1], **more)
    except InputError as error:
        return str(error)
    return ""


def _check_weightless(subject: Subject) -> None:
    X = subject.task.X
    model, _, _ = subject.learned(X)
    before = what_is_learned(model, X)
    subject.learn(model, X, slice(0, 30), sample_weight=np.zeros(30))
    same = what_is_learned(model, X) == before
    subject.expect(same, "rows of weight 0 have changed what was learned")


def _check_budget(subject: Subject) -> None:
    budget = getattr(subject.owner, "budget", None)
    if budget is None:
        return
    model = subject.make()
    for start in range(0, len(subject.task.y), 10):
        subject.learn(model, subject.task.X, slice(start, start + 10))
        most = int(model._model.counts.max())
        subject.expect(most <= budget, f"an expert holds {most} support vectors, over its budget")
