"""Measures of predictions, beside those of trivial rules on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import LARGEST
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.estimators.intervals import intervals_of
from kernbrook.estimators.labelled import as_labels, class_numbers, plain, present
from kernbrook.estimators.tasks import Learned, Task, read
from kernbrook.estimators.trivial import TrivialClassifier, TrivialRegressor, rule_of
from kernbrook.evaluation.measuring.accounts import (
    Account,
    Costs,
    costs_of_classes,
    costs_of_numbers,
)
from kernbrook.plain_values import is_count
from kernbrook.streams.booleans import spelled_as

COVERAGE = 0.9  # of intervals where none is named

MEASURES: dict[Task, tuple[str, ...]] = {
    "classification": ("error", "log_loss", "auc"),
    "regression": ("mse", "rmse", "mae", "coverage"),
}
DEFAULT: dict[Task, str] = {"classification": "error", "regression": "mse"}
OF_SIZES = ("mse", "rmse", "mae")  # of errors, which may differ by powers of ten
RULES: dict[Task, tuple[str, ...]] = {
    "classification": ("majority", "last-label"),
    "regression": ("mean", "last-value"),
}
LEARNED = "learned"  # the rule whose labels are those that a model has learned, and no more
LAST = "last"  # the rule that repeats the last label before the rows


def measure_named(name: str, task: Task | None = None) -> str:
    """The measure of that name: log_loss may be written logloss or log-loss.

    Raises
    ------
    UnknownNameError
        There is none.
    InputError
        It is one of the other task.

    Examples
    --------
    >>> measure_named("LogLoss", "classification")
    'log_loss'
    """
    every = {_plain(one): (of, one) for of, names in MEASURES.items() for one in names}
    of, found = every.get(_plain(str(name)), (None, name))
    if of is None:
        raise UnknownNameError("measure", str(name), [one for _, one in every.values()])
    if of != (task or of):
        labels = "classes" if of == "classification" else "numbers"
        raise InputError(
            f"measure: {found} is for labels that are {labels}; for these there are "
            f"{', '.join(MEASURES[task or of])}"
        )
    return found


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def shortfall(measure: str, values: Any) -> Any:
    """Values of a measure so that the least is the best: those of AUC from 1, of coverage from 0.9.

    Examples
    --------
    >>> shortfall("mae", 0.5), shortfall("auc", 0.75), round(float(shortfall("coverage", 1.0)), 2)
    (0.5, 0.25, 0.1)
    """
    if measure == "auc":
        return 1.0 - values
    return np.abs(values - COVERAGE) if measure == "coverage" else values


class Rule:
    """A trivial rule, which looks at no features, and what it has cost.

    Parameters
    ----------
    estimator : of the module `kernbrook.estimators.trivial`
    classes : (c,) labels; None of numbers
    learns : whether it learns each label after its row; else it says what it knows by now
    """

    def __init__(self, estimator: Any, classes: NDArray[Any] | None, learns: bool = True):
        self.estimator, self.classes, self.learns = estimator, classes, learns
        self.account = Account()

    @property
    def says(self) -> Any:
        """What it says always; None where it still learns."""
        return None if self.learns else self.estimator.predict(_ROW)[0]

    def add(self, y: NDArray[Any], coverage: float | None) -> Costs:
        """What it costs on more rows; y : (n,) labels, of classes their numbers."""
        said = self._learn(y, coverage) if self.learns else self._say(len(y), coverage)
        if self.classes is None:
            costs = costs_of_numbers(y, said.predictions, said.intervals)
        else:
            costs = costs_of_classes(y, said.predictions, said.probabilities)
        self.account.add(costs)
        return costs

    def _learn(self, y: NDArray[Any], coverage: float | None) -> Learned:
        """What it says of each row, and then knows its label."""
        known = {} if self.classes is None else {"classes": np.arange(len(self.classes))}
        with intervals_of(coverage):
            learned: Learned = self.estimator._learn_scored(_ROW, y, **known)
        return learned

    def _say(self, n: int, coverage: float | None) -> Learned:
        """What it says of n rows, the same of each."""
        with intervals_of(coverage):
            said = read(self.estimator, _ROW)
        if self.classes is not None:
            said = said._replace(predictions=class_numbers(self.classes, said.predictions))
        return said.of(np.zeros(n, dtype=np.intp))

    def values(self) -> dict[str, float]:
        """As those of an account; a rule that looks at no features ranks no better than chance."""
        found = self.account.values()
        two = self.classes is not None and len(self.classes) == 2
        return {**found, "auc": 0.5} if two and found else found


_ROW = np.empty((1, 0))  # rules look at no features


class Measures:
    """What a model's predictions cost, beside what trivial rules cost on the same rows.

    In memory of fixed size, and the same however the rows are cut into chunks.

    Parameters
    ----------
    classes : (c,) labels that the model knows, sorted; None of numbers
    coverage : what share of the labels intervals are to cover; None: there are none
    model : what predicts, where it learns no more: the rule of the labels that it has learned then
        stands beside, as far as it knows them; see `rule_of`
    rules : names of those that know the label of each row after it; all by default
    last : what repeats the last label before these rows, as `last_known` gives it

    Attributes
    ----------
    model : its account
    rules : by name; "learned" is that of the labels that the model has learned, "last" repeats the
        last label before these rows, the others know the label of each row after it
    unlabelled, unknown : rows without a label, and with one that the model cannot know; they are
        left out

    Examples
    --------
    >>> measures = Measures(np.array(["no", "yes"]))
    >>> chances = np.array([[0.1, 0.9], [0.8, 0.2], [0.7, 0.3]])
    >>> said = Learned(np.array(["yes", "no", "no"]), np.zeros(3, bool), probabilities=chances)
    >>> costs = measures.add(np.array(["yes", "yes", "no"]), said)
    >>> costs["model"]["error"], costs["majority"]["error"]
    (array([False,  True, False]), array([False, False,  True]))
    >>> {name: round(value, 2) for name, value in measures.model.values().items()}
    {'error': 0.33, 'log_loss': 0.69, 'auc': 0.5}
    """

    def __init__(
        self,
        classes: NDArray[Any] | None,
        coverage: float | None = None,
        model: Any = None,
        rules: Sequence[str] | None = None,
        last: Any = None,
    ):
        self.classes, self.coverage, self.model = classes, coverage, Account()
        self.unlabelled = self.unknown = 0
        make = TrivialRegressor if classes is None else TrivialClassifier
        names = RULES[self.task] if rules is None else rules
        self.rules = {name: Rule(make(name), classes) for name in names}
        frozen = {LEARNED: rule_of(model), LAST: last}
        known = {
            k: Rule(one, classes, learns=False) for k, one in frozen.items() if one is not None
        }
        if classes is not None and len({rule.says for rule in known.values()}) == 1:
            known.pop(LAST, None)  # both say one label
        self.rules = {**known, **self.rules}

    @property
    def task(self) -> Task:
        """What is predicted."""
        return "regression" if self.classes is None else "classification"

    def add(self, y: Any, said: Learned) -> dict[str, Costs]:
        """Count more rows.

        Parameters
        ----------
        y : (n,) labels; None or NaN is none
        said : of the same rows, as `scored` or `read` of an estimator give it

        Returns
        -------
        what each row with a label that the model can know costs, for "model" and each rule
        """
        y = as_labels(y)
        there, numbers = self._numbers(y)
        known = numbers >= 0 if self.classes is not None else np.abs(numbers) < LARGEST
        self.unlabelled += int((~there).sum())
        self.unknown += int((there & ~known).sum())
        if not known.any():
            return {}
        numbers, said = numbers[known], said.of(known)
        if self.classes is None:
            costs = costs_of_numbers(numbers, said.predictions, said.intervals)
        else:
            own = class_numbers(self.classes, said.predictions)
            costs = costs_of_classes(numbers, own, said.probabilities)
            if len(self.classes) == 2:
                self.model.rank(numbers, said)
        self.model.add(costs)
        rules = {name: rule.add(numbers, self.coverage) for name, rule in self.rules.items()}
        return {"model": costs, **rules}

    def _numbers(self, y: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Where there is a label; and the labels, of classes their numbers, -1 of others."""
        there = present(y)
        if self.classes is None:
            numbers, found = np.full(len(y), np.nan), plain(y[there])
            if found.dtype.kind in "biuf":
                numbers[there] = found
            return there, numbers
        numbers = np.full(len(y), -1)
        numbers[there] = class_numbers(self.classes, spelled_as(y[there], self.classes))
        return there, numbers

    def last_known(self) -> Any:
        """What repeats the last label by now, and learns no more; None before there is one."""
        known = copy(self.rules[RULES[self.task][1]].estimator)
        if not hasattr(known, "labels_asked_"):
            return None
        if self.classes is not None:
            known.classes_ = self.classes
        return known

    def values(self) -> dict[str, dict[str, float]]:
        """The measures of the model and of each rule; none where no row has a label."""
        rules = {name: rule.values() for name, rule in self.rules.items()}
        return {"model": self.model.values(), **rules}

    def described(self) -> dict[str, Any]:
        """What was counted and what the rules know so far, as plain values for a file."""
        rules = {
            name: [rule.account.described(), _known(rule.estimator)]
            for name, rule in self.rules.items()
            if rule.learns
        }
        counts = {"unlabelled": self.unlabelled, "unknown": self.unknown}
        return {**counts, "model": self.model.described(), "rules": rules}

    def restore(self, described: Any) -> None:
        """Go on from what `described` of such measures told; InputError where it did not."""
        rules = described.get("rules") if isinstance(described, dict) else None
        learning = {name: rule for name, rule in self.rules.items() if rule.learns}
        if not isinstance(rules, dict) or rules.keys() != learning.keys():
            raise InputError(f"measures: expected a model and the rules {', '.join(learning)}")
        self.model = Account.restored(described.get("model"))
        for name, rule in learning.items():
            account, known = rules[name] if _is_pair(rules[name]) else (None, None)
            rule.account = Account.restored(account)
            _know(rule.estimator, known, self.classes)
        for name in ("unlabelled", "unknown"):
            if not is_count(described.get(name)):
                raise InputError(f"measures: expected a number of rows as {name}")
            setattr(self, name, described[name])


def _known(estimator: Any) -> dict[str, Any]:
    """What a rule has learned, as plain values."""
    names = (name for name in estimator._learned if name in vars(estimator))
    found = {name: getattr(estimator, name) for name in names if name != "classes_"}
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in found.items()}


def _know(estimator: Any, known: Any, classes: NDArray[Any] | None) -> None:
    """Let a rule go on from what `_known` told."""
    if not isinstance(known, dict) or not known.keys() <= set(estimator._learned):
        raise InputError("measures: expected what a trivial rule has learned")
    learned = dict(known)
    if known and classes is not None:
        try:
            counts = np.array(known.get("counts_"), dtype=np.int64)
        except (TypeError, ValueError, OverflowError):
            raise InputError("measures: expected how often each label came") from None
        learned |= {"classes_": np.arange(len(classes)), "counts_": counts}
    estimator.check_learned(learned)
    vars(estimator).update(learned)


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, list | tuple) and len(entry) == 2
