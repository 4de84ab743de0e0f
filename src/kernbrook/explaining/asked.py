"""A model as explanations ask it: rows of numbers in, numbers out, each column with its source.

And data of any size as it takes them: their latest rows, and one row of them.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kernbrook.checks import shown
from kernbrook.engine.progress import MOST_ROUNDS
from kernbrook.errors import InputError, UnknownNameError
from kernbrook.estimators.by_name import NamedColumns
from kernbrook.estimators.labels import number_of_rows
from kernbrook.estimators.late import LateLabels, rows_waiting
from kernbrook.estimators.table_model import TableModel, open_like
from kernbrook.evaluation.checkpoint import load_learned
from kernbrook.evaluation.windows import Past
from kernbrook.streams import Stream, TableEncoder, open_stream
from kernbrook.streams.arrays import ArrayStream
from kernbrook.streams.arrow import frame_of
from kernbrook.streams.loading import pa
from kernbrook.streams.opening import is_frame, is_records
from kernbrook.streams.tables.encoder import stacked

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Name = str | int
BATCH = 4096  # rows that are asked about together,
MOST_NUMBERS = 1 << 23  # unless they have more numbers than these
MOST_COLUMNS = 4096
LATEST = 10_000


class AskedModel(NamedTuple):
    """A model on rows of numbers, and the columns that these come from.

    Attributes
    ----------
    model : what is asked
    columns : (c,) names of the source columns, or their numbers
    group_of : (d,) the number of the source column of each column of the rows; -1: of none
    encode : frames, records or arrays as rows of d numbers
    by_name : whether the rows themselves have these columns, known by their names
    like : what opens data as the model learned them; None where nobody knows
    past : the data that a file's model has learned, where the file says so
    """

    model: Any
    columns: tuple[Name, ...]
    group_of: Places
    encode: Callable[[Any], Any]
    by_name: bool = False
    like: TableModel | None = None
    past: Sequence[Past] = ()

    def rows(self, X: Any, name: str = "X") -> Any:
        """Frames, records or arrays as rows of numbers: (n, d) float64, or CSR; what : X's name."""
        try:
            return self.encode(X)
        except InputError as error:
            problem = str(error)
            begins = problem.startswith(("X ", "X:"))
            raise InputError(name + problem[1:] if begins else f"{name}: {problem}") from None

    def ask(self, answer: Callable[[Any], NDArray[Any]], rows: Any) -> NDArray[Any]:
        """What an answer of the model gives for rows, (n, d), in batches.

        All rows have one place after the last label, as for a model that learns no more: what is
        said of a row does not depend on the rows beside it.
        """
        size = batch(rows.shape[1])
        with warnings.catch_warnings(), rows_waiting(MOST_ROUNDS):  # as in `kernbrook predict`
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            parts = [answer(rows[i : i + size]) for i in range(0, rows.shape[0], size)]
        return np.concatenate(parts)


