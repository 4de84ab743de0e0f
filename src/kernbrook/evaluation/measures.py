"""What predictions cost: sums that merge, and measures of them, beside those of trivial rules."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import LARGEST
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.estimators.confidence import intervals_of
from kernbrook.estimators.labels import as_labels, class_numbers, plain, present
from kernbrook.estimators.tasks import Outputs, Task, predict_outputs
from kernbrook.estimators.trivial import TrivialClassifier, TrivialRegressor, rule_of
from kernbrook.gram.arrays import Floats, Ints
from kernbrook.plain_values import Count, Size, read_as
from kernbrook.streams.booleans import spelled_as
from kernbrook.streams.stream import has_label, is_label
from kernbrook.streams.tables.values import LevelCounts

if TYPE_CHECKING:
    from kernbrook.evaluation.windows import Judge

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
SMALLEST_CHANCE = float(np.finfo(np.float64).eps)  # that counts in a log loss, as in scikit-learn
LARGEST_SUM = sys.float_info.max  # no file can hold infinity
NO_DATE = int(np.iinfo(np.int64).min)  # of a row

# Scores are told apart by bins, 1.1 to 1.6 % of a score wide, so scores of any unit will do.
STEPS = 64  # bins for each doubling of a score's size
LEAST, MOST = -32, 32  # powers of two between which sizes of scores are told apart
HALF = STEPS * (MOST - LEAST)
BINS = 2 * HALF + 1

# What each row costs, by the name of the cost; the means of costs are measures, or lead to them.
Costs = dict[str, NDArray[Any]]


def measure_named(name: str, task: Task | None = None) -> str:
    """The measure of that name, for that task: log_loss may be written LogLoss or log-loss."""
    known = {name: of for of, names in MEASURES.items() for name in names}
    written = str(name).lower().replace("_", "").replace("-", "")
    found = next((name for name in known if name.replace("_", "") == written), None)
    if found is None:
        raise UnknownNameError("measure", str(name), list(known))
    if task not in (None, known[found]):
        labels = "numbers" if task == "classification" else "classes"
        raise InputError(
            f"measure: {found} is for labels that are {labels}; for these there are "
            f"{', '.join(MEASURES[task])}"
        )
    return found


def shortfall(measure: str, values: Any) -> Any:
    """Values of a measure so that the least is the best: AUC from 1, coverage from 0.9."""
    if measure == "auc":
        return 1.0 - values
    return np.abs(values - COVERAGE) if measure == "coverage" else values


# -- what rows cost ------------------------------------------------------------------------------


def losses(predicted: NDArray[Any], y: NDArray[Any], task: Task) -> NDArray[Any]:
    """(n,) bool, whether each prediction is a mistake; or of numbers, the squared errors."""
    if task == "classification":
        return np.asarray(predicted != y)
    with np.errstate(over="ignore"):
        return np.asarray((predicted - y) ** 2)


def summed(total: float, more: NDArray[Any]) -> NDArray[Any]:
    """(n + 1,) a sum so far and after each row; of mistakes integers.

    Rows are added one after the other: how they are cut into chunks does not matter.
    """
    more = more.astype(np.int64 if more.dtype == bool else np.float64)
    with np.errstate(over="ignore"):
        return np.add.accumulate(np.concatenate([[total], more]))


def added(total: float, more: NDArray[Any]) -> float:
    """The last of `summed`."""
    found: float = summed(total, more)[-1].item()
    return found


def judged_labels(classes: NDArray[Any] | None, y: Any) -> tuple[NDArray[Any], Any, int]:
    """(n,) bool, which rows have a label that a model of these classes can know.

    And these labels, of classes their numbers; and how many rows have none at all.
    """
    y = as_labels(y)
    labelled = present(y)
    if classes is None:
        numbers, found = np.full(len(y), np.nan), plain(y[labelled])
        if found.dtype.kind in "biuf":
            numbers[labelled] = found
        known = np.abs(numbers) < LARGEST
    else:
        numbers = np.full(len(y), -1)
        numbers[labelled] = class_numbers(classes, spelled_as(y[labelled], classes))
        known = numbers >= 0
    return known, numbers[known], int((~labelled).sum())


def costs_of(classes: NDArray[Any] | None, numbers: NDArray[Any], outputs: Outputs) -> Costs:
    """What rows cost whose labels are numbers, (n,); of classes (c,) those from 0.

    "error", bool, with probabilities "log_loss", of which none is below 2^-52. Of numbers "squared"
    and "absolute" errors, with intervals "covered", bool, "width" and "finite", bool: which have
    one; the others count 0.
    """
    if classes is not None:
        costs: Costs = {"error": class_numbers(classes, outputs.predictions) != numbers}
        if outputs.probabilities is not None:
            chances = outputs.probabilities[np.arange(len(numbers)), numbers]
            costs["log_loss"] = -np.log(np.clip(chances, SMALLEST_CHANCE, 1 - SMALLEST_CHANCE))
        return costs
    squared = losses(outputs.predictions, numbers, "regression")
    costs = {"squared": squared, "absolute": np.abs(outputs.predictions - numbers)}
    if outputs.intervals is not None:
        low, high = outputs.intervals.T
        finite = np.isfinite(high - low)
        costs["covered"] = (low <= numbers) & (numbers <= high)
        costs |= {"width": np.where(finite, high - low, 0.0), "finite": finite}
    return costs


def measures_of(sums: Mapping[str, Any], rows: Any) -> dict[str, Floats]:
    """The measures that costs lead to: sums of each cost over the first rows, (h,), so many (h,).

    Error and coverage are shares. With "coverage" comes "width", the mean width of the intervals
    that are finite; NaN as long as there is none.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        means = {name: np.asarray(total, dtype=float) / rows for name, total in sums.items()}
        found: dict[str, Floats] = {k: means[k] for k in ("error", "log_loss") if k in means}
        if "squared" in means:
            found["mse"], found["rmse"] = means["squared"], np.sqrt(means["squared"])
        for name, cost in (("mae", "absolute"), ("coverage", "covered")):
            if cost in means:
                found[name] = means[cost]
        if means.keys() >= {"width", "finite"} and np.any(sums["finite"]):
            found["width"] = np.asarray(sums["width"], dtype=float) / sums["finite"]
    return found


