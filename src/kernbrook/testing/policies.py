"""What every label policy must be able to do."""

from __future__ import annotations

from functools import partial
from typing import Any

from kernbrook.engine.needs import needs
from kernbrook.features import RandomFeatures
from kernbrook.learners import Perceptron, Ridge
from kernbrook.testing.properties import (
    Subject,
    Task,
    check_model,
    check_object,
    expect,
    model_of,
    tasks,
)


def check_policy(policy: Any) -> None:
    """Check a label policy in models of two Gaussians: two classes, three, and numbers.

    - Chunks of 1, 7 and all rows give the same predictions, labels asked for, support vectors and
      weights, to the last bit; so do dense and CSR rows.
    - The first label is asked for; `should_ask` says what the next round does; labels that
      `partial_fit` is given are all learned from.
    - Predictions and rows without labels change nothing; nor does what a label of weight 0 says.
    - After an exception in the middle of a block a model goes on as if nothing had happened.
    - A model goes on from a file as it would have without, where a file can hold the policy.
    - Predictions are finite on features of size 1e3.
    - Compiled with NUMBA_BOUNDSCHECK=1, its verbs use no index outside of an array.

    And of the policy itself: its clone is equal to it, it prints without an address, and for each
    parameter that is a number it refuses NaN, -1 and a text with InputError.

    Parameters
    ----------
    policy : the policy; not for numbers where it needs classes

    Raises
    ------
    AssertionError
        The policy does not have one of these properties; the message says which.

    Examples
    --------
    >>> import kernbrook as kb
    >>> kb.testing.check_policy(kb.RandomLabels(0.3))
    """
    expect(getattr(policy, "choice", None) == "labels", policy, 'choice = "labels" is missing')
    own = [task for task in tasks() if task.classes or "classes" not in needs(policy)]
    check_object(policy, lambda other: _model(own[0], other).learn(own[0].X, own[0].y))
    for task in own:
        subject = Subject(policy, task, partial(_model, task, policy))
        check_model(subject)
        _check_asking(subject)


def _model(task: Task, policy: Any) -> Any:
    on_features = "variances" in needs(policy) or task.classes is None
    learner: Any = Ridge(features=RandomFeatures(5)) if on_features else Perceptron()
    return model_of(task, learner=learner, labels=policy)


def _check_asking(subject: Subject) -> None:
    X, y = subject.task.X, subject.task.y
    model = subject.make()
    _, asked = subject.learn(model, X, slice(0, 1))
    subject.expect(asked[0], "the first label is not asked for")
    for t in range(1, 40):
        wanted = model.should_ask(X[t : t + 1])[0]
        _, asked = subject.learn(model, X, slice(t, t + 1))
        subject.expect(asked[0] == wanted, "`should_ask` does not say what the round does")
    given = subject.make().partial_fit(X, y)
    subject.expect(
        given.labels_asked_ == len(y), "labels that are given have not all been learned from"
    )
