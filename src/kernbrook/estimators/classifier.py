"""The composed machine as a scikit-learn classifier."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone

from kernbrook.checks import Or, Other, parameters, placed, row_of_chunk
from kernbrook.engine.blocks import rows_of
from kernbrook.engine.deciding import Verdicts
from kernbrook.engine.learning import Answer
from kernbrook.engine.model import Model
from kernbrook.engine.widening import take_over
from kernbrook.errors import InputError
from kernbrook.estimators.base import OnlineMachine, answer_of, importance_of
from kernbrook.estimators.confidence import Calibration
from kernbrook.estimators.labels import (
    agreeing,
    apply_threshold,
    as_labels,
    check_class_weight,
    check_discrete,
    check_kept_classes,
    check_keys,
    check_threshold,
    chosen,
    class_numbers,
    distinct,
    is_empty,
    known_numbers,
    leading,
    lifts,
    named,
    present,
)
from kernbrook.estimators.tasks import Outputs, joined
from kernbrook.gram.arrays import Floats, Ints
from kernbrook.selection import BestOfPrefix
from kernbrook.turns import changes, in_turn


@parameters
class OnlineMKClassifier(ClassifierMixin, OnlineMachine):
    """Online learning with many kernels: kernels x learner x combiner x selection x labels.

    One learner for each kernel learns from a stream; a combiner weighs their votes. Without
    arguments it needs no settings: it scales the features as they come, and holds a fixed amount
    of memory. The result never depends on how the stream is cut into chunks. A class that appears
    after the first call is learned from then on, unless the call names all with `classes`. With
    more than two classes, an update goes to the label's class and to the best other one (Crammer
    and Singer, 2003).

    Parameters
    ----------
    {kernels}
    learner : learner of each kernel, or a list of them; None: the default
        By default passive-aggressive steps on kernels, under a budget, beside ridge regressions
        and gradient steps on random features of all inputs and of few, of moments and of ranks,
        with and without forgetting, and the last label; on kernels that are given
        `BPAS(budget=2500, aggressiveness=0.5)`. An expert is a pair of a learner and a kernel;
        those of the first learner come first.
    combiner : what weighs the experts; `Stack()` by default
        Where a selection leaves experts out, `FixedShare()`.
    {selection, labels, random_state, scaling, judge_stored}
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
    {missing_label, on_bad_rows, delay}

    Attributes
    ----------
    classes_ : (c,) labels; of two, the second is the positive class, and wins ties
    {kernels_, kernel_weights_, expert_weights_, experts_}
    expert_mistakes_ : (e,) mistakes of each expert so far, each example by its weight
    {n_support_stored_, n_support_active_, support_vectors_, dual_coef_, labels_asked_, n_rounds_}
    {n_rows_skipped_, memory_bytes_, why_not_quick_, n_features_in_}

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

    _: KW_ONLY
    class_weight: Annotated[
        Any, Or((None, "balanced"), Other("weights {label: weight}", check_class_weight))
    ] = None
    threshold: Annotated[Any, Other("None, a number from 0 to 1, 'f1' or a matrix of costs")] = None

    # -- learning ---------------------------------------------------------------------------

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
        with self._all_or_nothing():
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
        decisions = self._decide(X).decisions
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    @in_turn
    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row of X, (n, d).

        Of two classes, a decision of 0 gives classes_[1]; of more, equal votes give the first. With
        a `threshold`, or weights of classes, the probabilities decide.
        """
        verdicts = self._decide(X)
        return self._calls(verdicts, self._probable(verdicts) if self._by_chance else None)

    @in_turn
    def _predict_outputs(self, X: Any) -> Outputs:
        """Labels, decisions and probabilities at once; nobody was asked."""
        verdicts = self._decide(X)
        chances, none = self._probable(verdicts), np.zeros(len(verdicts.decisions), dtype=bool)
        return Outputs(self._calls(verdicts, chances), none, verdicts.decisions, chances)

    def _calls(self, verdicts: Verdicts, probabilities: Floats | None) -> NDArray[Any]:
        """(n,) labels; probabilities : (n, c), where there is a threshold."""
        if not self._by_chance or probabilities is None:
            return self._predictions(verdicts.decisions)
        cuts, usual = np.empty(len(probabilities)), np.empty(probabilities.shape)
        for rows, calibration in self._by_horizon(verdicts):
            cuts[rows], usual[rows] = calibration.cut, calibration.usual
        return self._called(probabilities, cuts, usual)

    @property
    def _by_chance(self) -> bool:
        return self.threshold is not None or self.class_weight is not None

    @in_turn
    def predict_one(self, x: Any) -> Any:
        """The label of one row, given as (d,) numbers; see `learn_one`."""
        if not self._by_chance:
            return super().predict_one(x)
        verdicts = self._decide_row(x)
        return self._calls(verdicts, self._probable(verdicts))[0]

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
        return self._probable(self._decide(X))

    @in_turn
    def predict_proba_one(self, x: Any) -> Floats:
        """(c,) the probabilities for one row, given as (d,) numbers; see `learn_one`."""
        return self._probable(self._decide_row(x))[0]

    def _probable(self, verdicts: Verdicts) -> Floats:
        """(n, c) probabilities, of what the experts say."""
        found = np.empty((len(verdicts.leanings), max(self._scores, 2)))
        for rows, calibration in self._by_horizon(verdicts):
            found[rows] = calibration.probabilities(verdicts.leanings[rows])
        return self._agreed(found, verdicts.decisions, verdicts.leanings)

    def _agreed(self, probabilities: Floats, decisions: Floats, leanings: Floats) -> Floats:
        """The same, with the class that `predict` gives as the most probable."""
        if self._by_chance:
            return probabilities
        return agreeing(probabilities, chosen(decisions), leanings)

    expert_mistakes_ = property(lambda self: self._model.progress.losses.copy())

    # -- labels -----------------------------------------------------------------------------

    _of_numbers, _no_label = False, -1
    _learned = (*OnlineMachine._learned, "classes_", "_number")
    _scores = property(lambda self: n if (n := len(getattr(self, "classes_", ()))) > 2 else 1)

    def _learn(self, X: Any, y: Any, sample_weight: Any = None, given: bool = False) -> Outputs:
        if callable(y) or len(unseen := self._unseen(y)) == 0:
            return super()._learn(X, y, sample_weight, given)
        grown: Any = self._grown(y, unseen)  # refused, if at all, before anything is learned
        rows_of(self._model, X)  # and so are these
        if unseen[0] > 0 or len(grown[0]) > len(self.classes_) + 1:
            grown = None  # rows come first that the others are to be learned with
        weights = importance_of(sample_weight, X.shape[0])
        parts, at = [], 0
        while at < len(y):  # up to each row of a new class, then that row by itself
            end = int(unseen[0]) if len(unseen) else len(y)
            if end > at:
                rows = slice(at, end)
                with placed(range(at, end)):
                    parts.append(super()._learn(X[rows], y[rows], weights[rows], given))
            if end < len(y):
                rows = slice(end, end + 1)
                looked = given or not self._model.asks or bool(self.should_ask(X[rows])[0])
                if looked:
                    self._grow(*(grown or self._grown(y, unseen[:1])))
                grown = None
                label = y[rows] if looked else np.array([None])
                with placed([end]):
                    parts.append(super()._learn(X[rows], label, weights[rows], looked))
            at = end + 1
            unseen = at + self._unseen(y[at:])
        return joined(parts)

    def _unseen(self, y: NDArray[Any]) -> Ints:
        labelled = present(y).nonzero()[0]
        return labelled[class_numbers(self.classes_, y[labelled]) < 0]

    def _grow(self, found: NDArray[Any], model: Model) -> None:
        """Learn of classes that appear later, as `_grown` has them; what was learned stays."""
        self.__dict__.update(_model=model, classes_=found)
        self.__dict__.pop("_number", None)

    def _of_classes(self, found: NDArray[Any]) -> Model:
        """The model with more classes; InputError where there is none."""
        trial: Any = clone(self)
        trial.classes_, old = found, self._model
        check_threshold(self.threshold, len(found))
        model: Model = trial._new_model(old.setting.width, old.sparse, old.setting.seed)
        take_over(model, old, class_numbers(found, self.classes_))
        return model

    def _grown(self, y: NDArray[Any], unseen: Ints) -> tuple[NDArray[Any], Model]:
        """All classes, and the model of them; unseen : rows of y with those that are new."""
        try:
            found = distinct(as_labels([*self.classes_.tolist(), *y[unseen].tolist()]))
            self._check_classes(found)
            model = self._of_classes(found)
        except InputError as error:
            raise InputError(
                f"y: label {named(y[unseen[:1]])} ({row_of_chunk(unseen[0])}) is not one of the "
                f"classes {named(self.classes_)}, and cannot be learned: {error}"
            ) from error
        return found, model

    def _answer(self, oracle: Any, X: Any, i: int) -> Any:
        label = self._labels_of(answer_of(oracle, X, i))
        if len(unseen := self._unseen(label)):
            self._grow(*self._grown(label, unseen))
        return self._numbers(label)[0]

    def _set_classes(self, y: NDArray[Any], classes: Any) -> None:
        if hasattr(self, "classes_"):
            if classes is None:
                return
            found = distinct(as_labels(classes), "classes")
            if found.tolist() != self.classes_.tolist():  # by Python: NumPy would compare floats
                raise InputError(
                    f"classes={found} is not the same as on last call to partial_fit, "
                    f"was: {self.classes_}"
                )
            self._check_named(y, found)
            return
        if classes is None and callable(y):
            raise InputError("classes: name all of them before the first answer of an oracle")
        given, name = (y, "y") if classes is None else (as_labels(classes), "classes")
        labelled = present(given)
        if classes is not None and not labelled.all():
            raise InputError("classes: None and NaN are none, they stand for a missing label")
        if len(labelled) > 0 and not labelled.any():
            raise InputError("y: no row has a label yet; name all classes with classes=")
        found = distinct(given[labelled], name)
        self._check_classes(found)
        if len(found) < 2:
            raise InputError(
                f"y: expected two classes or more, found one class, {named(found)}; name "
                "all of them with classes="
            )
        check_threshold(self.threshold, len(found))
        if classes is not None:
            self._check_named(y, found)
        self.classes_ = found

    def _check_classes(self, labels: NDArray[Any]) -> None:
        """InputError unless these can be classes, and the weights that are given are theirs."""
        try:
            check_discrete(labels)
        except ValueError as error:
            hint = "; numbers are for OnlineMKRegressor() (--recipe kernbrook-regression)"
            of_numbers = np.asarray(labels).dtype.kind == "f"
            raise InputError(
                f"y: expected classes, found {named(labels)}{hint if of_numbers else ''}. "
                f"{str(error).partition('. ')[0]}"
            ) from None
        check_keys(self.class_weight, labels)

    def _check_named(self, y: Any, classes: NDArray[Any]) -> None:
        """InputError where a label is none of those that the call names as all."""
        if callable(y):
            return
        labelled = np.flatnonzero(present(y))
        known_numbers(classes, y[labelled], labelled)

    def _of_these(self, oracle: Any) -> Any:
        """The oracle, held to the classes that the call names as all."""
        known = self.classes_

        def ask(row: Any) -> Any:
            label = oracle(row)
            if np.ndim(label) == 0 and not isinstance(label, (dict, set)):
                given = self._labels_of([label])
                known_numbers(known, given[present(given)])
            return label

        return ask

    def _numbers(self, y: NDArray[Any]) -> Ints:
        labelled = present(y)
        numbers = np.full(len(y), self._no_label, dtype=np.int64)
        numbers[labelled] = class_numbers(self.classes_, y[labelled])
        return numbers

    def _lifts(self, labels: Any, weights: Any) -> Any:
        if self.class_weight is None:
            return 1.0
        numbers = np.where(np.atleast_1d(labels) >= 0, labels, -1).astype(np.int64)
        counts = self._model.certain().counts
        found = lifts(self.class_weight, self.classes_, counts, numbers, np.atleast_1d(weights))
        return found if np.ndim(labels) else found[0]

    def _predictions(self, decisions: Floats) -> NDArray[Any]:
        return self.classes_[chosen(decisions)]

    def _prediction(self, decision: Floats, sure: Any) -> Any:
        if sure is None:
            # As `chosen`, in a fourth of the time.
            number = decision.argmax() if len(decision) > 1 else int(decision[0] >= 0)
            return self.classes_[number]
        return self._called(*sure)[0]

    def _kept_check(self) -> None:
        super()._kept_check()
        if "classes_" in vars(self):
            check_threshold(self.threshold, len(self.classes_))

    def _check_fitted(self, width: int) -> None:
        check_kept_classes(vars(self).get("classes_"))
        super()._check_fitted(width)

    def _asks_how_sure(self, given: bool) -> bool:
        return not given or self._by_chance

    def _sure(self, answer: Answer) -> dict[str, Any]:
        agreed = self._agreed(answer.certainty[0], answer.decisions, answer.leanings)
        return {"probabilities": agreed}

    def _predicted_labels(self, answer: Answer) -> NDArray[Any]:
        if not self._by_chance:
            return super()._predicted_labels(answer)
        return self._called(*answer.certainty)

    def _called(self, probabilities: Floats, cuts: Floats, usual: Floats) -> NDArray[Any]:
        known = self.classes_
        if self.threshold is not None:
            threshold = check_threshold(self.threshold, len(known))
            return known[apply_threshold(threshold, probabilities, cuts)]
        return known[leading(self.class_weight, known, probabilities, usual)]

    def _calibrating(self) -> dict[str, Any]:
        return {"cutting": isinstance(self.threshold, str)}  # which takes as long as all else

    def _new_calibration(self, inputs: int) -> Calibration:
        return Calibration(self._scores, inputs)

    def _uninformed(self) -> Any:
        counts = self._model.certain().counts if "_model" in vars(self) else np.zeros(1)
        return self.classes_[counts.argmax()]

    def _no_rows(self, classes: Any) -> Outputs:
        known = getattr(self, "classes_", classes)
        none = as_labels([] if known is None else known)[:0]
        return Outputs(none, np.zeros(0, dtype=bool), np.empty((0, 1)))

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
