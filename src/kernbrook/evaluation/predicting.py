"""What a saved model says of new rows; and a model of a table in one call."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook.engine.progress import MOST_ROUNDS
from kernbrook.errors import DataFileWarning, InputError
from kernbrook.estimators.classifier import OnlineMKClassifier
from kernbrook.estimators.confidence import check_coverage, intervals_of
from kernbrook.estimators.labels import check_threshold
from kernbrook.estimators.late import rows_waiting
from kernbrook.estimators.table_model import TableModel
from kernbrook.estimators.table_model import open_like as open_like
from kernbrook.estimators.tasks import Outputs, joined, predict_outputs, task_of
from kernbrook.evaluation.checkpoint import load_learned
from kernbrook.evaluation.recipes_wanted import OURS, make_online, note_counts, task_of_labels
from kernbrook.streams import TableEncoder, open_stream
from kernbrook.streams.loading import pa
from kernbrook.streams.opening import is_frame
from kernbrook.streams.stream import Features
from kernbrook.streams.tables.values import warn_of_levels
from kernbrook.telling import warn_caller, warnings_together

_METHODS = {
    "scores": "decision_function",
    "proba": "predict_proba",
    "interval": "predict_interval",
}


class ExtraOutputs(NamedTuple):
    """What is wanted of predictions besides the labels.

    scores : what `decision_function` gives: of one expert its own, else the combined vote
    proba : probabilities, a column for each class
    interval : the share of numbers that intervals are to cover; None: none are wanted
    """

    scores: bool = False
    proba: bool = False
    interval: float | None = None

    def check(self, model: Any) -> None:
        if self.interval is not None:
            check_coverage("interval", self.interval)
        for name, method in _METHODS.items():
            if getattr(self, name) and not hasattr(model, method):
                of_numbers = task_of(model) == "regression"
                other, instead = "interval" if of_numbers else "proba", ""
                if of_numbers != (name == "interval"):
                    instead = f"; {other} (--{other}) says how sure it is"
                raise InputError(f"{name}: {type(model).__name__} has none{instead}")

    def values(self, outputs: Outputs) -> NDArray[np.float64] | None:
        """The one thing that is wanted besides the labels; None where nothing is."""
        if self.scores and outputs.scores is not None:
            return outputs.scores[:, 0] if outputs.scores.shape[1] == 1 else outputs.scores
        if self.proba:
            return outputs.probabilities
        return None if self.interval is None else outputs.intervals

    def columns(self, model: Any, outputs: Outputs) -> dict[str, NDArray[Any]]:
        """Predictions with all that is wanted, as columns by name.

        "prediction"; "score of LABEL" for each class, of two the second; the name of each class for
        its probability; "low" and "high".
        """
        found = {"prediction": outputs.predictions}
        classes = [str(label) for label in getattr(model, "classes_", ())]
        if self.scores and outputs.scores is not None:
            names = classes if outputs.scores.shape[1] > 1 else classes[1:]
            found |= {f"score of {k}": v for k, v in zip(names, outputs.scores.T, strict=True)}
        if self.proba and outputs.probabilities is not None:
            for name, values in zip(classes, outputs.probabilities.T, strict=True):
                found[f"probability of {name}" if name in found else name] = values
        if self.interval is not None and outputs.intervals is not None:
            found |= dict(zip(("low", "high"), outputs.intervals.T, strict=True))
        return found


def predict_frozen(model: Any, X: Features, coverage: float | None = None) -> Outputs:
    """All that a model says of rows (n, d), which are taken to be far from its last label.

    The model learns no more. Its own `delay`, if it is a number, says otherwise.

    coverage : of intervals, where the model gives some
    """
    with warnings.catch_warnings(), rows_waiting(MOST_ROUNDS), intervals_of(coverage):
        # `open_like` has compared the names.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return predict_outputs(model, X)


def with_threshold(model: Any, threshold: Any) -> Any:
    """A classifier that predicts by another threshold; what it has learned is the same."""
    if not isinstance(model, OnlineMKClassifier):
        raise InputError(f"threshold: {type(model).__name__} takes none")
    check_threshold(threshold, len(model.classes_))
    other = object.__new__(type(model))
    other.__dict__.update(vars(model), threshold=threshold)
    return other


def predict_stream(
    model: Any,
    data: Any,
    scores: bool = False,
    written: Mapping[str, Any] | None = None,
    proba: bool = False,
    interval: float | None = None,
    ignore_extra: bool = False,
) -> Iterator[tuple[NDArray[Any], NDArray[np.float64] | None]]:
    """The predictions for a stream, chunk by chunk, in bounded memory.

    Parameters
    ----------
    model : a fitted estimator, or the path of a file that `train` or `kb.save` wrote
    data : what `kb.open_stream` takes; with a path of a model, a table needs no label
    scores : whether scores are wanted, too
    written : how values of a table are written, where it is not as in the table that the model
        learned, a file: `decimal`, `thousands`, and by column the format of `dates`
    proba : whether probabilities are wanted, too
    interval : the share of the labels, in (0, 1), that intervals are to cover, of numbers; None:
        none are wanted
    ignore_extra : whether columns of a table that the model does not know are left out

    Yields
    ------
    labels (n,) of the next n rows, and what is wanted besides: scores (n,) or (n, c),
    probabilities (n, c), intervals (n, 2), or None; see `predict`

    Raises
    ------
    InputError
        The model has not what is wanted, more than one thing is wanted besides the labels, or the
        data have other features.

    Warns
    -----
    DataFileWarning
        A column has values that are no declared level, in one row of a hundred or more.

    Examples
    --------
    >>> import kernbrook as kb
    >>> X, y = kb.open_stream("checkerboard:200").read()
    >>> model = kb.OnlineMKClassifier(learner=kb.Perceptron()).fit(X, y)
    >>> [len(labels) for labels, _ in predict_stream(model, "checkerboard:2000")]
    [1024, 976]
    """
    wanted = ExtraOutputs(scores, proba, interval)
    if scores + proba + (interval is not None) > 1:
        raise InputError("scores, proba, interval: expected one of them at most")
    if isinstance(model, str | PathLike):
        like, _ = load_learned(model)
        model, table = like.model, isinstance(data, str | PathLike) or is_frame(data)
        alike: dict[str, Any] = {"written": written, "ignore_extra": ignore_extra}
        stream = open_like(like, data, **alike) if table else open_stream(data)
    else:
        stream = open_stream(data)
    wanted.check(model)
    warn_of_levels(stream.level_counts, stream.name)
    for X, _ in stream.chunks():
        outputs = predict_frozen(model, X, interval)
        yield outputs.predictions, wanted.values(outputs)


def predict_table(
    path: str | PathLike[str],
    table: Any,
    scores: bool = False,
    proba: bool = False,
    interval: float | None = None,
) -> Any:
    """The predictions for an Arrow table, as an Arrow table: for engines of many machines.

    The model is read once in a process, as long as its file stays the same.

    Parameters
    ----------
    path : of a file that `train` or `kb.save` wrote
    table : pyarrow.Table, or another table in memory; its columns are encoded as the model's were
    scores, proba, interval : what is wanted besides the labels, see `predict_stream`

    Returns
    -------
    pyarrow.Table with a column "prediction"; of scores "score of LABEL" for each class, of two for
    the second; of probabilities a column for each class, by its name; of intervals "low" and "high"

    Raises
    ------
    ModelFileError
        As `kb.load`, or the model has not learned anything.
    InputError
        The model has not what is wanted, or the table has other columns.

    Warns
    -----
    DataFileWarning
        A column has values that are no declared level, in one row of a hundred or more.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernbrook as kb
    >>> import pyarrow as pa
    >>> model = kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), scaling=None)
    >>> model = model.fit([[1.0], [-1.0]], ["yes", "no"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kb.save(model, Path(folder) / "model")
    ...     answer = predict_table(Path(folder) / "model", pa.table({"a": [-3.0, 2.0]}))
    >>> answer["prediction"].to_pylist()
    ['no', 'yes']
    """
    try:
        changed = os.stat(path).st_mtime_ns
    except OSError:
        changed = 0  # reading it says what is wrong
    like = _kept(os.fspath(path), changed)
    model, wanted = like.model, ExtraOutputs(scores, proba, interval)
    wanted.check(model)
    if like.encoder_ is not None and like.encoder_.lags is not None:
        raise InputError("lags: rows go in their own order, and no part of them by itself")
    width = getattr(model, "n_features_in_", 1)
    if len(table):
        stream = open_like(like, table)
        warn_of_levels(stream.level_counts, stream.name)
        parts = [predict_frozen(model, X, interval) for X, _ in stream.chunks()]
    else:
        parts = [predict_frozen(model, np.zeros((1, width)), interval).of(slice(0))]
    found = wanted.columns(model, joined(parts))
    return pa.table({name: pa.array(values) for name, values in found.items()})


@lru_cache(maxsize=2)
def _kept(path: str, changed: int) -> TableModel:
    """The model in a file, read once in a process as long as the file stays the same."""
    return load_learned(path)[0]


def fit_table(
    data: Any,
    label: str | None = None,
    *,
    model: Any = None,
    encoder: TableEncoder | None = None,
    classes: Sequence[Any] | None = None,
    random_state: int | None = 0,
    on_bad_rows: str = "error",
) -> TableModel:
    """Learn a table as it is: one model that then takes tables, with its encoder in it.

    Parameters
    ----------
    data : the table: a frame of pandas, polars or pyarrow; a list of dicts; or the path of a CSV,
        Parquet, JSON lines, ARFF or Arrow file, or of a folder of Parquet files. Each row is
        learned once, in their order
    label : the name of the label's column; None for the column "label", else the last one
    model : an estimator that is new, which is copied; None for `OnlineMKRegressor` where a label
        has a fraction, else `OnlineMKClassifier`
    encoder : what the columns become; None: columns of levels and of dates are found, a warning
        says which, and gaps are filled by means. Text that is neither is named, with the encoder
        to declare it
    classes : all labels of a classifier, where the table has not all of them; no other is learned
        later
    random_state : int or None, seed of the default model
    on_bad_rows : "error", or "skip": rows that cannot be read are left out, with a warning

    Returns
    -------
    TableModel

    Raises
    ------
    InputError, DataFileError
        The table cannot be read, a column is to be declared, or labels are missing in all rows.
    UnknownNameError
        There is no such column.

    Examples
    --------
    >>> import kernbrook as kb
    >>> rows = [{"km": km, "day": "sat" if km % 3 else "sun", "late": km > 5} for km in range(10)]
    >>> encoder = kb.TableEncoder({"day": ["sat", "sun"]})
    >>> model = kb.fit_table(rows * 20, label="late", encoder=encoder)
    >>> model.predict([{"day": "sun", "km": 9}, {"day": "sat", "km": 1}])
    array([ True, False])
    """
    asked = make_online(OURS["classification"], random_state=random_state)
    table = TableModel(asked if model is None else model, encoder, label)
    with warnings_together():
        stream = table._opened(data, True, on_bad_rows=on_bad_rows)
        if model is not None:
            table.model = clone(model)
        elif classes is None and task_of_labels(stream) == "regression":
            table.model = make_online(OURS["regression"], random_state=random_state)
        elif classes is None and stream.seem_counts:
            warn_caller(DataFileWarning(stream.name, note_counts(stream)))
        known, named = table._labels(stream, classes)
    table._learn(stream, known, named)
    return table
