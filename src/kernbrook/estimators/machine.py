"""What the composed machine's estimators share: everything but what a label is."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from kernbrook.checks import (
    COUNTED,
    SMALLEST,
    Flag,
    OneOf,
    Or,
    Other,
    Seed,
    Whole,
    ask_for,
    check,
    counted,
    placed,
    real,
    row_of_chunk,
    shown,
)
from kernbrook.engine.blocks import Views, as_targets, slices
from kernbrook.engine.deciding import Leant, lean, rows_of, views_of, would_ask
from kernbrook.engine.going_on import widen
from kernbrook.engine.horizons.committees import waiting
from kernbrook.engine.learning import Told, learn_block
from kernbrook.engine.model import Model
from kernbrook.engine.pool import Expert, experts_of
from kernbrook.engine.progress import MOST_ROUNDS
from kernbrook.engine.same import same
from kernbrook.engine.scalers import LARGEST_FILLED, Scalers
from kernbrook.engine.session import RowSession
from kernbrook.engine.stores.base import Setting
from kernbrook.errors import InputError, KernbrookWarning, NonFiniteError
from kernbrook.estimators.bad_rows import good_rows, runs
from kernbrook.estimators.labelled import (
    as_labels,
    check_missing,
    check_present,
    is_empty,
    without,
)
from kernbrook.estimators.making import Pool, make_model, pool_of, shared_kernels
from kernbrook.estimators.merging import merged
from kernbrook.estimators.tasks import Learned, joined
from kernbrook.estimators.validating import in_words
from kernbrook.gram.points import (
    Flags,
    Floats,
    Labels,
    Range,
    Rows,
    canonical,
    check_range,
    keys_of,
    range_of,
    sound,
)
from kernbrook.kernels.dictionaries import check_vectors, of_vectors
from kernbrook.numerics.pairs import NEAR
from kernbrook.numerics.scaling import METHODS, NO_LEAP
from kernbrook.snapshots import Snapshots
from kernbrook.turns import changes, held, in_turn

LARGEST_WEIGHT = 1e100
_SUCH_AS = {  # of the parts that have parameters
    "learner": "BPAS()",
    "combiner": "Hedge()",
    "selection": "Selection()",
    "labels": "LabelBudget()",
}


class OnlineMachine(Snapshots, BaseEstimator):
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
        "on_bad_rows": OneOf(("raise", "skip")),
        "delay": Or((None, math.inf), Whole(0)),
    }
    _run: Model
    _of_numbers: bool
    _learned: tuple[str, ...] = (
        "_run", "feature_names_in_", "kernels_", "n_features_in_", "n_rows_skipped_",
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
        on_bad_rows: str = "raise",
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
        """Labels as the run takes them, `_nothing()` where there is none."""
        raise NotImplementedError

    def _nothing(self) -> Any:
        """What the run takes for a label that cannot be had."""
        raise NotImplementedError

    def _number_of(self, y: Any) -> float | None:
        """One label as the run takes it; None where it has to be looked at more closely."""
        raise NotImplementedError

    def _set_classes(self, y: NDArray[Any], classes: Any) -> None:
        """Learn which labels there are, if they are classes."""

    def _predictions(self, decisions: Floats) -> NDArray[Any]:
        raise NotImplementedError

    def _prediction(self, decision: Floats) -> Any:
        """What is said of one row."""
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

    def _new_calibration(self, inputs: int) -> Any:
        """What learns from the errors of decisions. inputs : see `Model`"""
        raise NotImplementedError

    @property
    def _weighs(self) -> bool:
        """Whether labels have weights of their own."""
        return False

    def _weighed(self, labels: NDArray[Any], weights: Floats) -> Floats:
        """The weights that rows are learned from with."""
        return weights

    @property
    def _by_what_was_asked(self) -> bool:
        """Whether weights depend on the labels that were asked for before."""
        return False

    # -- learning ---------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._forget()
        check_some_weight(sample_weight)
        return self._learn_all(X, y, None, sample_weight)

    def _learn_all(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        """What `fit` and `partial_fit` do: each label is learned from."""
        X, y, sample_weight, places = self._good_ones(X, y, sample_weight)
        if is_empty(X) and vars(self).get("n_rows_skipped_"):
            return self  # they are all skipped
        with self._nothing_half_done(), placed(places):
            X, y = self._validated(X, y)
            self._set_classes(y, classes)
            self._learn(X, y, sample_weight, given=True)
        return self

    def _learn_rows(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Learned:
        """What `learn` does."""
        raise NotImplementedError

    def _learn(self, X: Any, y: Any, sample_weight: Any = None, given: bool = False) -> Learned:
        """Test, ask, train on checked features and labels or an oracle."""
        importance = importance_of(sample_weight, X.shape[0])
        labels = None if callable(y) else self._numbers(y)
        if not hasattr(self, "_run"):
            self._start(X)
        run = self._run
        run.settle()
        alone = labels is None or (run.asks and not given and self._by_what_was_asked)
        if not alone and (given or not run.asks):
            learned = self._learn_few(X, labels, importance, given)
            if learned is not None:
                return learned
        rows = self._rows(X)  # checked before anything is learned
        check_range(rows.norms, self._allowed(X))
        if not run.setting.judges_stored:
            rows = replace(rows, keys=keys_of(X))  # as they are given: they are scaled anew
        parts = []
        told = y if labels is None else labels
        for where in slices(X.shape[0], 1) if alone else run.pieces(X.shape[0]):
            try:
                parts.append(self._learn_block(X, rows, told, importance, given, where))
                warn_of_leap(X[where], self._run.scaler.leap, where.start)
            except NonFiniteError as error:
                refused = self._refused(X, rows, told, importance, given, where)
                raise NonFiniteError(f"{refused}: {error}") from error
        return joined(parts)

    def _learn_few(self, X: Any, labels: Any, importance: Floats, given: bool) -> Learned | None:
        """Learn few rows one by one, all or none; None where a block has to take them."""
        quick = RowSession.for_few(self._run, X)
        if quick is None:
            return None
        targets = as_targets(labels)
        weights = self._weighed(labels, importance)
        decisions = quick.learn_few(X, targets, weights, importance)
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
        run, oracle = self._run, callable(y)
        if oracle:
            wanted = would_ask(run, views, X[where])[0]
            told = np.array([self._answer(y, X, where.start) if wanted else self._nothing()])
            run = self._run  # an answer may be of a new class
        else:
            told = y[where]
        given_weights = importance[where]
        weights, always = self._weighed(told, given_weights), given or oracle
        answer = learn_block(
            run, Told(views, X[where], told, weights, given_weights, always, self._calibrating()),
            scaler,
        )  # fmt: skip
        run.settle()
        sure = {} if given else self._sure(answer.decisions, answer.leanings)
        return Learned(self._met(answer.decisions), answer.asked, answer.decisions, **sure)

    def _refused(
        self, X: Any, rows: Rows, y: Any, importance: Floats, given: bool, where: slice
    ) -> str:
        """Which row of a block that was refused is the first that cannot be learned, in words.

        Found on copies: the rows before it can be learned, and with it they cannot.
        """
        learned, refused = where.start, where.stop
        if self._run.looks_outside and refused > learned + 1:  # copies would take long
            return f"one from {row_of_chunk(learned)} to {row_of_chunk(refused - 1)}"
        while refused > learned + 1:
            trial, middle = object.__new__(type(self)), (learned + refused) // 2
            trial.__dict__.update(vars(self), _run=copy(self._run))
            try:
                trial._learn_block(X, rows, y, importance, given, slice(where.start, middle))
                learned = middle
            except NonFiniteError:
                refused = middle
        return row_of_chunk(learned)

    def _allowed(self, X: Any) -> Range:
        """What rows may be, such as are learned from or these, if they are the first."""
        if "_run" in vars(self):
            return range_of(self._run.scaler.methods, self._run.setting.dtype)
        width = X.shape[-1] if hasattr(X, "shape") else len(X[0])
        return range_of(self._pool(width).scalings, self.dtype)

    def _next(self, X: Any, rows: Rows, where: slice) -> tuple[Views, Scalers]:
        """Some of the rows as the run takes them next, and the scaler once it has met them."""
        part, scaler = rows.part(where.start, where.stop), self._run.scaler.copy()
        return views_of(self._run, scaler.learn(X[where]), part), scaler

    def _answer(self, oracle: Any, X: Any, i: int) -> Any:
        """The oracle's label of a row, as the run takes it."""
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
        if self.on_bad_rows != "raise" and not good_rows([x], self._allowed([x]).norms)[0]:
            return self._learn_rows([x], [y], classes, sample_weight).predictions[0]
        weight = 1.0 if sample_weight is None else importance_of(sample_weight, 1)[0]
        row = row_of(x)
        quick = None if classes is not None else RowSession.of(vars(self).get("_run"))
        if quick is not None:
            label = self._number_of(y) if y.__hash__ is not None else None
            if label is not None:
                own = weight
                if self._weighs:
                    own = float(self._weighed(np.array([label]), np.array([weight]))[0])
                decision = quick.learn(row, label, own, weight)
                if decision is not None:
                    if quick.leapt:
                        warn_of_leap(row[None], quick.leap(1), 0)
                    return self._prediction(decision)
        with self._nothing_half_done():
            X, labels = self._checked(np.atleast_2d(row), [y])
            self._set_classes(labels, classes)
            return self._learn(X, labels, sample_weight, given=True).predictions[0]

    @in_turn
    def predict_one(self, x: Any) -> Any:
        """The prediction for one row, given as (d,) numbers; see `learn_one`."""
        return self._prediction(self._lean_one(x)[0][0])

    def _lean_one(self, x: Any) -> Leant:
        """As `_lean` for one row, given as (d,) numbers."""
        row, run = row_of(x), vars(self).get("_run")
        quick = RowSession.of(run) if run is not None and self._next_alone(1) else None
        said = None if quick is None else quick.decide(row)
        if said is None:
            check_is_fitted(self)
            return self._leant(self._features(np.atleast_2d(row)))
        return Leant(*said)

    @in_turn
    def state(self) -> dict[str, NDArray[Any]]:
        """All that was learned, by name: the arrays that `kb.save` writes; not to be changed."""
        check_is_fitted(self)
        self._run.settle()
        return self._run.arrays()

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

    @in_turn
    def should_ask(self, X: Any) -> Flags:
        """(n,) bool: does the model want the label of each row of X, (n, d), if it came next?

        Nothing changes, and no draw is used up.
        """
        X = self._given(X)
        return would_ask(self._run, *self._seen(X))

    def _decide(self, X: Any) -> Floats:
        return self._lean(X).decisions

    def _lean(self, X: Any) -> Leant:
        """What the experts say of rows, by how far each is from the last label."""
        X = self._given(X)
        quick = RowSession.for_few(self._run, X) if self._next_alone(X.shape[0]) else None
        few = None if quick is None else quick.decide_few(X)
        return self._leant(X) if few is None else Leant(*few)

    def _leant(self, X: Any) -> Leant:
        return lean(self._run, *self._seen(X), self._places(X.shape[0]))

    def _places(self, n: int) -> Labels | None:
        """(n,) how far each of n rows is from the last label, from 1; None: all are the next."""
        if self._run.horizons is None:
            return None
        if self.delay is not None:
            return np.full(n, self._place(n))
        return self._place(0) + np.arange(1, n + 1)

    def _place(self, n: int) -> int:
        """How far the last of n rows is from the last label."""
        return waiting.get() + n if self.delay is None else int(min(self.delay, MOST_ROUNDS)) + 1

    def _by_horizon(self, leant: Leant) -> Iterator[tuple[Flags, Any]]:
        """Which rows are far from the last label, by horizon, and the calibration of these."""
        if leant.kinds is not None:
            calibrations = self._run.calibrations()
            for kind in np.unique(leant.kinds[leant.kinds > 0]):
                yield leant.kinds == kind, calibrations[kind]

    def _next_alone(self, n: int) -> bool:
        """Whether the committee for the next row decides on all of n rows."""
        horizons = self._run.horizons
        return horizons is None or horizons.next_alone(self._place(n))

    def _seen(self, X: Any) -> tuple[Views, Any]:
        """Rows as they would be seen if they came next, and as they are given."""
        rows = self._rows(X)
        check_range(rows.norms, self._allowed(X))
        return views_of(self._run, self._run.scaler.transform(X), rows), X

    def _given(self, X: Any) -> Any:
        """Rows to predict, checked, of a model that has learned."""
        check_is_fitted(self)
        if is_empty(X):
            return np.empty((0, self._run.setting.width))
        with in_words(X):
            X = validate_data(
                self, sound(X), reset=False, accept_sparse="csr", dtype=np.float64, order="C"
            )
        return canonical(X)

    # -- what was learned -------------------------------------------------------------------

    @property
    @in_turn
    def n_support_stored_(self) -> int:
        return int(self._run.counts.sum())

    @property
    @in_turn
    def n_support_active_(self) -> int:
        return self._run.n_active

    @property
    @in_turn
    def support_vectors_(self) -> Floats:
        return self._run.expansion()[0].copy()

    @property
    @in_turn
    def dual_coef_(self) -> Floats:
        coefficients = self._run.expansion()[1].copy()
        return coefficients[:, :, 0] if self._scores == 1 else coefficients

    @property
    def labels_asked_(self) -> int:
        return self._run.asked

    @property
    def n_rounds_(self) -> int:
        return self._run.rounds

    @property
    @in_turn
    def expert_weights_(self) -> Floats:
        return self._run.weights()

    @property
    def experts_(self) -> tuple[Expert, ...]:
        pool = self._pool(self.n_features_in_)
        return experts_of(pool.kernels, pool.members)

    @property
    @in_turn
    def kernel_weights_(self) -> Floats:
        of, weights = self._run.kernel_of, self._run.weights()
        return np.asarray(np.bincount(of[of >= 0], weights[of >= 0], len(self.kernels_)))

    @property
    @in_turn
    def memory_bytes_(self) -> int:
        return self._run.nbytes

    @property
    def why_not_quick_(self) -> str | None:
        return RowSession.hindrance(self._run)

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
            if not hasattr(self, "_run") or self._run.rounds == 0:
                self._forget()
            raise

    # -- rows that nothing can be learned from ----------------------------------------------

    def _uninformed(self) -> Any:
        """What is said of a row that says nothing."""
        raise NotImplementedError

    def _skip(self, X: Any) -> Flags | None:
        """(n,) bool, the rows to learn from; None where they are all."""
        check(self)
        if self.on_bad_rows == "raise" or is_empty(X):
            return None
        self.__dict__.setdefault("n_rows_skipped_", 0)
        good = good_rows(X, self._allowed(X).norms)
        return None if good.ndim != 1 or good.all() else good

    def _left_out(self, rows: int) -> None:
        before: int = vars(self)["n_rows_skipped_"]
        self.n_rows_skipped_ = counted("n_rows_skipped_", before, rows)

    def _good_ones(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, Sequence[int]]:
        """Of rows, labels and weights, those to learn from, and their places in the chunk."""
        good = self._skip(X)
        if good is None or y is None:
            return X, y, sample_weight, range(COUNTED)
        there, y = np.flatnonzero(good), as_labels(y)
        if len(y) != len(good):
            raise InputError(f"X has {len(good)} rows but y has {len(y)} labels")
        weights = None if sample_weight is None else importance_of(sample_weight, len(y))[there]
        self._left_out(len(y) - len(there))
        return _safe_indexing(X, there), y[there], weights, there.tolist()

    def _learn_between(
        self, good: Flags, X: Any, y: Any, sample_weight: Any, classes: Any = None
    ) -> Learned:
        """`learn` where some rows are skipped, of which is said what says nothing of them."""
        n = len(good)
        weights, labels = importance_of(sample_weight, n), y
        if y is not None and not callable(y):
            labels = as_labels(y)
            if len(labels) != n:
                raise InputError(f"X has {n} rows but y has {len(labels)} labels")
        parts = []
        for where, is_good in runs(good):
            if is_good:
                own = labels if labels is None or callable(labels) else labels[where]
                rows = _safe_indexing(X, np.arange(where.start, where.stop))
                with placed(range(where.start, where.stop)):
                    parts.append(self._learn_rows(rows, own, classes, weights[where])[:2])
            else:
                count = where.stop - where.start
                self._left_out(count)
                parts.append((np.array([self._uninformed()] * count), np.zeros(count, dtype=bool)))
        predictions, asked = zip(*parts, strict=True)
        return Learned(np.concatenate(predictions), np.concatenate(asked), None)

    def _is_nothing(self, X: Any, y: Any) -> bool:
        """Whether a chunk has no rows, so that nothing changes. A new model's parameters are
        checked nevertheless."""
        if not is_empty(X):
            return False
        if not (y is None or callable(y)) and len(y := as_labels(y)) > 0:
            raise InputError(f"X has 0 rows but y has {len(y)} labels")
        if not hasattr(self, "_run"):
            trial: Any = clone(self)
            trial.classes_ = np.arange(2)
            trial._start(np.empty((0, max((1, *np.shape(X)[1:2])))))
        return True

    def _start(self, X: Any) -> None:
        """Set everything up for the first example."""
        check(self)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        run = self._new_run(X.shape[1], sp.issparse(X), seed)
        self._run, self.kernels_, self.n_features_in_ = run, run.kernels, X.shape[1]

    def _scaling(self, width: int) -> str | None:
        """The method of scaling rows of so many features, or None."""
        kernels = shared_kernels(self.kernels, self._of_numbers)
        auto = isinstance(self.scaling, str) and self.scaling == "auto"
        if self.scaling is None or (auto and not of_vectors(kernels)):
            return None
        check_vectors("scaling", kernels)
        if not auto:
            return self.scaling
        return "moments" if width <= LARGEST_FILLED else "maximum"

    def _widen(self, width: int) -> None:
        """Take rows of so many features from now on; those so far had 0 where they had none.

        What cannot go on begins anew: all, where the default has other parts for so many.
        """
        old = self._run
        run = self._new_run(width, old.sparse, old.setting.seed)
        if same(self._pool(old.setting.width), self._pool(width)):
            widen(run, old)
        self.__dict__.update(_run=run, n_features_in_=width)

    def _pool(self, width: int) -> Pool:
        """The learners and their kernels, on rows of so many features; all of it is checked."""
        check(self)
        return pool_of(
            self.kernels, self.learner, self.combiner, self._of_numbers, width,
            self._scaling(width), self._scores,
        )  # fmt: skip

    def _new_run(self, width: int, sparse: bool, seed: int) -> Model:
        """The run that the parameters ask for, before its first example."""
        pool = self._pool(width)
        scaled = sum(method is not None for method in pool.scalings)
        ask_for(2 * scaled * width, f"scaling of {width:,} features")  # there is a copy
        scaler = Scalers(pool.scalings, width)
        setting = self._setting(width, sparse and not scaler.fills, seed)
        run = make_model(pool, self.combiner, self.selection, self.labels, setting, self.delay)
        run.scaler, run.calibration = scaler, self._new_calibration(run.inputs)
        return run

    def _setting(self, width: int, sparse: bool, seed: int) -> Setting:
        return Setting(
            width, sparse, self._scores, seed, self._of_numbers, self.judge_stored, self.dtype
        )

    def _validated(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Features and labels, with all of scikit-learn's checks."""
        hint = "`learn` takes rows without labels, `fit` and `partial_fit` do not"
        if y is None:
            name = type(self).__name__
            raise InputError(f"{name} requires y to be passed, but the target y is None; {hint}")
        y = self._labels_of(y, warn=True)
        check_present(y, hint)
        with in_words(X):
            X, y = validate_data(
                self, sound(X), y, reset=not hasattr(self, "_run"), accept_sparse="csr",
                dtype=np.float64, order="C", y_numeric=self._of_numbers,
            )  # fmt: skip
        return self._features(X), y

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Features, and labels or an oracle, with checks that are quick on short chunks too."""
        X = self._features(X)
        if callable(y):
            return X, y
        y = np.full(X.shape[0], np.nan) if y is None else self._labels_of(y)
        if X.shape[0] != len(y):
            raise InputError(f"X has {X.shape[0]} rows but y has {len(y)} labels")
        return X, y

    def _features(self, X: Any) -> Any:
        """X as a C-ordered float64 array or a canonical CSR matrix, of the right width."""
        plain = isinstance(X, np.ndarray) and X.dtype.kind in "biufc"
        if isinstance(X, np.ma.MaskedArray) or not (plain or sp.issparse(X)):
            with in_words(X):
                X = validate_data(
                    self, real(X), reset=not hasattr(self, "n_features_in_"), accept_sparse="csr",
                    dtype=np.float64, order="C",
                )  # fmt: skip
        if np.iscomplexobj(X):
            raise InputError("X: complex data not supported, expected real numbers")
        if X.ndim != 2:
            raise InputError(f"X: expected an array of shape (n, d), got {X.ndim} dimension(s)")
        width = getattr(self, "n_features_in_", X.shape[1])
        if X.shape[1] != width:
            raise InputError(
                f"X has {X.shape[1]} features, but {type(self).__name__} "
                f"is expecting {width} features as input"
            )
        return canonical(X)

    def _labels_of(self, y: Any, warn: bool = False) -> NDArray[Any]:
        """Labels, with None or NaN for those that are not there."""
        return without(as_labels(y, warn), self.missing_label)

    def _rows(self, X: Any) -> Rows:
        return rows_of(self._run, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def warn_of_leap(X: Any, leap: int, first: int) -> None:
    """Say which row has made the deviation of a feature a million times what it was.

    leap : number of the value, as `scale_rows` counts; first : place of the first row in the chunk
    """
    if leap != NO_LEAP:
        row, feature = divmod(leap, X.shape[1])
        warnings.warn(
            f"{row_of_chunk(first + row)}: feature {feature} is {abs(X[row, feature]):g}, more "
            "than a million deviations from its mean so far. With scaling='moments' all its other "
            "values are almost 0 from now on: leave such rows out, or take scaling='ranks'",
            KernbrookWarning,
            stacklevel=2,
        )


def answer_of(oracle: Any, X: Any, i: int) -> NDArray[Any]:
    """(1,) the oracle's label of a row."""
    label = oracle(X[i : i + 1] if sp.issparse(X) else X[i])
    if isinstance(label, (list, tuple, dict, set)) or np.ndim(label) > 0:
        raise InputError(f"oracle: expected one label, or None, got {label!r:.60}")
    return as_labels([label])


def row_of(x: Any) -> Floats:
    """One row as numbers, a copy."""
    if type(x) is np.ndarray and x.dtype == np.float64:
        return x.copy()
    try:
        row = np.array(x if type(x) is list else real(x, "x"))
        if row.dtype.kind not in "biuf":
            real(row, "x")
        return row.astype(np.float64, copy=False)
    except InputError:
        raise
    except (TypeError, ValueError):
        raise InputError(f"x: expected numbers, one a feature, found {shown(x)}") from None


def check_some_weight(sample_weight: Any) -> None:
    if sample_weight is not None and not np.any(np.asarray(real(sample_weight, "sample_weight"))):
        raise InputError("sample_weight: all weights are zero, there is nothing to learn")


def importance_of(sample_weight: Any, rows: int) -> Floats:
    if sample_weight is None:
        return np.ones(rows)
    try:
        given = real(sample_weight, "sample_weight")
        weights = np.array(given, dtype=np.float64)  # read-only would be compiled for anew
    except InputError:
        raise
    except (TypeError, ValueError):
        raise InputError(f"sample_weight: expected numbers, found {shown(sample_weight)}") from None
    weights = np.full(rows, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (rows,):
        raise InputError(
            f"sample_weight: got an array of shape {weights.shape}, expected ({rows},)"
        )
    allowed = ((weights == 0) | (weights >= SMALLEST)) & (weights < LARGEST_WEIGHT)
    if not allowed.all():
        wrong = weights[int(np.argmin(allowed))]
        found = "NaN" if np.isnan(wrong) else f"{wrong:g}"
        raise InputError(
            "sample_weight: negative values, infinity, NaN and sizes below 1e-100 or from 1e100 "
            f"are not allowed, got {found}"
        )
    return weights
