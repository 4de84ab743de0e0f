"""The composed machine as a scikit-learn classifier."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone

from kernbrook.checks import Or, Other, placed
from kernbrook.engine.deciding import Leant
from kernbrook.errors import InputError
from kernbrook.estimators.calibration import Calibration
from kernbrook.estimators.input_checks import importance_of
from kernbrook.estimators.known_classes import KnowsClasses
from kernbrook.estimators.labelled import (
    as_labels,
    check_kept_classes,
    is_empty,
)
from kernbrook.estimators.machine import OnlineMachine
from kernbrook.estimators.tasks import Learned, joined
from kernbrook.estimators.thresholds import agreeing, checked, said
from kernbrook.estimators.weighting import check_class_weight, leading
from kernbrook.gram.arrays import Flags, Floats, Labels
from kernbrook.selection import BestOfPrefix
from kernbrook.turns import changes, in_turn


class OnlineMKClassifier(ClassifierMixin, KnowsClasses, OnlineMachine):
    """Online learning with many kernels: kernels x learner x combiner x selection x labels.

    One learner for each kernel learns from a stream; a combiner weighs their votes. Without
    arguments it needs no settings: it scales the features as they come, and holds a fixed amount
    of memory. The result never depends on how the stream is cut into chunks. A class that appears
    after the first call is learned from then on, unless the call names all with `classes`. With
    more than two classes, an update goes to the label's class and to the best other one (Crammer
    and Singer, 2003).

    Parameters
    ----------
    kernels : str, kernel, function or list of these
        "auto": the default's own; for a learner that is given, "omkc16". "omkc16" and "amkl17" are
        the papers' pools. A function takes two arrays, (n, d) and (m, d), and gives an (n, m)
        array.
    learner : learner of each kernel, or a list of them; None: the default
        By default passive-aggressive steps on kernels, under a budget, beside ridge regressions
        and gradient steps on random features of all inputs and of few, of moments and of ranks,
        with and without forgetting, and the last label; on kernels that are given
        `BPAS(budget=2500, aggressiveness=0.5)`. An expert is a pair of a learner and a kernel;
        those of the first learner come first.
    combiner : what weighs the experts; `Stack()` by default
        Where a selection leaves experts out, `FixedShare()`.
    selection : which learners are updated and vote; all of them by default
    labels : "all", or a policy such as `Disagreement()`: whose label is asked for
    random_state : int, RandomState or None
        Seeds all draws. They depend on the seed and the round alone. None: other draws each time;
        the command line takes 0.
    scaling : "auto", "moments", "maximum", "ranks" or None
        "moments" takes off the mean of each feature so far and divides by its deviation so far,
        "maximum" divides by its greatest size so far, "ranks" takes its rank among the last 1,000;
        all with the row itself, and never by what comes later. "auto" is "moments", "maximum" for
        more than 4,096 features, and None where a kernel takes row numbers.
    judge_stored : bool
        Whether the combiner learns from each row. By default it does not from a row that some
        expert holds as a support vector: on those narrow kernels err never, so that a second pass
        over the same rows would leave the weight to them. The papers judge on each.
    class_weight : dict, "balanced" or None
        How much rows of each label weigh where they are said wrong; 1 for labels that are not
        named. `predict` says the class of the greatest weight times probability, instead of going
        by the decision; "balanced" is one over the usual probability of a class, about n / n_label.
        The experts learn from each label with the root of its relative weight; probabilities are
        of the stream as it is. A `threshold` beside it decides what `predict` says.
    threshold : number, "f1", (c, c) array or None
        What `predict` goes by instead of the decision: of two classes the second, if it is at least
        so probable; "f1", if its probability is at least half of the best F score of late, which
        leads to the best one (Lipton et al., 2014); or the class of the lowest expected cost, of a
        matrix with a row for each class that is there and a column for each that is said.
    missing_label : number, str or None
        What stands for a label that is not there, such as -1, besides None and NaN.
    on_bad_rows : "error" or "skip"
        Rows to learn from with NaN, infinity, or what is no number: an error, or they are left out
        and counted. `learn` says of such a row the most frequent label so far. `predict` refuses
        them all the same.
    dtype : "float64" or "float32"
        Of the numbers in which kernels are computed, from inner products and distances on. Sums and
        all that is learned stay in double precision. See "Budgets" in the guide for what "float32"
        saves; decisions differ by about 1e-6 of the largest, and features must be below 1e18 in
        size. Random features, and learners that merge support vectors, take double precision all
        the same.
    delay : None, or a number of rows
        How many rows wait for their labels when one is predicted. None: as many as stand before it
        in a call, or wait in a `LateLabels`. 0: none, each row is predicted as the next one, as in
        the papers. `float("inf")`: the model learns no more. With the default combiner and two
        experts or more, rows farther ahead have committees and calibrations of their own, see "When
        the label comes late" in the guide; other combiners have them where a number is given.

    Attributes
    ----------
    classes_ : (c,) labels; of two, the second is the positive class, and wins ties
    kernels_ : (m,) tuple of kernels
    kernel_weights_ : (m,) weights, summing to 1 with those of experts that have no kernel
    expert_weights_ : (e,) the same, by expert
    experts_ : (e,) tuple of each expert's learner, kernel and scaling, None where it has none
    expert_mistakes_ : (e,) mistakes of each expert so far, each example by its weight
    n_support_stored_ : sum over the kernels of the support vectors they hold
    n_support_active_ : the same sum over the kernels that took part in the last vote
    support_vectors_ : (s, d) distinct support vectors, in the order of their arrival
    dual_coef_ : (s, e) their coefficients, one column an expert, (s, 1) under GroupNorm; for more
        than two classes (s, e, c). Not there, as `support_vectors_`, for learners on features
    labels_asked_ : labels looked at so far
    n_rounds_ : examples met so far
    n_rows_skipped_ : rows left out, with `on_bad_rows="skip"`
    memory_bytes_ : bytes held by what was learned
    why_not_quick_ : what keeps `learn_one` and `predict_one` from being much quicker than a chunk
        of one row, in words; None where nothing does
    n_features_in_, feature_names_in_ : as in scikit-learn

    References
    ----------
    Hoi, Jin, Zhao, Yang (2013), Online multiple kernel classification, Machine Learning 90.
    Lipton, Elkan, Naryanaswamy (2014), Optimal thresholding of classifiers to maximize F1 measure.

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")  # signs
    >>> model = kb.OnlineMKClassifier(random_state=0).fit(X, y)
    >>> model.predict([[0.5, 0.5], [-0.5, 0.5]])
    array(['same', 'other'], dtype='<U5')
    >>> print(model.kernels_[model.kernel_weights_.argmax()])
    exp(-||x-z||^2 / (2 * 1^2))
    """

    parameter_ranges: ClassVar = {
        "class_weight": Or(
            (None, "balanced"), Other("weights {label: weight}", check_class_weight)
        ),
        "threshold": Other("None, a number from 0 to 1, 'f1' or a matrix of costs"),
    }

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
        class_weight: Any = None,
        threshold: Any = None,
        missing_label: Any = None,
        on_bad_rows: str = "error",
        dtype: str = "float64",
        delay: float | None = None,
    ):
        super().__init__(
            kernels, learner, combiner, selection, labels, random_state, scaling, judge_stored,
            missing_label, on_bad_rows, dtype, delay,
        )  # fmt: skip
        self.class_weight = class_weight
        self.threshold = threshold

    # -- learning ---------------------------------------------------------------------------

    @changes
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnlineMKClassifier:
        """Forget everything, then learn from X in the order given, one pass.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix
        y : (n,) labels, two classes or more
        sample_weight : (n,) or None; relative to their mean so far, see the guide, page
            "How sure a model is"

        Raises
        ------
        InputError
            A parameter, or the data, is not what was expected.
        """
        return self._fit(X, y, sample_weight)

    @changes
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> OnlineMKClassifier:
        """Learn from X in the order given, after what was learned before.

        All labels given are learned from, whatever the policy in `labels`. A chunk without rows
        changes nothing.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix
        y : (n,) labels
        classes : all labels; needed on the first call unless y has them
        sample_weight : (n,) or None; relative to their mean so far, see the guide, page
            "How sure a model is"

        Raises
        ------
        InputError
            A parameter, or the data, is not what was expected.
        """
        return self if self._is_nothing(X, y) else self._learn_all(X, y, classes, sample_weight)

    @changes
    def learn(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> tuple[NDArray[Any], Flags]:
        """Test, ask, train: each label is predicted before it is looked at, if it is.

        A chunk without rows changes nothing.

        Parameters
        ----------
        X : (n, d) array or CSR matrix
        y : (n,) labels, or an oracle, or None
            None or NaN is a label that cannot be had; None instead of them all, that none can. An
            oracle is called with a row of X, (d,) or if sparse (1, d), for each label that
            `labels` asks for, and gives the label, or None.
        classes : all labels; needed on the first call unless y has them
        sample_weight : (n,) or None

        Returns
        -------
        predictions : (n,) labels, each from the examples before its own
        asked : (n,) bool, whose label was looked at
        """
        return self._learn_rows(X, y, classes, sample_weight)[:2]

    @changes
    def _learn_scored(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Learned:
        """`learn`, with decisions and probabilities before the labels."""
        return self._learn_rows(X, y, classes, sample_weight)

    def _learn_rows(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Learned:
        if self._is_nothing(X, y):
            known = getattr(self, "classes_", classes)
            none = as_labels([] if known is None else known)[:0]
            return Learned(none, np.zeros(0, dtype=bool), np.empty((0, 1)))
        if (good := self._skip(X)) is not None:
            with self._nothing_half_done():
                if not callable(y) and y is not None and len(good) == len(y):
                    with placed(np.flatnonzero(good).tolist()):
                        self._set_classes(self._labels_of(y)[good], classes)
                return self._learn_between(good, X, y, sample_weight, classes)
        with self._nothing_half_done():
            X, y = self._checked(X, y)
            self._set_classes(y, classes)
            if callable(y) and classes is not None:
                y = self._of_these(y)
            return self._learn(X, y, sample_weight)

    @changes
    def choose_kernel(self, X: Any, y: Any, classes: Any = None) -> int:
        """Choose the kernel of `BestOfPrefix` on these examples, without learning from them.

        Only before the first example is learned from. `prequential` calls it where
        `BestOfPrefix(fraction=)` asks for it.

        Returns
        -------
        index of the kernel with the fewest mistakes, the lowest if several
        """
        if hasattr(self, "_model"):
            raise InputError("choose_kernel: the model has already learned from a stream")
        if not isinstance(self.selection, BestOfPrefix):
            raise InputError(
                f"choose_kernel: needs selection=BestOfPrefix(), got {self.selection!r}"
            )
        if is_empty(X):
            raise InputError("choose_kernel: X has no rows")
        trial = clone(self).set_params(selection=None, labels="all")
        trial.learn(X, y, classes=classes)
        with self._nothing_half_done():
            X = self._features(X)
            self._set_classes(self._labels_of(y), classes)
            self._start(X)
        best = int(np.argmin(trial.expert_mistakes_))
        self._model.choose(best)
        return best

    # -- prediction -------------------------------------------------------------------------

    @in_turn
    def decision_function(self, X: Any) -> Floats:
        """What decides: the score f(x) of one expert, or the combined vote of several.

        It is the score where the machine has one expert, or votes with one (`BestOfPrefix`), but
        for what `Stack` adds.
        Several vote for classes, or add their scores, as the loss of the combiner says: votes are
        of size up to 1, scores unbounded. Drawn votes count by their expectation.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix

        Returns
        -------
        (n,) for two classes, positive for classes_[1]; (n, c) for more, one number a class
        """
        decisions = self._decide(X)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    @in_turn
    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row of X, (n, d).

        Of two classes, a decision of 0 gives classes_[1]; of more, equal votes give the first. With
        a `threshold`, or weights of classes, the probabilities decide.
        """
        leant = self._lean(X)
        return self._calls(leant, self._probable(leant) if self._by_chance else None)

    @in_turn
    def _read(self, X: Any) -> Learned:
        """Labels, decisions and probabilities at once; nobody was asked."""
        leant = self._lean(X)
        chances, none = self._probable(leant), np.zeros(len(leant.decisions), dtype=bool)
        return Learned(self._calls(leant, chances), none, leant.decisions, chances)

    def _calls(self, leant: Leant, probabilities: Floats | None) -> NDArray[Any]:
        """(n,) labels; probabilities : (n, c), where there is a threshold."""
        if not self._by_chance or probabilities is None:
            return self._predictions(leant.decisions)
        known = self._model.calibration
        cuts, usual = np.full(len(probabilities), known.cut), np.empty(probabilities.shape)
        usual[:] = known.usual
        for own, calibration in self._by_horizon(leant):
            cuts[own], usual[own] = calibration.cut, calibration.usual
        return self._called(probabilities, cuts, usual)

    @property
    def _by_chance(self) -> bool:
        """Whether probabilities decide what is said."""
        return self.threshold is not None or self.class_weight is not None

    def predict_one(self, x: Any) -> Any:
        """The label of one row, given as (d,) numbers; see `learn_one`."""
        if not self._by_chance:
            return super().predict_one(x)
        return self.predict(np.array(x, dtype=np.float64, ndmin=2))[0]

    @in_turn
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, learned from the experts' scores and the labels so far.

        They follow the log loss on each label, before it is learned from; see `Calibration`. The
        class that `predict` gives is the most probable, unless there is a `threshold` or there are
        weights of classes.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix

        Returns
        -------
        (n, c) in the order of `classes_`, each row summing to 1
        """
        return self._probable(self._lean(X))

    @in_turn
    def predict_proba_one(self, x: Any) -> Floats:
        """(c,) the probabilities for one row, given as (d,) numbers; see `learn_one`."""
        return self._probable(self._lean_one(x))[0]

    def _probable(self, leant: Leant) -> Floats:
        """(n, c) probabilities, of what the experts say."""
        found = self._model.calibration.probabilities(leant.leanings)
        for own, calibration in self._by_horizon(leant):
            found[own] = calibration.probabilities(leant.leanings[own])
        return self._agreed(found, leant.decisions, leant.leanings)

    def _agreed(self, probabilities: Floats, decisions: Floats, leanings: Floats) -> Floats:
        """The same, with the class that `predict` gives as the most probable."""
        if self._by_chance:
            return probabilities
        return agreeing(probabilities, _leading(decisions), leanings)

    @property
    def expert_mistakes_(self) -> Floats:
        return self._model.progress.losses.copy()

    # -- labels -----------------------------------------------------------------------------

    classes_: NDArray[Any]
    _of_numbers = False
    _learned = (*OnlineMachine._learned, "classes_", "_number")

    @property
    def _scores(self) -> int:
        known = getattr(self, "classes_", ())
        return len(known) if len(known) > 2 else 1

    def _learn(self, X: Any, y: Any, sample_weight: Any = None, given: bool = False) -> Learned:
        if callable(y) or len(unseen := self._unseen(y)) == 0:
            return super()._learn(X, y, sample_weight, given)
        grown: Any = self._grown(y, unseen)  # refused, if at all, before anything is learned
        self._rows(X)  # and so are these
        if unseen[0] > 0 or len(grown[0]) > len(self.classes_) + 1:
            grown = None  # rows come first that the others are to be learned with
        weights = importance_of(sample_weight, X.shape[0])
        parts, at = [], 0
        while at < len(y):  # up to each row of a new class, then that row by itself
            end = int(unseen[0]) if len(unseen) else len(y)
            if end > at:
                own = slice(at, end)
                with placed(range(at, end)):
                    parts.append(super()._learn(X[own], y[own], weights[own], given))
            if end < len(y):
                own = slice(end, end + 1)
                looked = given or not self._model.asks or bool(self.should_ask(X[own])[0])
                if looked:
                    self._grow(y, unseen[:1], grown)
                grown = None
                label = y[own] if looked else np.array([None])
                with placed([end]):
                    parts.append(super()._learn(X[own], label, weights[own], looked))
            at = end + 1
            unseen = at + self._unseen(y[at:])
        return joined(parts)

    def _predictions(self, decisions: Floats) -> NDArray[Any]:
        return self.classes_[_leading(decisions)]

    def _prediction(self, decision: Floats) -> Any:
        if not self._by_chance:
            # As `_leading`, in a fourth of the time.
            number = decision.argmax() if len(decision) > 1 else int(decision[0] >= 0)
            return self.classes_[number]
        return self._called(*(array[-1:] for array in self._model.calibration.said))[0]

    def _kept_check(self) -> None:
        super()._kept_check()
        if "classes_" in vars(self):
            checked(self.threshold, len(self.classes_))

    def _check_fitted(self, width: int) -> None:
        check_kept_classes(vars(self).get("classes_"))
        super()._check_fitted(width)

    def _sure(self, decisions: Floats, leanings: Floats) -> dict[str, Any]:
        probabilities = self._model.calibration.said[0][-len(decisions) :]
        return {"probabilities": self._agreed(probabilities, decisions, leanings)}

    def _met(self, decisions: Floats) -> NDArray[Any]:
        if not self._by_chance:
            return self._predictions(decisions)
        return self._called(*(array[-len(decisions) :] for array in self._model.calibration.said))

    def _called(self, probabilities: Floats, cuts: Floats, usual: Floats) -> NDArray[Any]:
        known = self.classes_
        if self.threshold is not None:
            return known[said(checked(self.threshold, len(known)), probabilities, cuts)]
        return known[leading(self.class_weight, known, probabilities, usual)]

    def _calibrating(self) -> dict[str, Any]:
        return {"cutting": isinstance(self.threshold, str)}  # which takes as long as all else

    def _new_calibration(self, inputs: int) -> Calibration:
        return Calibration(self._scores, inputs)

    def _uninformed(self) -> Any:
        counts = self._model.calibration.counts if "_model" in vars(self) else np.zeros(1)
        return self.classes_[counts.argmax()]

    def _nothing(self) -> int:
        return -1

    def _number_of(self, y: Any) -> float | None:
        try:
            if y == self.missing_label and y is not None:
                return math.nan
        except TypeError:  # pandas' NA is neither equal nor not
            return None
        known = self.__dict__.get("_number")
        if known is None and "classes_" in self.__dict__:
            known = {label: float(i) for i, label in enumerate(self.classes_.tolist())}
            self._number = {None: math.nan, **known}
        return None if known is None else known.get(y)


def _leading(decisions: Floats) -> Labels:
    """(n,) numbers of the classes that decisions are for."""
    if decisions.shape[1] == 1:
        return (decisions[:, 0] >= 0).astype(np.int64)
    return decisions.argmax(axis=1)
