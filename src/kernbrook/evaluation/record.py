"""What a prequential run and a comparison leave behind: plain data, and what is read off it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.checks import shown
from kernbrook.errors import InputError
from kernbrook.estimators.tasks import Outputs, Task
from kernbrook.evaluation.changes import Change, Changes
from kernbrook.evaluation.late import HORIZONS
from kernbrook.evaluation.measures import DEFAULT, measures_over
from kernbrook.gram.arrays import Floats, Ints
from kernbrook.results import Cell, Estimate, Measure, Results

OTHERS: dict[Task, dict[str, str]] = {  # measures beside the error, with the headers of tables
    "classification": {"log_loss": "log loss", "auc": "AUC"},
    "regression": {"rmse": "RMSE", "mae": "MAE", "coverage": "coverage"},
}


@dataclass(frozen=True)
class History:
    """A run over time, sampled at the ends of its chunks.

    Attributes
    ----------
    rounds : (h,) rounds seen at each sample; the last is T
    error : (h,) mean error over the rounds so far (mistake rate, or mean squared error)
    n_support_stored, n_support_active, labels_asked : (h,) counts at that moment
    kernel_weights : (h, m) weights of the kernels, `kernel_weights_`; m = 0 without kernels
    kernels : the m kernels' formulas
    measures : by name (h,), of the rounds so far; NaN where one is not known
    """

    rounds: Ints
    error: Floats
    n_support_stored: Ints
    n_support_active: Ints
    labels_asked: Ints
    kernel_weights: Floats
    kernels: tuple[str, ...]
    measures: Mapping[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """The result of one prequential run: test, then ask, then train, one pass.

    Attributes
    ----------
    predictions : (T,) the label predicted at each round, before its own label was seen
    mistakes : (T,) bool, where the prediction was wrong; None of a regressor
    error : of all rounds: mistakes / T, or the mean squared error of a regressor
    labels_asked, n_support_stored, n_support_active : ints, at the end
    seconds : spent in the learner, whose code was compiled and loaded before: wall-clock time, less
        what other processes took of it
    history : the run over time
    labels : (T,) in the order of the run
    classes : (c,) of a classifier, sorted; None of a regressor
    scores : (T,) the decision before each label, positive for the second of two classes; (T, c) of
        more. None where the learner gives none, and in a comparison, which holds many runs
    probabilities : (T, c) before each label, where the learner gives some
    places : (T,) how far each row was from the last label known, from 1; None where each label came
        before the next row
    intervals : (T, 2) around the numbers predicted, where they were asked for or labels came late
    coverage : the share of the labels that the intervals are to cover
    measures : of all rounds, by name: "error", "log_loss" and of two classes "auc"; of numbers
        "mse", "rmse", "mae", and of intervals "coverage" and "width", the mean of those that are
        finite. Those that the learner gives enough for. "auc" goes by the probabilities, else by
        the scores, in bins: within 0.0005 of `roc_auc_score` of scikit-learn
    horizons : see `by_horizon`

    Examples
    --------
    >>> import kernbrook as kb
    >>> X, y = kb.open_stream("checkerboard:600").read()
    >>> record = kb.prequential(kb.OnlineMKClassifier(random_state=0), X, y)
    >>> from sklearn.metrics import accuracy_score, roc_auc_score
    >>> round(roc_auc_score(record.labels, record.scores), 2)
    0.94
    >>> accuracy_score(record.labels[-200:], record.predictions[-200:])
    0.94
    >>> record.confusion().sum(axis=1)
    array([273, 327])
    """

    predictions: NDArray[Any]
    mistakes: NDArray[np.bool_] | None
    error: float
    labels_asked: int
    n_support_stored: int
    n_support_active: int
    seconds: float
    history: History
    labels: NDArray[Any] | None = None
    classes: NDArray[Any] | None = None
    scores: Floats | None = None
    probabilities: Floats | None = None
    places: Ints | None = None
    intervals: Floats | None = None
    coverage: float | None = None
    measures: Mapping[str, float] = field(default_factory=dict)
    horizons: tuple[dict[str, Any], ...] | None = None

    def by_horizon(self) -> list[dict[str, Any]]:
        """What predictions are worth, by how far rows were from the last label known.

        Returns
        -------
        a dict for each class of horizons that there is: `first` and `last` place; `rows`; `error`,
        the share of mistakes or the mean squared error; and what else `measures` has

        Raises
        ------
        InputError
            Each label came before the next row.

        Examples
        --------
        >>> import kernbrook as kb
        >>> X, y = kb.open_stream("checkerboard:600").read()
        >>> record = kb.prequential(kb.OnlineMKClassifier(random_state=0), X, y, every=48)
        >>> [(part["first"], part["last"], part["rows"]) for part in record.by_horizon()]
        [(1, 1, 13), (2, 16, 195), (17, 48, 392)]
        """
        if self.horizons is None:
            raise InputError("by_horizon: each label came before the next row; give delay or every")
        return [*self.horizons]

    def confusion(self) -> Ints:
        """(c, c) how often each class, a row, was taken for each other, in the order of `classes`.

        As scikit-learn's `confusion_matrix` has it.

        Raises
        ------
        InputError
            It is a record of numbers.
        """
        if self.classes is None:
            raise InputError("confusion: expected a record of classes, found one of numbers")
        from sklearn.metrics import confusion_matrix

        return np.asarray(confusion_matrix(self.labels, self.predictions, labels=self.classes))

    def drift(self, detector: Any = None) -> Ints:
        """Rows, from 0 in the order of the run, at which a detector signals that errors change.

        Parameters
        ----------
        detector : None for our own, see `kernbrook.evaluation.Changes`, which looks at every 32nd
            row; or one of River, told of each mistake, or squared error. It is copied, not changed

        References
        ----------
        Bifet, Gavalda (2007), Learning from time-changing data with adaptive windowing.
        """
        if detector is None:
            return np.array([change.noticed - 1 for change in changes_of(self)], dtype=np.int64)
        if isinstance(detector, type) or not hasattr(detector, "drift_detected"):
            raise InputError(f"detector: expected one of river.drift, got {shown(detector)}")
        detector, signals = detector.clone(), []
        for row, error in enumerate(_lost(self).tolist()):
            detector.update(error)
            if detector.drift_detected:
                signals.append(row)
        return np.array(signals, dtype=np.int64)


def by_horizon(
    classes: NDArray[Any] | None, labels: NDArray[Any], outputs: Outputs, places: Ints
) -> tuple[dict[str, Any], ...]:
    """What was said of rows, (n,), at these places is worth; see `Record.by_horizon`."""
    found, first, end = list[dict[str, Any]](), 1, int(places.max())
    for last in (*HORIZONS, end):
        which = (places >= first) & (places <= last)
        if which.any():
            rows = int(which.sum())
            over = measures_over(classes, labels[which], outputs.of(which), np.array([rows]))
            values = {name: float(values[0]) for name, values in over.items()}
            error = values["mse" if classes is None else "error"]
            part = {"first": first, "last": min(last, end), "rows": rows, "error": error}
            found.append(part | values)
        first = last + 1
    return tuple(found)


def changes_of(record: Record, dates: NDArray[np.int64] | None = None) -> list[Change]:
    """All changes of the error of a record; dates : (T,) of its rows, as `Changes.add` has them."""
    changes, lost = Changes(record.mistakes is None, None), _lost(record)
    changes.add(lost, np.arange(len(lost)) + 1, dates)
    return changes.found


def _lost(record: Record) -> NDArray[Any]:
    if record.mistakes is not None:
        return record.mistakes
    return np.asarray((record.predictions - _labels(record)) ** 2)


def _labels(record: Record) -> NDArray[Any]:
    if record.labels is None:
        raise InputError("the record holds no labels")
    return record.labels


@dataclass(frozen=True)
class Row:
    """One recipe's runs in a comparison.

    Attributes
    ----------
    recipe : its name, such as "omkc-dd"
    title : as the paper prints it, such as "OMKC(D,D)"
    runs : one record a permutation
    """

    recipe: str
    title: str
    runs: tuple[Record, ...]

    @property
    def task(self) -> Task:
        """What its runs predict."""
        return "regression" if any(run.mistakes is None for run in self.runs) else "classification"

    @property
    def errors(self) -> Floats:
        """(r,) error of each run: mistakes in per cent, or mean squared errors as they are."""
        scale = 100.0 if self.task == "classification" else 1.0
        return np.array([scale * run.error for run in self.runs])

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures that each run has."""
        others = self.runs[1:]
        return tuple(k for k in self.runs[0].measures if all(k in run.measures for run in others))

    def measured(self, measure: str) -> Floats:
        """(r,) a measure of each run, such as "log_loss", as `Record.measures` has it.

        NaN where a run has not that measure.
        """
        if measure in ("error", "mse"):
            return self.values("error")
        return np.array([float(run.measures.get(measure, np.nan)) for run in self.runs])

    def horizons(self) -> dict[str, Any]:
        """Where labels came late, what the runs were worth at each class of horizons: means."""
        runs = [run.horizons for run in self.runs if run.horizons is not None]
        if not runs:
            return {}
        means = [
            {name: float(np.mean([part.get(name, np.nan) for part in parts])) for name in parts[0]}
            for parts in zip(*runs, strict=True)
        ]
        return {"horizons": means}

    def values(self, name: str) -> Floats:
        """(r,) an attribute of each run, such as "n_support_stored"."""
        return np.array([float(getattr(run, name)) for run in self.runs])