def ranking_scores(outputs: Outputs) -> Floats | None:
    """(n,) by which rows of two classes are ranked: log odds, else scores; None without any."""
    scores = outputs.scores
    if outputs.probabilities is not None:
        with np.errstate(divide="ignore"):
            scores = np.subtract(*np.log(outputs.probabilities.T[::-1]))
    return None if scores is None or np.isnan(scores).any() else scores.ravel()


def bins_of(scores: Floats) -> Ints:
    """(n,) the numbers of the bins of scores, (n,), from 0: they rise with the scores."""
    sizes = np.abs(scores)
    mantissas, powers = np.frexp(np.where(np.isfinite(sizes), sizes, 2.0**MOST))
    steps = (powers - 1 - LEAST) * STEPS + np.floor((2 * mantissas - 1) * STEPS)
    places = 1 + np.clip(steps, 0, HALF - 1).astype(np.int64)
    return np.asarray(HALF + np.sign(scores).astype(np.int64) * places)


def ranks_of(numbers: Ints, bins: Ints, n_bins: int = BINS) -> Ints:
    """(2, n_bins) how often each bin came with labels of class 0 and of class 1."""
    return np.bincount(numbers * n_bins + bins, minlength=2 * n_bins).reshape(2, n_bins)


def area(ranks: Ints) -> float:
    """The area under the ROC curve: the share of pairs of unlike labels that are ranked rightly.

    Pairs in one bin count half, which is exact where each bin has labels of one class. Of
    probabilities of real streams the area is off by 0.0001 or less. NaN without such pairs.
    """
    negative, positive = ranks.astype(np.float64)
    pairs = negative.sum() * positive.sum()
    return float(positive @ (np.cumsum(negative) - negative / 2) / pairs) if pairs else math.nan


def areas(numbers: Ints, scores: Floats, ends: Sequence[int] | Ints) -> Floats:
    """(h,) the area after so many rows each, which rise; as `area` of all rows up to there."""
    _, bins = np.unique(bins_of(scores), return_inverse=True)  # the others add nothing
    ranks, start, found = np.zeros((2, int(bins.max()) + 1), dtype=np.int64), 0, []
    for end in ends:
        ranks += ranks_of(numbers[start:end], bins[start:end], ranks.shape[1])
        found.append(area(ranks))
        start = end
    return np.array(found)