def batch(width: int) -> int:
    """How many rows of so many numbers are asked about together."""
    return max(1, min(BATCH, MOST_NUMBERS // max(width, 1)))


def asked_of(model: Any, encoder: TableEncoder | None = None, names: Any = None) -> AskedModel:
    """A model as it can be asked; InputError where its columns cannot be asked about.

    model : a fitted estimator, or the path of a file that `train` or `kb.save` wrote
    encoder : what makes its rows, where the model does not know; it has learned
    names : (d,) of the columns of its rows, where neither the model nor an encoder knows them
    """
    past: Sequence[Past] = ()
    if isinstance(model, (str, PathLike)):
        model, known = load_learned(model)
        past = () if known is None else known.past
    like = model if isinstance(model, TableModel) else None
    model, own_encoder = unwrapped(model)
    encoder = encoder if own_encoder is None else own_encoder
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise InputError(f"model: expected a fitted model with predict, got {shown(model)}")
    if isinstance(model, NamedColumns):
        asked = _of_named(model)
    else:
        check_is_fitted(model)
        if encoder is not None:
            asked = _of_encoder(model, encoder, like)
        else:
            asked = _of_names(model, names, like)
    if len(asked.columns) > MOST_COLUMNS:
        raise InputError(
            f"model: {len(asked.columns):,} columns are too many to look at one by one, expected "
            f"{MOST_COLUMNS:,} at most"
        )
    return asked._replace(like=like, past=past)


def unwrapped(model: Any) -> tuple[Any, TableEncoder | None]:
    """The model on rows that others are around, and the encoder that makes these, or None."""
    encoder = None
    while isinstance(model, (LateLabels, TableModel)):
        if isinstance(model, TableModel):
            model, encoder = model._unwrapped()
        else:
            model = model.model
    if isinstance(model, Pipeline) and isinstance(model[0], TableEncoder):
        return model[1] if len(model) == 2 else model[1:], model[0]
    return model, encoder


def _of_named(model: NamedColumns) -> AskedModel:
    width = model.filled([]).shape[1]  # or it says that nothing was learned
    columns, places = model.names_, np.arange(width)

    def encode(X: Any) -> Any:
        X = [X] if isinstance(X, Mapping) else X
        if is_frame(X):
            _check_names(_names_of(X), columns)
        elif is_records(X):
            _check_names((name for row in X for name in row), columns)
        return model.filled(X)

    return AskedModel(
        model.model, tuple(columns), np.where(places < len(columns), places, -1), encode, True
    )


def _of_encoder(model: Any, encoder: TableEncoder, like: TableModel | None) -> AskedModel:
    sources = encoder.sources()
    places = {name: i for i, name in enumerate(dict.fromkeys(sources))}

    def encode(X: Any) -> Any:
        if not (is_frame(X) or is_records(X)):
            raise InputError(f"expected a frame or records such as [{{'a': 1}}], got {shown(X)}")
        frame = _frame(X, encoder.feature_names_in_, like)
        return encoder.transform(frame.to_native())

    return AskedModel(model, tuple(places), np.array([places[name] for name in sources]), encode)


def _frame(X: Any, known: Collection[Name], like: TableModel | None) -> Any:
    """A frame of known columns, without the one that a file's model knows as the label."""
    frame, label = frame_of(X), None if like is None else like.label_
    frame = frame.drop(label) if label in frame.columns else frame
    _check_names(frame.columns, known)
    return frame


def _of_names(model: Any, names: Any, like: TableModel | None) -> AskedModel:
    """Frames and records go by names, where these are known; arrays do not."""
    if hasattr(model, "feature_names_in_"):
        names = model.feature_names_in_.tolist()
    width = getattr(model, "n_features_in_", None if names is None else len(names))
    if width is None:
        kind = type(model).__name__
        raise InputError(f"model: {kind} does not say how many columns its rows have")

    def encode(X: Any) -> Any:
        if names is not None and (is_records(X) or is_named(X)):
            return _by_name(_frame(X, names, like), list(names))
        if is_records(X):
            raise InputError("expected numbers in the order of the columns: the model has no names")
        return _checked(X, width)

    columns = range(width) if names is None else names
    return AskedModel(model, tuple(columns), np.arange(width), encode, names is not None)


def _by_name(frame: Any, columns: list[Name]) -> Floats:
    """(n, d) the columns of a frame that have these names, which are numbers all of them."""
    rows = np.empty((len(frame), len(columns)))
    for j, name in enumerate(columns):
        if name not in frame.columns:
            raise InputError(f"expected a column {shown(name)}, found none")
        try:
            rows[:, j] = frame[name].to_numpy()
        except (TypeError, ValueError):
            raise InputError(
                f"column {shown(name)}: expected numbers, found other values; columns of text go "
                "with kb.TableEncoder as the first step of the pipeline, or with "
                "scikit-learn's permutation_importance"
            ) from None
    bad = ~np.isfinite(rows)
    if bad.any():
        row, j = divmod(int(bad.argmax()), len(columns))
        raise InputError(f"column {shown(columns[j])}, row {row}: expected a number, found a gap")
    return rows


def is_named(X: Any) -> bool:
    """Whether it is a frame whose columns are named by text."""
    return is_frame(X) and all(isinstance(name, str) for name in _names_of(X))


def _names_of(frame: Any) -> Any:
    return getattr(frame, "column_names", frame.columns)  # of pyarrow, whose columns are arrays


def _checked(X: Any, width: int) -> Any:
    if not hasattr(X, "tocsr"):
        try:
            dimensions = np.ndim(X)
        except ValueError:
            raise InputError("expected rows of one length") from None
        if dimensions == 0:
            raise InputError(f"expected rows of numbers, got {shown(X)}")
        X = [X] if dimensions == 1 else X
    rows = ArrayStream(X, np.zeros(number_of_rows(X))).read()[0]
    if rows.shape[1] != width:
        raise InputError(f"expected {width} columns, found {rows.shape[1]}")
    return rows


def _check_names(names: Iterable[Any], known: Collection[Name]) -> None:
    for name in names:
        if name not in known:
            raise UnknownNameError("column", str(name), map(str, known))


class Latest(NamedTuple):
    """What was read.

    X, y : the latest rows and their labels, which are None where the data have none
    n_rows : of the data
    row : (1, d) the row that was asked for; None where there is none
    """

    X: Any
    y: NDArray[Any] | None
    n_rows: int
    row: Any = None


def opened(model: Any, data: Any, **options: Any) -> tuple[AskedModel, Stream]:
    """A model, and data in the form of those that it learned.

    data : a stream, a path or a name, or a frame
    options : of `open_like`, for a model's file, or a `TableModel`; others do not know columns
    """
    if isinstance(model, (str, PathLike, TableModel)):
        asked = asked_of(model)
        assert asked.like is not None
        stream = open_like(asked.like, data, **options)
        return asked, asked.like._signed(stream) if stream.labelled else stream
    if options.get("ignore_extra"):
        kind = type(model).__name__
        wanted = "expected the path of a model's file, or a TableModel"
        raise InputError(f"ignore_extra: {wanted}, got {kind}, which knows no table's columns")
    inner, encoder = unwrapped(model)
    stream = open_stream(data, encoder=encoder)
    names = getattr(inner, "feature_names_in_", None)
    if names is not None and list(names) != stream.feature_names:
        return asked_of(model), stream
    return asked_of(model, stream.encoder, stream.feature_names), stream


def is_data(X: Any, y: Any) -> bool:
    """Whether labels are to be found in the data themselves."""
    named = isinstance(X, (Stream, str, PathLike))
    if named and y is not None:
        raise InputError("y: expected None, for the data have their own labels")
    return named or (y is None and is_frame(X))


def latest_of(asked: AskedModel, stream: Stream, row: int | None = None) -> Latest:
    """The last 10,000 rows of a stream, in bounded memory, and one of all rows, from 0."""
    held: deque[tuple[Any, NDArray[Any]]] = deque()
    count, rows, found = 0, 0, None
    for X, y in stream.chunks():
        if row is not None and rows <= row < rows + len(y):
            found = _as_asked(asked, stream, X[row - rows : row - rows + 1])
        held.append((X, y))
        count, rows = count + len(y), rows + len(y)
        while count - len(held[0][1]) >= LATEST:
            count -= len(held.popleft()[1])
    if not rows:
        raise InputError(f"{stream.name}: no row of data")
    X = _as_asked(asked, stream, stacked([part for part, _ in held])[-LATEST:])
    labels = np.concatenate([labels for _, labels in held])[-LATEST:]
    return Latest(X, labels if stream.labelled else None, rows, found)


def _as_asked(asked: AskedModel, stream: Stream, X: Any) -> Any:
    """Rows of a stream in the order of the model's columns, where it goes by names."""
    names = stream.feature_names
    if asked.by_name and names is not None and names != list(asked.columns):
        return asked.rows(pa.table(dict(zip(names, X.T, strict=True))))
    if X.shape[1] != len(asked.group_of):
        raise InputError(f"X: expected {len(asked.group_of)} columns, found {X.shape[1]}")
    return X