@dataclass(frozen=True)
class Comparison:
    """Several recipes over the same orders of the same data.

    Attributes
    ----------
    data : name of the data
    n_rows, n_features : its shape
    permutations : number of orders, one run of every recipe each
    rows : one a recipe
    best : recipes that a paired t-test (5 %, two-sided) does not tell from the best mean, see
        `best_rows`
    manifest : versions, seed, data hash, command: what it takes to run it again
    left_out : recipes without a row, because a run of theirs overflowed, and what it said
    measure : by which they are compared, such as "mae"; None: mistakes, or mean squared errors
    in_order : whether the one order is that of the data
    dates : (n,) of the rows in this order, microseconds since 1970, by the first column of dates;
        None without one

    Examples
    --------
    >>> import kernbrook as kb
    >>> found = kb.compare("wdbc:90", ["majority", "last-label"], permutations=2, jobs=1)
    >>> found.best, [row.recipe for row in found.rows]
    (('majority', 'last-label'), ['majority', 'last-label'])
    >>> found.rows[0].errors.round(1).tolist()  # of each order, in per cent
    [33.3, 32.2]
    """

    data: str
    n_rows: int
    n_features: int
    permutations: int
    rows: tuple[Row, ...]
    best: tuple[str, ...]
    manifest: dict[str, Any] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    measure: str | None = None
    in_order: bool = False
    dates: Ints | None = None

    @property
    def task(self) -> Task:
        """What the recipes predict, all the same."""
        return self.rows[0].task

    @property
    def by(self) -> str:
        """The measure by which they are compared."""
        return self.measure or DEFAULT[self.task]

    def results(self) -> Results:
        """The same as tidy cells, one a recipe; `to_frame` of them gives a data frame.

        Examples
        --------
        >>> import kernbrook as kb
        >>> result = kb.compare("wdbc", ["majority"], permutations=2, jobs=1).results()
        >>> result.to_frame()[["recipe", "measure", "mean"]].head(1)
             recipe measure       mean
        0  majority   error  37.961336
        """
        header = "mistakes %" if self.task == "classification" else "mean squared error"
        names = {
            "error": header, "n_support_stored": "#SV stored", "n_support_active": "#SV active",
            "labels_asked": "labels asked", "seconds": "seconds",
        }  # fmt: skip

        def estimates(row: Row) -> dict[str, Estimate]:
            found = {k: row.errors if k == "error" else row.values(k) for k in names}
            more = {k: row.measured(k) for k in row.measures if k in OTHERS[self.task]}
            return {name: Estimate.of(values) for name, values in {**found, **more}.items()}

        cells = tuple(
            Cell(
                {"data": self.data, "recipe": row.recipe, "title": row.title},
                estimates(row),
                facts={"best": row.recipe in self.best, **row.horizons()},
            )
            for row in self.rows
        )
        shown = names | OTHERS[self.task]
        measures = tuple(Measure(name, text) for name, text in shown.items())
        return Results("compare", f"online learning on {self.data}", measures, cells,
                       manifest=self.manifest)  # fmt: skip