def measures_over(
    classes: NDArray[Any] | None, y: NDArray[Any], outputs: Outputs, ends: Ints
) -> dict[str, Floats]:
    """The measures of a model after so many rows each, (h,) rising; those that all rows have.

    y : (n,) labels, all there; said : of the same rows
    """
    known, numbers, _ = judged_labels(classes, y)
    if not len(numbers):
        return {}
    outputs, rows = outputs.of(known), np.cumsum(known)[ends - 1]
    costs = costs_of(classes, numbers, outputs)
    found = measures_of({name: summed(0, cost)[rows] for name, cost in costs.items()}, rows)
    if classes is not None and len(classes) == 2:
        scores = ranking_scores(outputs)
        if scores is not None:
            found["auc"] = areas(numbers, scores, rows)
    return found


# -- sums ----------------------------------------------------------------------------------------


@dataclass
class Sums:
    """What rows cost that follow each other: sums that merge."""

    rows: Count = 0
    judged: Count = 0  # rows whose label was predicted before it was seen
    sums: dict[str, Size] = field(default_factory=dict)  # of costs that all judged rows have
    began: int | None = None  # the earliest date, microseconds since 1970; None without dates
    ended: int | None = None  # the latest

    def add(self, rows: int, costs: Mapping[str, NDArray[Any]], dates: Any = None) -> None:
        """Take in more rows, what the judged ones of them cost, and the dates, (n,) or None."""
        judged = len(next(iter(costs.values()), ()))
        self._take(rows, judged, {k: added(self.sums.get(k, 0), cost) for k, cost in costs.items()})
        if dates is not None and (moments := dates[dates != NO_DATE]).size:
            self._over(int(moments.min()), int(moments.max()))

    def join(self, other: Sums) -> None:
        sums = {name: self.sums.get(name, 0) + total for name, total in other.sums.items()}
        self._take(other.rows, other.judged, sums)
        if other.began is not None and other.ended is not None:
            self._over(other.began, other.ended)

    def _take(self, rows: int, judged: int, sums: Mapping[str, float]) -> None:
        self.rows += rows
        if judged:
            known = {name for name in sums if name in self.sums or not self.judged}
            self.sums = {k: min(total, LARGEST_SUM) for k, total in sums.items() if k in known}
            self.judged += judged

    def _over(self, began: int, ended: int) -> None:
        self.began = began if self.began is None else min(began, self.began)
        self.ended = ended if self.ended is None else max(ended, self.ended)

    def mean(self, name: str) -> float | None:
        """The mean of a cost over the judged rows; None where it is not known."""
        return self.sums[name] / self.judged if self.judged and name in self.sums else None

    def values(self) -> dict[str, float]:
        """The measures that all rows have, by name; see `measures_of`."""
        found = measures_of(self.sums, self.judged) if self.judged else {}
        return {name: float(value) for name, value in found.items()}


# -- beside trivial rules ------------------------------------------------------------------------


