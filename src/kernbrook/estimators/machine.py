"""What the composed machine's estimators share: everything but what a label is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from kernbrook.checks import (
    Flag,
    OneOf,
    Or,
    Other,
    Seed,
    Whole,
    row_of_chunk,
    shown,
)
from kernbrook.engine.blocks import Views, as_targets, slices
from kernbrook.engine.deciding import views_of, would_ask
from kernbrook.engine.learning import Told, learn_block
from kernbrook.engine.model import Model
from kernbrook.engine.scalers import Scalers
from kernbrook.engine.session import RowSession
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.estimators.bad_rows import SkipsBadRows, good_rows
from kernbrook.estimators.input_checks import (
    ChecksInput,
    answer_of,
    check_some_weight,
    importance_of,
    row_of,
    warn_of_leap,
)
from kernbrook.estimators.kept import Kept
from kernbrook.estimators.labelled import (
    as_labels,
    check_missing,
    is_empty,
)
from kernbrook.estimators.learned_attributes import LearnedAttributes
from kernbrook.estimators.machine_files import read_run, write_run
from kernbrook.estimators.merging import merged
from kernbrook.estimators.reading import Reads
from kernbrook.estimators.setting_up import SetsUp
from kernbrook.estimators.tasks import Learned, joined
from kernbrook.gram.arrays import Floats
from kernbrook.gram.rows import Range, Rows, check_range, keys_of, range_of
from kernbrook.numerics.pairs import NEAR
from kernbrook.numerics.scaling import METHODS
from kernbrook.snapshots import Snapshots
from kernbrook.turns import changes, held, in_turn

_SUCH_AS = {  # of the parts that have parameters
    "learner": "BPAS()",
    "combiner": "Hedge()",
    "selection": "Selection()",
    "labels": "LabelBudget()",
}


class OnlineMachine(
    ChecksInput, SetsUp, SkipsBadRows, LearnedAttributes, Reads, Kept, Snapshots, BaseEstimator
):
    """Kernels x learner x combiner x selection x labels, as an estimator; see its two kinds."""

    parameter_ranges: ClassVar[dict[str, Any]] = {
        "kernels": Other("'auto', a dictionary's name, a kernel, a function, or a list of these"),
        "learner": Other("None, a learner such as BPAS(), or a list of learners"),
        "combiner": Other("None or a combiner such as Hedge()"),
        "selection": Other("None or a selection such as Selection()"),
        "labels": Other("'all' or a label policy such as LabelBudget()"),
        "random_state": Seed(),
        "scaling": Or(("auto", None), OneOf(tuple(METHODS))),
        "judge_stored": Flag(),
        "dtype": OneOf(tuple(NEAR)),
        "missing_label": Other("None, a number or text", check_missing),
        "on_bad_rows": OneOf(("error", "skip")),
        "delay": Or((None, math.inf), Whole(0)),
    }
    _model: Model
    _of_numbers: bool
    _learned: tuple[str, ...] = (
        "_model", "feature_names_in_", "kernels_", "n_features_in_", "n_rows_skipped_",
    )  # fmt: skip

    def __init__(
        self,
        kernels: Any = "auto",
        learner: Any = None,
        combiner: Any = None,
        selection: Any = None,
        labels: Any = "all",
        random_state: Any = None,
        scaling: str | None = "auto",
        judge_stored: bool = False,
        missing_label: Any = None,
        on_bad_rows: str = "error",
        dtype: str = "float64",
        delay: float | None = None,
    ):
        self.delay = delay
        self.kernels = kernels
        self.learner = learner
        self.combiner = combiner
        self.selection = selection
        self.labels = labels
        self.random_state = random_state
        self.scaling = scaling
        self.judge_stored = judge_stored
        self.missing_label = missing_label
        self.on_bad_rows = on_bad_rows
        self.dtype = dtype

    def set_params(self, **parameters: Any) -> Any:
        """As in scikit-learn; a part must be an object before its parameters can be set."""
        for name in parameters:
            part, nested, _ = name.partition("__")
            value = parameters.get(part, getattr(self, part, None))
            if nested and part in self._get_param_names() and not hasattr(value, "set_params"):
                found = "None, the default," if value is None else shown(value)
                such = _SUCH_AS.get(part)
                if such == "BPAS()" and self._of_numbers:
                    such = "Ridge()"
                hint = "" if such is None else f"; write {part}=kb.{such} first"
                raise InputError(f"{name}: {part} is {found} and has no parameters{hint}")
        return super().set_params(**parameters)

    # -- what a label is, for the kinds to say ------------------------------------------------

    @property
    def _scores(self) -> int:
        """Scores of each expert."""
        raise NotImplementedError

    def _numbers(self, y: NDArray[Any]) -> NDArray[Any]:
        """Labels as the model takes them, `_nothing()` where there is none."""
        raise NotImplementedError

    def _nothing(self) -> Any:
        """What the model takes for a label that cannot be had."""
        raise NotImplementedError

    def _number_of(self, y: Any) -> float | None:
        """One label as the model takes it; None where it has to be looked at more closely."""
        raise NotImplementedError

    def _set_classes(self, y: NDArray[Any], classes: Any) -> None:
        """Learn which labels there are, if they are classes."""

    def _predictions(self, decisions: Floats) -> NDArray[Any]:
        raise NotImplementedError

    def _prediction(self, decision: Floats) -> Any:
        """What is said of one row."""
        raise NotImplementedError

    def _new_calibration(self, inputs: int) -> Any:
        """What learns from the errors of decisions. inputs : see `Model`"""
        raise NotImplementedError

    def _learn_rows(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Learned:
        """What `learn` does."""
        raise NotImplementedError

    def _sure(self, decisions: Floats, leanings: Floats) -> dict[str, Any]:
        """How sure it was of the last block's rows before their labels, as `Learned` has it."""
        return {}

    def _met(self, decisions: Floats) -> NDArray[Any]:
        """What was said of the rows of the last block, before their labels."""
        return self._predictions(decisions)

    def _calibrating(self) -> dict[str, Any]:
        """What the calibration is asked for, by name."""
        return {}

    def _lifts(self, labels: Any, weights: Any) -> Any:
        """(n,) or 1.0: how much more labels count for the experts and their weights."""
        return 1.0

    # -- learning ---------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._forget()
        check_some_weight(sample_weight)
        return self._learn_all(X, y, None, sample_weight)

    def _learn_all(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        """What `fit` and `partial_fit` do: each label is learned from."""
        with self._nothing_half_done(), self._good_ones(X, y, sample_weight) as (X, y, weights):
            if is_empty(X) and "n_rows_skipped_" in vars(self):
                return self  # they are all skipped
            X, y = self._validated(X, y)
            self._set_classes(y, classes)
            self._learn(X, y, weights, given=True)
        return self

    def _learn(self, X: Any, y: Any, sample_weight: Any = None, given: bool = False) -> Learned:
        """Test, ask, train on checked features and labels or an oracle."""
        importance = importance_of(sample_weight, X.shape[0])
        labels = None if callable(y) else self._numbers(y)
        if not hasattr(self, "_model"):
            self._start(X)
        model = self._model
        model.settle()
        # Weights, and those of classes, are relative to those of the labels asked for before.
        several = (importance[importance > 0] != model.usual).any()
        uneven = several or getattr(self, "class_weight", None) is not None
        alone = labels is None or (model.asks and not given and uneven)
        if not alone and (given or not model.asks):
            learned = self._learn_few(X, labels, importance, given)
            if learned is not None:
                return learned
        rows = self._rows(X)  # checked before anything is learned
        check_range(rows.norms, self._allowed(X))
        if not model.setting.judges_stored:
            rows = replace(rows, keys=keys_of(X))  # as they are given: they are scaled anew
        parts = []
        told = y if labels is None else labels
        for where in slices(X.shape[0], 1) if alone else model.pieces(X.shape[0]):
            try:
                parts.append(self._learn_block(X, rows, told, importance, given, where))
                warn_of_leap(X[where], self._model.scaler.leap, where.start)
            except NonFiniteError as error:
                refused = self._refused(X, rows, told, importance, given, where)
                also = "; or give no sample_weight: the rows weigh differently" if several else ""
                raise NonFiniteError(f"{refused}: {error}{also}") from error
        return joined(parts)

    def _learn_few(self, X: Any, labels: Any, importance: Floats, given: bool) -> Learned | None:
        """Learn few rows one by one, all or none; None where a block has to take them."""
        quick = RowSession.for_few(self._model, X)
        if quick is None:
            return None
        targets = as_targets(labels)
        decisions = quick.learn_few(X, targets, importance, self._lifts(labels, importance))
        if decisions is None:
            return None
        warn_of_leap(X, quick.leap(len(X)), 0)
        sure = {} if given else self._sure(decisions, quick.leanings(len(X)))
        return Learned(self._met(decisions), ~np.isnan(targets), decisions, **sure)

    def _learn_block(
        self, X: Any, rows: Rows, y: Any, importance: Floats, given: bool, where: slice
    ) -> Learned:
        """Learn some of the rows, all or none of them; y : their labels, or an oracle for one."""
        views, scaler = self._next(X, rows, where)
        model, oracle = self._model, callable(y)
        if oracle:
            wanted = would_ask(model, views, X[where])[0]
            told = np.array([self._answer(y, X, where.start) if wanted else self._nothing()])
            model = self._model  # an answer may be of a new class
        else:
            told = y[where]
        always, asked_for = given or oracle, self._calibrating()
        weights, lifts = importance[where], self._lifts(told, importance[where])
        block = Told(views, X[where], told, weights, always, asked_for, lifts)
        answer = learn_block(model, block, scaler)
        model.settle()
        sure = {} if given else self._sure(answer.decisions, answer.leanings)
        return Learned(self._met(answer.decisions), answer.asked, answer.decisions, **sure)

    def _refused(
        self, X: Any, rows: Rows, y: Any, importance: Floats, given: bool, where: slice
    ) -> str:
        """Which row of a block that was refused is the first that cannot be learned, in words.

        Found on copies: the rows before it can be learned, and with it they cannot.
        """
        learned, refused = where.start, where.stop
        if self._model.looks_outside and refused > learned + 1:  # copies would take long
            return f"one from {row_of_chunk(learned)} to {row_of_chunk(refused - 1)}"
        while refused > learned + 1:
            trial, middle = object.__new__(type(self)), (learned + refused) // 2
            trial.__dict__.update(vars(self), _model=copy(self._model))
            try:
                trial._learn_block(X, rows, y, importance, given, slice(where.start, middle))
                learned = middle
            except NonFiniteError:
                refused = middle
        return row_of_chunk(learned)

    def _allowed(self, X: Any) -> Range:
        """What rows may be, such as are learned from or these, if they are the first."""
        if "_model" in vars(self):
            return range_of(self._model.scaler.methods, self._model.setting.dtype)
        width = X.shape[-1] if hasattr(X, "shape") else len(X[0])
        return range_of(self._pool(width).scalings, self.dtype)

    def _next(self, X: Any, rows: Rows, where: slice) -> tuple[Views, Scalers]:
        """Some of the rows as the model takes them next, and the scaler once it has met them."""
        part, scaler = rows.part(where.start, where.stop), self._model.scaler.copy()
        return views_of(self._model, scaler.learn(X[where]), part), scaler

    def _answer(self, oracle: Any, X: Any, i: int) -> Any:
        """The oracle's label of a row, as the model takes it."""
        return self._numbers(self._labels_of(answer_of(oracle, X, i)))[0]

    @changes
    def learn_one(
        self, x: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Any:
        """Test, then train on one row, given as (d,) numbers: much quicker than a chunk of one.

        The label is learned from, whatever the policy in `labels`.

        Parameters
        ----------
        x : (d,) float array
        y : its label; None or NaN where there is none
        classes : all labels, on the first call of a classifier
        sample_weight : float or None

        Returns
        -------
        the prediction made before the label was looked at
        """
        if self.on_bad_rows == "skip" and not good_rows([x], self._allowed([x]).norms)[0]:
            return self._learn_rows([x], [y], classes, sample_weight).predictions[0]
        weight = 1.0 if sample_weight is None else importance_of(sample_weight, 1)[0]
        row = row_of(x)
        quick = None if classes is not None else RowSession.of(vars(self).get("_model"))
        if quick is not None:
            label = self._number_of(y) if y.__hash__ is not None else None
            if label is not None:
                decision = quick.learn(row, label, weight, self._lifts(label, weight))
                if decision is not None:
                    if quick.leapt:
                        warn_of_leap(row[None], quick.leap(1), 0)
                    return self._prediction(decision)
        with self._nothing_half_done():
            X, labels = self._checked(np.atleast_2d(row), [y])
            self._set_classes(labels, classes)
            return self._learn(X, labels, sample_weight, given=True).predictions[0]

    # -- in a file ----------------------------------------------------------------------------

    def _kept_parameters(self) -> dict[str, Any]:
        parameters = super()._kept_parameters()
        if "_model" in vars(self) and isinstance(self.random_state, np.random.RandomState):
            parameters["random_state"] = None  # the seed drawn from it is part of the model
        return parameters

    def _write_kept(self, writer: Any, place: str) -> dict[str, Any]:
        model = vars(self).get("_model")
        return {} if model is None else {"run": write_run(self, model, writer)}

    def _read_kept(self, body: Mapping[str, Any], reader: Any) -> None:
        if self._check_has("run", body):
            read_run(self, body["run"], reader)

    def _check_fitted(self, width: int) -> None:
        """Raise InputError where fitted attributes are not those of a run of so many features."""
        if vars(self).get("n_features_in_") != width:
            raise InputError(f"n_features_in_: expected {width} features, as the run has")

    @in_turn
    def state(self) -> dict[str, NDArray[Any]]:
        """All that was learned, by name: the arrays that `kb.save` writes; not to be changed."""
        check_is_fitted(self)
        self._model.settle()
        return self._model.arrays()

    def merge(self, *others: Any, since: Any = None) -> Any:
        """Learn what models of the same parameters have learned apart from this one, in place.

        Each counts by its share of the labels. Exact, as if one model had met all examples of all:
        the statistics of `Ridge` without forgetting, on rows that are scaled alike; losses of
        experts, and with them the weights of `Hedge` and `EXP`, for the experts as they were;
        means, deviations and maxima of features; numbers of rows, labels and mistakes. Averaged:
        steps of `GradientDescent`, kernel expansions, weights and statistics that forget. Under a
        budget the greatest coefficients of the average stay, and the rest is projected on them.
        Ranks, errors and last labels are the last of all models in turn.

        Parameters
        ----------
        *others : models of the same class and parameters; they do not change
        since : a model that all of them were copied from; what it had learned counts once. None:
            they began by themselves. Random features are the same for the same `random_state`

        Returns
        -------
        self

        Raises
        ------
        InputError
            The models differ in parameters, features or random features, or hold what belongs to
            one stream: `External` models, `GroupNorm`, `AdaRaker`. Then nothing changes.

        Examples
        --------
        >>> import kernbrook as kb
        >>> X, y = kb.open_stream("checkerboard:2000").read()
        >>> parts = [kb.OnlineMKClassifier(random_state=0).fit(X[i::2], y[i::2]) for i in (0, 1)]
        >>> both = parts[0].merge(parts[1])
        >>> both.n_rounds_
        2000
        """
        with held(*(one for one in (self, *others, since) if isinstance(one, OnlineMachine))):
            self._merge(others, since)
        return self

    @changes
    def _merge(self, others: Sequence[Any], since: Any) -> None:
        check_is_fitted(self)
        self.__dict__.update(merged(self, others, since))
        self.__dict__.pop("_number", None)

    # -- inside -----------------------------------------------------------------------------

    def _forget(self) -> None:
        for name in self._learned:
            self.__dict__.pop(name, None)

    @contextmanager
    def _nothing_half_done(self) -> Iterator[None]:
        """A first call that fails before it has learned anything leaves no trace."""
        try:
            yield
        except BaseException:
            if not hasattr(self, "_model") or self._model.rounds == 0:
                self._forget()
            raise

    def _is_nothing(self, X: Any, y: Any) -> bool:
        """Whether a chunk has no rows, so that nothing changes. A new model's parameters are
        checked nevertheless."""
        if not is_empty(X):
            return False
        if not (y is None or callable(y)) and len(y := as_labels(y)) > 0:
            raise InputError(f"X has 0 rows but y has {len(y)} labels")
        if not hasattr(self, "_model"):
            trial: Any = clone(self)
            trial.classes_ = np.arange(2)
            trial._start(np.empty((0, max((1, *np.shape(X)[1:2])))))
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
