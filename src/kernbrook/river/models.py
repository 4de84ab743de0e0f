"""`OnlineMKClassifier` and `OnlineMKRegressor` as models of River.

A machine of ours has rows of a fixed width. So names of features get columns in the order in which
they first come, and the machine is widened when there are more: by half, so that this is seldom.
All kernels are functions of inner products and distances, and all scaling is column by column: a
column that was 0 in all rows so far changes nothing of what was learned on kernels. The result is
that of a machine that has had all columns from the beginning. On features, random ones of all
inputs get frequencies for the new ones; the others (of few inputs; monomials) are drawn anew, and
experts on them begin anew.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from river import base
from river.active.base import ActiveLearningClassifier

from kernbrook import recipes
from kernbrook.checks import shown
from kernbrook.errors import InputError
from kernbrook.estimators.by_name import Columns
from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.estimators.labels import as_labels, distinct, present
from kernbrook.estimators.regressor import OnlineMKRegressor
from kernbrook.estimators.transformer import KernelFeatures as Estimator
from kernbrook.features import Nystroem, RandomFeatures
from kernbrook.gram.arrays import Floats
from kernbrook.kernels import Gaussian
from kernbrook.labels import MarginSampling
from kernbrook.learners import BPAS, Ridge
from kernbrook.snapshots import Snapshots
from kernbrook.turns import changes, in_turn

WAITING = 1000  # rows of one class that wait at most

Features = Mapping[Hashable, Any]


class Machine(Snapshots, base.Estimator):
    """See `MKClassifier` and `MKRegressor`."""

    kind: ClassVar[type[Any]]
    estimator: Any

    @classmethod
    def of(cls, model: Any, seed: int | None = None) -> Self:
        """A machine with the parameters of an estimator, or with those of a recipe by its name.

        Parameters
        ----------
        model : `OnlineMKClassifier` or `OnlineMKRegressor`; what it has learned is left behind
        seed : its `random_state`, if that is a number, by default
        """
        model = recipes.make(model) if isinstance(model, str) else model
        if type(model) is not cls.kind:
            raise InputError(f"model: expected {cls.kind.__name__}, got {shown(model)}")
        given = model.get_params(deep=False)
        random_state = given.pop("random_state")
        seed = random_state if seed is None and isinstance(random_state, int) else seed
        names = set(inspect.signature(cls).parameters)
        fresh = cls.kind().get_params(deep=False)
        for name in given.keys() - names:
            if given[name] != fresh[name]:
                raise InputError(f"model: {cls.__name__} has no parameter {name}")
        return cls(**{name: given[name] for name in names - {"seed"}}, seed=seed)

    def _begin(self, given: dict[str, Any]) -> None:
        """Make the estimator, of the parameters that `__init__` was given, by their names."""
        parameters = {name: value for name, value in given.items() if name != "self"}
        self.__dict__.update(parameters)
        self.estimator = self.kind(random_state=parameters.pop("seed"), **parameters)
        self._columns = Columns()

    @property
    def _begun(self) -> bool:
        return "n_features_in_" in vars(self.estimator)

    @property
    def _width(self) -> int:
        return self.estimator.n_features_in_ if self._begun else max(1, len(self._columns))

    def _row_of(self, x: Features) -> Floats:
        return self._fitting(self._columns.row(x, self._width, adds=True))

    def _rows_of(self, X: Any) -> Floats:
        return self._fitting(self._columns.rows(X, self._width, adds=True))

    def _fitting(self, rows: Floats) -> Floats:
        width, known_width = rows.shape[-1], self._width
        if width <= known_width:
            return rows
        self.estimator._widen(max(width, known_width * 3 // 2))
        more = self._width - width
        return np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, more)])

    def _seen(self, x: Features) -> Floats:
        return self._columns.row(x, self._width, adds=False)

    def _all_seen(self, X: Any) -> Floats:
        return self._columns.rows(X, self._width, adds=False)

    @in_turn
    def predict_many(self, X: Any) -> Any:
        """A series with what is said of each row of a frame."""
        import pandas as pd

        if self._begun:
            return pd.Series(self.estimator.predict(self._all_seen(X)), index=X.index)
        prediction = self.predict_one({})
        kind = None if type(prediction) is float else object
        return pd.Series([prediction] * len(X), index=X.index, dtype=kind)


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
    The defaults have other parts from 129 and from 513 features on, and scale in another way from
    4,097 on: all is learned anew when so many have come. For text name a learner, and
    `scaling=None`.

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
        self._begin(locals())
        self._waiting: deque[tuple[Floats, Any, float]] = deque(maxlen=WAITING)

    @changes
    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> None:
        """Learn from a row and its label, by its weight; None is a round without a label."""
        self._learn(self._row_of(x), y, w)

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
        for i, values in enumerate(rows):
            X[i, : len(values)] = values
        self.estimator.partial_fit(X, [*given], classes=classes, sample_weight=[*weights])
        self._waiting.clear()

    @in_turn
    def predict_one(self, x: Features, **kwargs: Any) -> Any:
        """The label of a row; None before the first label."""
        if not self._begun:
            return self._waiting[-1][1] if self._waiting else None
        prediction = self.estimator.predict_one(self._seen(x))
        return prediction.item() if isinstance(prediction, np.generic) else prediction

    @in_turn
    def predict_proba_one(self, x: Features, **kwargs: Any) -> dict[Hashable, float]:
        """The probability of each class so far."""
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
        rows, labels, i = self._rows_of(X), y.tolist(), 0
        while i < len(labels) and not self._begun:
            self._learn(rows[i], labels[i], w)
            i += 1
        weights = weights_of(w, len(labels) - i)
        if i < len(labels):
            self.estimator.partial_fit(rows[i:], labels[i:], sample_weight=weights)

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


class MKRegressor(Machine, base.MiniBatchRegressor):
    """Online learning with many kernels, as a regressor of River.

    `OnlineMKRegressor` on dicts; of features that come and vanish see `MKClassifier`.

    Parameters
    ----------
    kernels, learner, combiner, selection, labels, scaling, center, judge_stored :
        As of `OnlineMKRegressor`; all have its defaults, which need no settings
    seed : int or None, of all draws

    Attributes
    ----------
    estimator : the `OnlineMKRegressor`, with `kernel_weights_`, `memory_bytes_` and so on

    Notes
    -----
    The defaults have other parts from 129 and from 513 features on, and scale in another way from
    4,097 on: all is learned anew when so many have come.

    Examples
    --------
    >>> import kernbrook as kb
    >>> from river import datasets, evaluate, metrics
    >>> model = kb.river.MKRegressor(seed=0)
    >>> error = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> bool(error.get() < 0.3)
    True
    """

    kind = OnlineMKRegressor

    def __init__(
        self,
        kernels: Any = "auto",
        learner: Any = None,
        combiner: Any = None,
        selection: Any = None,
        labels: Any = "all",
        scaling: str | None = "auto",
        center: bool = True,
        judge_stored: bool = False,
        seed: int | None = None,
    ):
        self._begin(locals())

    @changes
    def learn_one(self, x: Features, y: Any, w: float = 1.0) -> None:
        """Learn from a row and its number, by its weight; None is a round without a label."""
        y = y.item() if isinstance(y, np.generic) else y
        self.estimator.learn_one(self._row_of(x), y, sample_weight=weights_of(w, 1))

    @in_turn
    def predict_one(self, x: Features, **kwargs: Any) -> float:
        """The number expected for a row; 0 before the first label."""
        return float(self.estimator.predict_one(self._seen(x))) if self._begun else 0.0

    @changes
    def learn_many(self, X: Any, y: Any, w: float = 1.0) -> None:
        """Learn from the rows of a frame of pandas and a series of numbers, one by one."""
        rows = self._rows_of(X)
        self.estimator.partial_fit(rows, np.asarray(y), sample_weight=weights_of(w, len(rows)))

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"kernels": Gaussian(sigma=2.0), "learner": Ridge(features=RandomFeatures(10))}


def weights_of(w: float, n: int) -> Floats | None:
    """The weight of one row, or of each of n, as our estimators take it."""
    return None if w == 1.0 else np.full(n, w)


# -- which labels to ask for, and features --------------------------------------------------------


class PolicySampler(ActiveLearningClassifier):
    """Active learning where the label policy of an `MKClassifier` says which labels to ask for.

    Each prediction says besides whether the label is wanted, as those of River's
    `EntropySampler`. A row whose label is not wanted is then a round without a label: policies
    count these. So predict each row once, and give the labels that are wanted to `learn_one`.

    Parameters
    ----------
    classifier : an `MKClassifier` with `labels`, or a pipeline that ends with one

    Examples
    --------
    >>> import kernbrook as kb
    >>> from river import datasets, preprocessing
    >>> machine = kb.river.MKClassifier(learner=kb.BPAS(50), labels=kb.MarginSampling(), seed=0)
    >>> model = kb.river.PolicySampler(preprocessing.StandardScaler() | machine)
    >>> used = 0
    >>> for x, y in datasets.Phishing():
    ...     said, ask = model.predict_one(x)
    ...     if ask:
    ...         used += 1
    ...         model.learn_one(x, y)
    >>> 100 < used < 1000
    True
    """

    def __init__(self, classifier: Any):
        super().__init__(classifier)
        steps = getattr(classifier, "steps", {0: classifier})
        if not isinstance([*steps.values()][-1], MKClassifier):
            raise InputError(
                f"classifier: expected an MKClassifier, or a pipeline that ends with one, "
                f"got {classifier}"
            )

    def predict_one(self, x: Features, **kwargs: Any) -> tuple[Any, bool]:
        """The label of a row, and whether its own is wanted."""
        prediction = self.classifier.predict_one(x, **kwargs)
        return prediction, self._ask_for_label(x, prediction)

    def _ask_for_label(self, x: Any, y_pred: Any) -> bool:
        *before, machine = getattr(self.classifier, "steps", {0: self.classifier}).values()
        for step in before:
            x = step.transform_one(x)
        asks: bool = machine.asks(x)
        if not asks:
            machine.learn_one(x, None)
        return asks

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"classifier": MKClassifier(learner=BPAS(10), labels=MarginSampling())}


class KernelFeatures(Snapshots, base.MiniBatchTransformer):
    """Features whose inner products are near kernels, as a transformer of River.

    `kernbrook.KernelFeatures` on dicts. What a row does not have, and None or NaN, counts as 0.
    Random features of Gaussians and Laplacians, and sketches, get new draws for a name that comes
    later: features of rows without it stay as they are. Other maps ignore such names.

    Parameters
    ----------
    kernel, features : as of `kernbrook.KernelFeatures`
    seed : int or None, of the draws

    Attributes
    ----------
    estimator : the `kernbrook.KernelFeatures`

    Examples
    --------
    >>> import kernbrook as kb
    >>> from river import datasets, evaluate, linear_model, metrics, optim, preprocessing
    >>> waves = kb.river.KernelFeatures(kb.Gaussian(sigma=4), kb.RandomFeatures(100), seed=0)
    >>> logistic = linear_model.LogisticRegression(optim.SGD(1.0))
    >>> model = preprocessing.StandardScaler() | waves | logistic
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> bool(accuracy.get() > 0.85)
    True
    """

    def __init__(self, kernel: Any = None, features: Any = None, seed: int | None = None):
        self.kernel = kernel
        self.features = features
        self.seed = seed
        self.estimator = Estimator(kernel, features, random_state=seed)
        self._columns, self._grows = Columns(), True
        self._names: list[str] = []  # of what comes out

    @changes
    def learn_one(self, x: Features) -> None:
        """Draw for the names of a row that are new."""
        self._meet(x)

    @changes
    def learn_many(self, X: Any) -> None:
        """Draw for the columns of a frame that are new."""
        self._meet(X.columns)

    def _meet(self, names: Iterable[Hashable]) -> None:
        new = [name for name in names if name not in self._columns]
        if not (new and self._grows):
            return
        needed = len(self._columns) + len(new)
        if not self._names:
            given = self.features if isinstance(self.features, (list, tuple)) else [self.features]
            if any(isinstance(recipe, Nystroem) and recipe.landmarks is None for recipe in given):
                raise InputError("features: on a stream Nystroem needs landmarks")
            self.estimator.fit(np.zeros((1, needed)))
            self._names = self.estimator.get_feature_names_out().tolist()
        elif needed > self._width:
            self._grows = self.estimator._widen(max(needed, self._width * 3 // 2))
        if self._grows:
            self._columns.add(new)

    @property
    def _width(self) -> int:
        return int(self.estimator.n_features_in_)

    @in_turn
    def transform_one(self, x: Features) -> dict[Hashable, float]:
        """The features of a row, by name; none before any name is known."""
        if not self._names:
            return {}
        values = self.estimator.transform(self._columns.row(x, self._width, adds=False)[None])
        return dict(zip(self._names, values[0].tolist(), strict=True))

    @in_turn
    def transform_many(self, X: Any) -> Any:
        """A frame of the features of each row of a frame."""
        import pandas as pd

        if not self._names:
            return pd.DataFrame(index=X.index)
        values: Floats = self.estimator.transform(self._columns.rows(X, self._width, adds=False))
        return pd.DataFrame(values, index=X.index, columns=self._names)