class Rule:
    """A trivial rule, which looks at no features, and what it has cost.

    learns : whether it learns each label after its row; else it says what it knows by now
    """

    def __init__(self, estimator: Any, classes: NDArray[Any] | None, learns: bool = True):
        self.estimator, self.classes, self.learns = estimator, classes, learns
        self.sums = Sums()

    @property
    def prediction(self) -> Any:
        """What it says always; None where it still learns."""
        return None if self.learns else self.estimator.predict(_ROW)[0]

    def add(self, y: NDArray[Any], coverage: float | None) -> Costs:
        """What it costs on more rows; y : (n,) labels, of classes their numbers."""
        classes = None if self.classes is None else np.arange(len(self.classes))
        known = {} if classes is None else {"classes": classes}
        with intervals_of(coverage):
            if self.learns:
                outputs: Outputs = self.estimator._learn_scored(_ROW, y, **known)
            else:  # the same of each row
                outputs = predict_outputs(self.estimator, _ROW).of(np.zeros(len(y), np.intp))
                classes = self.classes
        costs = costs_of(classes, y, outputs)
        self.sums.add(len(y), costs)
        return costs

    def values(self) -> dict[str, float]:
        """As those of sums; a rule that looks at no features ranks no better than chance."""
        found = self.sums.values()
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
    model : its sums, of the rows with a label that it can know
    ranks : of two classes how all these rows are ranked, see `ranks_of`; None where one is not
    rules : by name; "learned" is that of the labels that the model has learned, "last" repeats the
        last label before these rows, the others know the label of each row after it
    unlabelled, unknown : rows without a label, and with one that the model cannot know; they are
        left out

    Examples
    --------
    >>> measures = Measures(np.array(["no", "yes"]))
    >>> chances = np.array([[0.1, 0.9], [0.8, 0.2], [0.7, 0.3]])
    >>> outputs = Outputs(np.array(["yes", "no", "no"]), np.zeros(3, bool), probabilities=chances)
    >>> costs = measures.add(np.array(["yes", "yes", "no"]), outputs)
    >>> costs["model"]["error"], costs["majority"]["error"]
    (array([False,  True, False]), array([False, False,  True]))
    >>> {name: round(value, 2) for name, value in measures.values()["model"].items()}
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
        self.classes, self.coverage = classes, coverage
        known = {k: r for k, r in ((LEARNED, rule_of(model)), (LAST, last)) if r is not None}
        self.rules = {name: Rule(rule, classes, learns=False) for name, rule in known.items()}
        if classes is not None and len({rule.prediction for rule in self.rules.values()}) == 1:
            self.rules.pop(LAST, None)  # both say one label
        make = TrivialRegressor if classes is None else TrivialClassifier
        names = RULES[self.task] if rules is None else rules
        self.rules |= {name: Rule(make(name), classes) for name in names}
        self.begin()

    def begin(self) -> None:
        """Count from here on; the rules know what they know."""
        self.model, self.unlabelled, self.unknown = Sums(), 0, 0
        self.ranks: Ints | None = None
        for rule in self.rules.values():
            rule.sums = Sums()

    @property
    def task(self) -> Task:
        """What is predicted."""
        return "regression" if self.classes is None else "classification"

    def add(self, y: Any, outputs: Outputs) -> dict[str, Costs]:
        """Count more rows: labels (n,), of which None and NaN are none, and what was said of them.

        Returns what each row with a label that the model can know costs, for "model" and each rule.
        """
        return self.judge(y, outputs)[1]

    def judge(self, y: Any, outputs: Outputs) -> tuple[NDArray[np.bool_], dict[str, Costs]]:
        """As `add`; and first (n,) bool, which rows have such a label."""
        known, numbers, unlabelled = judged_labels(self.classes, y)
        self.unlabelled += unlabelled
        self.unknown += len(known) - len(numbers) - unlabelled
        if not len(numbers):
            return known, {}
        outputs = outputs.of(known)
        if self.classes is not None and len(self.classes) == 2:
            scores, ranks = ranking_scores(outputs), self.ranks
            if ranks is None and self.model.judged == 0:
                ranks = np.zeros((2, BINS), dtype=np.int64)
            self.ranks = None
            if scores is not None and ranks is not None:
                self.ranks = ranks + ranks_of(numbers, bins_of(scores))
        costs = costs_of(self.classes, numbers, outputs)
        self.model.add(len(numbers), costs)
        rules = {name: rule.add(numbers, self.coverage) for name, rule in self.rules.items()}
        return known, {"model": costs, **rules}

    def know(self, classes: NDArray[Any]) -> None:
        """Classes that the model knows by now; those that it knew are among them."""
        if self.classes is None or len(self.classes) == len(classes):
            return
        places = class_numbers(classes, self.classes)
        self.classes, self.ranks = classes, None
        for rule in self.rules.values():
            rule.classes, known = classes, vars(rule.estimator)
            if "counts_" in known:
                counts = np.zeros(len(classes), dtype=np.int64)
                counts[places] = known["counts_"]
                last = int(places[known["last_"]])
                known.update(classes_=np.arange(len(classes)), counts_=counts, last_=last)

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
        values = self.model.values()
        if self.ranks is not None:
            values["auc"] = area(self.ranks)
        return {"model": values, **{name: rule.values() for name, rule in self.rules.items()}}

    def described(self) -> dict[str, Any]:
        """What was counted and what the rules know so far, as plain values for a file."""
        rules = {
            name: [asdict(rule.sums), _known(rule.estimator)]
            for name, rule in self.rules.items()
            if rule.learns
        }
        roc = None
        if self.ranks is not None:
            where = np.flatnonzero(self.ranks.any(axis=0))
            roc = np.column_stack([where, *self.ranks[:, where]]).tolist()
        model = {**asdict(self.model), "roc": roc}
        return {
            "unlabelled": self.unlabelled, "unknown": self.unknown, "model": model, "rules": rules
        }  # fmt: skip

    def restore(self, described: Any) -> None:
        """Go on from what `described` of such measures told; InputError where it did not."""
        found = read_as(_Described, described, "measures")
        self.unlabelled, self.unknown = found.unlabelled, found.unknown
        self.model, roc = _sums(found.model), found.model.get("roc")
        if self.classes is not None and len(self.classes) == 2 and roc is not None:
            self.ranks = np.zeros((2, BINS), dtype=np.int64)
            for entry in read_as(list[list[_Ranked]], roc, "measures: roc"):
                if not (len(entry) == 3 and entry[0] < BINS):
                    raise InputError("measures: roc: expected numbers of bins, and two counts each")
                self.ranks[:, entry[0]] = entry[1:]
        for name, rule in self.rules.items():
            if rule.learns and name in found.rules:
                entry = [*found.rules[name], None, None]
                rule.sums = _sums(entry[0])
                _know(rule.estimator, entry[1], self.classes)


