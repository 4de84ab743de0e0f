"""`OnlineMKClassifier` as a classifier of River."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from river import base

from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.estimators.labelled import as_labels, distinct, present
from kernbrook.gram.arrays import Floats
from kernbrook.kernels import Gaussian
from kernbrook.labels import MarginSampling
from kernbrook.learners import BPAS
from kernbrook.river.wrapper import Features, Machine, weights_of
from kernbrook.turns import changes, in_turn

WAITING = 1000  # rows of one class that wait at most


class MKClassifier(Machine, base.MiniBatchClassifier):
    """Online learning with many kernels, as a classifier of River.

    `OnlineMKClassifier` on dicts. Features may come, vanish and come again: what a row does not
    have, and None or NaN, counts as 0, as in River's linear models. That is 0 before the scaling
    of the machine; with River's `StandardScaler` before it, 0 is the mean. A name that comes for
    the first time in a row to predict is ignored. Classes may come later. The last 1,000 rows
    wait until there are two classes; True and False are two from the beginning.

    Parameters
    ----------
    kernels, learner, combiner, selection, scaling, judge_stored, class_weight, threshold :
        As of `OnlineMKClassifier`; all have its defaults, which need no settings
    labels : "all" or a policy such as `MarginSampling()`
        Whose label `PolicySampler` asks for; `learn_one` learns from all that it is given.
    seed : int or None, of all draws

    Attributes
    ----------
    estimator : the `OnlineMKClassifier`, with `kernel_weights_`, `memory_bytes_` and so on

    Notes
    -----
    The defaults have other parts from 513 features on, and scale in another way from 4,097 on:
    all is learned anew when so many have come. For text name a learner, and `scaling=None`.

    Examples
    --------
    >>> import kernbrook as kb
    >>> from river import datasets, evaluate, metrics
    >>> model = kb.river.MKClassifier(learner=kb.BPAS(50), seed=0)
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> bool(accuracy.get() > 0.85)
    True
    >>> kb.river.MKClassifier.of("kernbrook-small").learn_one({"a": 1.0}, True)
    """

    kind = OnlineMKClassifier

    def __init__(
        self,
        kernels: Any = "auto",
        learner: Any = None,
        combiner: Any = None,
        selection: Any = None,
        labels: Any = "all",
        scaling: str | None = "auto",
        judge_stored: bool = False,
        class_weight: Any = None,
        threshold: Any = None,
        seed: int | None = None,
    ):
        self.kernels = kernels
        self.learner = learner
        self.combiner = combiner
        self.selection = selection
        self.labels = labels
        self.scaling = scaling
        self.judge_stored = judge_stored
        self.class_weight = class_weight
        self.threshold = threshold
        self.seed = seed
        self._waiting: deque[tuple[Floats, Any, float]] = deque(maxlen=WAITING)
        self._begin()

    @changes
    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> None:
        """Learn from a row and its label; None is a round without a label.

        Parameters
        ----------
        x : dict of numbers
        y : bool, int or str
        w : weight of the row
        """
        self._learn(self._met(x), y, w)

    def _learn(self, row: Floats, y: Any, w: float) -> None:
        if self._begun:
            self.estimator.learn_one(row, y, sample_weight=weights_of(w, 1))
        elif present(as_labels([y]))[0]:
            self._wait(row, y, w)

    def _wait(self, row: Floats, y: Any, w: float) -> None:
        """Keep a row until two classes are known, then learn from all that wait."""
        rows, given, weights = zip(*self._waiting, (row, y, w), strict=True)
        both = isinstance(y, (bool, np.bool_))
        classes = distinct(as_labels([False, True, *given] if both else [*given]))
        if len(classes) < 2:
            self._waiting.append((row, y, w))
            return
        X = np.zeros((len(rows), self._width))
        for i, own in enumerate(rows):
            X[i, : len(own)] = own
        self.estimator.partial_fit(X, [*given], classes=classes, sample_weight=[*weights])
        self._waiting.clear()

    @in_turn
    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        """The label of a row; None before the first label.

        Parameters
        ----------
        x : dict of numbers
        """
        if not self._begun:
            return self._waiting[-1][1] if self._waiting else None
        said = self.estimator.predict_one(self._seen(x))
        return said.item() if isinstance(said, np.generic) else said

    @in_turn
    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Hashable, float]:
        """The probability of each class so far.

        Parameters
        ----------
        x : dict of numbers
        """
        if not self._begun:
            return {self._waiting[-1][1]: 1.0} if self._waiting else {}
        chances = self.estimator.predict_proba_one(self._seen(x))
        return dict(zip(self.estimator.classes_.tolist(), chances.tolist(), strict=True))

    @in_turn
    def asks(self, x: Features) -> bool:
        """Whether the policy in `labels` wants the label of a row, if it came next."""
        return not self._begun or bool(self.estimator.should_ask(self._seen(x)[None])[0])

    @changes
    def learn_many(self, X: Any, y: Any, w: float = 1.0) -> None:
        """Learn from the rows of a frame of pandas and a series of labels, one after the other."""
        rows, labels, i = self._all_met(X), y.tolist(), 0
        while i < len(labels) and not self._begun:
            self._learn(rows[i], labels[i], w)
            i += 1
        weights = weights_of(w, len(labels) - i)
        if i < len(labels):
            self.estimator.partial_fit(rows[i:], labels[i:], sample_weight=weights)

    @in_turn
    def predict_many(self, X: Any) -> Any:
        """A series with the label of each row of a frame."""
        import pandas as pd

        if not self._begun:
            return pd.Series([self.predict_one({})] * len(X), index=X.index, dtype=object)
        return pd.Series(self.estimator.predict(self._all_seen(X)), index=X.index)

    @in_turn
    def predict_proba_many(self, X: Any) -> Any:
        """A frame with the probabilities, a column a class."""
        import pandas as pd

        if not self._begun:
            return pd.DataFrame([self.predict_proba_one({})] * len(X), index=X.index)
        chances = self.estimator.predict_proba(self._all_seen(X))
        return pd.DataFrame(chances, index=X.index, columns=self.estimator.classes_.tolist())

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        few = [Gaussian(sigma=1.0), Gaussian(sigma=4.0)]
        yield {"kernels": few, "learner": BPAS(10), "labels": MarginSampling()}