_Ranked = Annotated[int, 0, 2**53]


@dataclass
class _Described:
    unlabelled: Count
    unknown: Count
    model: dict[str, Any]
    rules: dict[str, list[Any]]


def _sums(given: Any) -> Sums:
    """The sums of a model or rule in a file; in older files each cost has its number of rows."""
    sums: Sums = read_as(Sums, given, "measures")
    if "counts" in given:
        counts = read_as(dict[str, Count], given["counts"], "measures: counts")
        placed = {"finite": counts.pop("width")} if "width" in counts else {}
        placed |= {k: v for k, v in sums.sums.items() if counts.get(k, sums.rows) == sums.rows}
        sums.judged, sums.sums = sums.rows, placed
        if counts.get("ranked") != sums.rows:
            given["roc"] = None
    return sums


def _known(estimator: Any) -> dict[str, Any]:
    names = (name for name in estimator._learned if name in vars(estimator))
    found = {name: getattr(estimator, name) for name in names if name != "classes_"}
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in found.items()}


def _know(estimator: Any, known: Any, classes: NDArray[Any] | None) -> None:
    if not isinstance(known, dict) or not known.keys() <= set(estimator._learned):
        raise InputError("measures: expected what a trivial rule has learned")
    learned = dict(known)
    if known and classes is not None:
        counts = read_as(list[Count], known.get("counts_"), "measures: counts_")
        learned |= {"classes_": np.arange(len(classes)), "counts_": np.array(counts, np.int64)}
    estimator.check_learned(learned)
    vars(estimator).update(learned)


# -- labels that may be there --------------------------------------------------------------------


@dataclass
class Tally:
    """Predictions of a model that learns no more against the labels of some data.

    Beside its measures stand those of the majority or the mean of what it has learned, and of these
    rows, and of the last label before them.
    """

    measures: Measures
    positive: str | None = None  # the label that is +1, all others being -1
    level_counts: Sequence[LevelCounts] = ()  # of each column of declared levels
    _placeholders: bool = field(default=True, repr=False)
    _first: Any = field(default=None, repr=False)

    @classmethod
    def of(
        cls, model: Any, positive: str | None, coverage: float | None, judge: Judge | None = None
    ) -> Tally:
        """An empty one for a model that has learned, and its intervals, if it gives some.

        judge : of what it has learned; None where nobody judged that
        """
        classes = getattr(model, "classes_", None)
        names = RULES["regression" if classes is None else "classification"]
        last = None if judge is None else judge.measures.last_known()
        return cls(Measures(classes, coverage, model, names[:1], last), positive)

    def add(self, y: NDArray[Any], outputs: Outputs) -> None:
        """Count more rows: labels (n,), of which None and NaN are none, and what was said."""
        if not len(y):
            return
        labelled = has_label(y)
        if self.positive is not None:
            try:
                here = is_label(y, self.positive)
            except ValueError:
                here = np.zeros(len(y), dtype=bool)
            self._placeholders = self._placeholders and not here.any()
            y = np.where(labelled, np.where(here, 1.0, -1.0), np.nan)
        elif labelled.any():
            self._first = y[labelled][0] if self._first is None else self._first
            self._placeholders = self._placeholders and bool((y[labelled] == self._first).all())
        self.measures.add(y, outputs)

    @property
    def judged(self) -> Measures | None:
        """The measures; None where the data only have something in the place of labels.

        Data without a single positive label are taken to have placeholders, and so are numbers, and
        labels that the model does not know, that are all the same.
        """
        known = self.measures.model.rows > 0 and self.measures.classes is not None
        if self._placeholders and not (known and self.positive is None):
            return None
        return self.measures
