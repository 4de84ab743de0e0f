"""One model from rows that lie on many machines: train apart, merge, and go on from there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain, pairwise
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook.checks import check_count, shown
from kernbrook.errors import DataFileError, InputError, KernbrookError
from kernbrook.estimators.base import OnlineMachine
from kernbrook.estimators.labels import as_labels, distinct, present
from kernbrook.estimators.merge import begin
from kernbrook.estimators.table_model import TableModel, open_like
from kernbrook.estimators.tasks import Task, task_of
from kernbrook.evaluation.checkpoint import Checkpoint, save_checkpoint
from kernbrook.evaluation.classes import named_classes
from kernbrook.evaluation.locking import locked
from kernbrook.evaluation.measures import Sums, added, losses
from kernbrook.evaluation.parallel import Cluster, Crew
from kernbrook.evaluation.recipes_wanted import CHUNK, NewModel, task_of_labels
from kernbrook.evaluation.training import Training, check_target
from kernbrook.evaluation.warming import ROWS, few_rows, warm_up
from kernbrook.evaluation.windows import Past
from kernbrook.gram.arrays import as_rows, canonical
from kernbrook.streams import open_stream
from kernbrook.streams.arrow import ParquetRecords, parquet_file
from kernbrook.streams.booleans import spelled_as, unify_kinds
from kernbrook.streams.bytes import DataFile
from kernbrook.streams.opening import open_folder
from kernbrook.streams.stream import Piece, has_label
from kernbrook.streams.tables.values import LevelCounts, together, warn_of_levels

__all__ = ["fit"]

# A function that gives pieces, and its arguments; those that Dask has yet to make as its Delayed.
# Its last argument, a list or None, is for the counts of levels.
Part = tuple[Any, ...]


class Parts(NamedTuple):
    """Data in parts.

    parts : in the order of the rows
    like : of a table, what reads a part of it as the first one was read
    name : of the data
    first : some rows at their beginning
    levels : of a table, to count how often each declared level comes; so far none has
    """

    parts: Sequence[Part]
    like: TableModel | None
    name: str
    first: Piece
    levels: Sequence[LevelCounts] = ()


def begun(
    parts: Sequence[Part], like: TableModel | None, name: str, levels: Sequence[LevelCounts] = ()
) -> Parts:
    """The parts with their first rows, which are read; InputError where there is none."""
    for piece in chain.from_iterable(pieces(computed(part)) for part in parts):
        return Parts(parts, like, name, piece, levels)
    raise InputError("data: there is no row")


def pieces(part: Part, counts: list[Sequence[LevelCounts]] | None = None) -> Iterator[Piece]:
    """The rows of a part, (n, d) and (n,).

    counts : out, one more: of a table, how often each declared level came
    """
    function, *arguments = part
    yield from function(*arguments, counts)


def parts_of(data: Any, most: int, label: str | None = None, encoder: Any = None) -> Parts:
    """Data in parts: row groups of Parquet files, partitions of Dask's, or `most` parts of arrays.

    data, label, encoder : as `fit` has them
    """
    if getattr(encoder, "lags", None) is not None:
        raise InputError("lags: rows go in their own order, which the workers of a cluster do not")
    if isinstance(data, (str, PathLike)):
        return _of_files(data, label, encoder)
    if hasattr(data, "to_delayed") and hasattr(data, "columns"):
        return _of_tables(data.to_delayed(), label, encoder, "frame")
    if label is not None or encoder is not None:
        raise InputError("label, encoder: they are for tables, got arrays")
    if not (isinstance(data, tuple) and len(data) == 2):
        raise InputError(
            "data: expected a folder of Parquet files, a Dask frame, or a pair (X, y) of arrays, "
            f"got {data!r:.80}"
        )
    X, y = data
    if hasattr(X, "to_delayed") != hasattr(y, "to_delayed"):
        raise InputError("data: expected arrays of Dask for both X and y, or for neither")
    if hasattr(X, "to_delayed"):
        return _of_dask(X, y)
    X, y = (X if hasattr(X, "tocsr") else np.asarray(as_rows(X))), as_labels(y)
    if len(X.shape) != 2 or X.shape[0] != len(y):
        raise InputError(f"data: X of shape {X.shape} does not go with {len(y)} labels")
    X, bounds = canonical(X), np.linspace(0, len(y), min(most, max(len(y), 1)) + 1).astype(int)
    slices = [slice(*ends) for ends in pairwise(bounds)]
    return begun([(from_arrays, X[where], y[where]) for where in slices], None, "arrays")


def from_arrays(X: Any, y: NDArray[Any], counts: Any = None) -> Iterator[Piece]:
    """Pieces of two arrays."""
    for start in range(0, len(y), CHUNK):
        yield X[start : start + CHUNK], np.asarray(y)[start : start + CHUNK]


def read(table: Any) -> Any:
    """A frame as it is; of a path of a Parquet file and a number, that row group."""
    return ParquetRecords(DataFile(table[0])).group(table[1]) if type(table) is tuple else table


def from_table(
    like: TableModel, table: Any, counts: list[Sequence[LevelCounts]] | None = None
) -> Iterator[Piece]:
    """Pieces of what `read` takes, encoded as the first part was."""
    try:
        if len(found := read(table)):
            stream = open_like(like, found)
            if counts is not None:
                counts.append(stream.level_counts)
            yield from stream.chunks(CHUNK)
    except KernbrookError as error:
        if type(table) is not tuple:
            raise
        raise DataFileError(table[0], f"row group {table[1]}: {error}") from error


def _of_files(folder: str | PathLike[str], label: str | None, encoder: Any) -> Parts:
    records = open_folder(folder)
    if records is None:
        raise InputError(f"data: expected a folder of Parquet files, got {folder}")
    found = []
    for path in records.paths:
        with parquet_file(path) as file:
            found += [(path, number) for number in range(file.num_row_groups)]
    return _of_tables(found, label, encoder, records.name)


def _of_tables(tables: Sequence[Any], label: str | None, encoder: Any, name: str) -> Parts:
    """Of what `read` takes, or of frames that Dask has yet to make."""
    for table in map(read, map(computed, tables)):
        if len(table):
            stream = open_stream(table, label=label, encoder=encoder)
            like = TableModel._of_stream(None, stream)
            levels = [
                replace(column, counts=np.zeros_like(column.counts), others=[])
                for column in stream.level_counts
            ]
            return begun([(from_table, like, part) for part in tables], like, name, levels)
    raise InputError("data: there is no row")


def _of_dask(X: Any, y: Any) -> Parts:
    if X.ndim != 2 or X.numblocks[1] != 1:
        raise InputError("data: expected X in blocks of whole rows; rechunk it: X.rechunk((n, -1))")
    if X.numblocks[0] != y.numblocks[0]:
        raise InputError(
            f"data: X is in {X.numblocks[0]} blocks of rows, y in {y.numblocks[0]}; give both the "
            "same"
        )
    blocks = zip(X.to_delayed().ravel(), y.to_delayed().ravel(), strict=True)
    return begun([(from_arrays, *block) for block in blocks], None, "arrays")


def computed(parts: Any) -> Any:
    """The same with what Dask has yet to make, made here."""
    if not has_delayed(parts):
        return parts
    import dask

    return dask.compute(parts)[0]


def has_delayed(parts: Any) -> bool:
    """Whether there is something in it that Dask has yet to make."""
    if isinstance(parts, (tuple, list)):
        return any(map(has_delayed, parts))
    return hasattr(parts, "__dask_graph__")


@dataclass
class Fitted:
    """A model of rows that lay apart, and what these rows were.

    judged : rows with a label; loss : on them, each predicted by its shard before it was learned
    rounds : merged so far, in so many seconds
    level_counts : of each column of declared levels, how often each came in the rows so far
    """

    model: Any
    rows: int = 0
    judged: int = 0
    loss: float = 0
    rounds: int = 0
    seconds: float = 0.0
    level_counts: Sequence[LevelCounts] = ()


def fit(
    model: Any,
    data: Any,
    rounds: int = 1,
    client: Any = None,
    *,
    shards: int | None = None,
    classes: Any = None,
    label: str | None = None,
    encoder: Any = None,
) -> Any:
    """Learn from data in parts: in each round workers go on from one model apart, and are merged.

    Each row is learned once. The first round has the first parts, so that a stream is met in its
    order, but for the parts of one round. What merging keeps exactly and what it averages is said
    at `OnlineMKClassifier.merge`.

    Parameters
    ----------
    model : an `OnlineMKClassifier` or `OnlineMKRegressor`, also a recipe's; a fitted one goes on
    data : what to learn from:

        - a folder of Parquet files, which all workers see at the same place. A part is a row group
        - a Dask frame, of which a part is a partition
        - a pair (X, y) of arrays of Dask in blocks of rows, or of arrays, also sparse ones
    rounds : how often models are merged
    client : a client of Dask, an address such as "tcp://10.0.0.1:8786", or "local:4" for as many
        processes of this machine. None: all is done here, one shard after the other
    shards : models that learn apart; one for each thread of the workers by default, or one
    classes : all labels of a classifier; None to read the data once for them
    label : a table's column with the label, see `kb.open_stream`
    encoder : what a table's columns become, see `kb.TableEncoder`. What it learns, such as means
        for gaps, it learns from the first part

    Returns
    -------
    model, which has learned all rows; where something is raised, nothing

    Raises
    ------
    InputError
        The model cannot be merged, the data have fewer parts than there are rounds, or Dask is not
        installed.
    DataFileError
        A file cannot be read.

    Warns
    -----
    DataFileWarning
        A declared level never came, or a column has values that are no declared level, in one row
        of a hundred or more.

    References
    ----------
    McDonald, Hall, Mann (2010), Distributed training strategies for the structured perceptron:
    iterative parameter mixing.

    Examples
    --------
    >>> import kernbrook as kb
    >>> X, y = kb.open_stream("checkerboard:1000").read()
    >>> model = kb.OnlineMKClassifier(random_state=0)
    >>> kb.distributed.fit(model, (X, y), rounds=2, shards=2).n_rounds_
    1000
    """
    check_count("rounds", rounds, 1)
    crew = crew_of(client)
    count = crew.size if shards is None else shards
    check_count("shards", count, 1)
    parts = parts_of(data, count * rounds, label, encoder)
    fitted = fit_parts(model, parts, crew, rounds, count, classes)
    warn_of_levels(fitted.level_counts, parts.name)
    return fitted.model


def crew_of(client: Any) -> Crew:
    """Who does the work; see `fit`."""
    if client is None:
        return Crew()
    if not isinstance(client, str) and not hasattr(client, "get_executor"):
        raise InputError(f"client: expected a client of Dask or an address, got {shown(client)}")
    return Cluster(client)


def fit_parts(
    model: Any,
    parts: Parts,
    crew: Crew,
    rounds: int,
    shards: int,
    classes: Any = None,
    progress: Callable[[Fitted], None] | None = None,
) -> Fitted:
    """`fit`, told after each round."""
    if not isinstance(model, OnlineMachine):
        raise InputError(f"model: expected an online machine of ours, got {shown(model)}")
    if len(parts.parts) < rounds:
        raise InputError(
            f"rounds: expected at most {len(parts.parts)}, the parts of the data, got {rounds}"
        )
    with crew:
        X, y = parts.first
        labels = _classes(model, parts.parts, crew, classes)
        fitted = Fitted(deepcopy(model), level_counts=deepcopy(parts.levels))
        if not hasattr(model, "_model"):  # all shards begin with the same draws
            begin(fitted.model, X[:1], labels)
        if shards > 1:  # refused, if at all, before any work
            deepcopy(fitted.model).merge(deepcopy(fitted.model), since=fitted.model)
        which = few_rows(y[:1024])[:ROWS]
        warm = partial(warm_up, clone(model), X[which], y[which], labels)
        for call in [] if crew.here else crew.everywhere(warm):
            call.result()
        bounds, start = np.linspace(0, len(parts.parts), rounds + 1).astype(int), time.monotonic()
        for first, last in pairwise(bounds):
            dealt = [parts.parts[i:last:shards] for i in range(first, min(first + shards, last))]
            _round(fitted, dealt, crew, labels)
            fitted.seconds = time.monotonic() - start
            if progress is not None:
                progress(fitted)
    model.__dict__.update(vars(fitted.model))
    fitted.model = model
    return fitted


def _classes(model: Any, parts: Sequence[Part], crew: Crew, classes: Any) -> NDArray[Any] | None:
    """All labels of a classifier; None of numbers, and of a classifier that knows them."""
    if task_of(model) == "regression":
        if classes is not None:
            raise InputError(f"classes: {type(model).__name__} predicts numbers; give none")
        return None
    if classes is not None:
        return distinct(as_labels(classes), "classes")
    if hasattr(model, "classes_"):
        return None
    found = _all(crew, _labels, [([part],) for part in parts])
    return distinct(as_labels(list(unify_kinds(chain.from_iterable(found)))))


def _labels(parts: Sequence[Part]) -> list[Any]:
    """The labels in some parts, each once."""
    found: set[Any] = set()
    for _, y in chain.from_iterable(map(pieces, parts)):
        found.update(y[present(y)].tolist())
    return list(found)


def _round(fitted: Fitted, dealt: Sequence[Sequence[Part]], crew: Crew, classes: Any) -> None:
    """All shards go on from the model, and become one."""
    since = fitted.model
    held = crew.share(since)
    results = _all(crew, _go_on, [(held, classes, share) for share in dealt])
    models = [result.model for result in results]
    if len(models) > 1:
        models[0].merge(*models[1:], since=since)
    fitted.model, fitted.rounds = models[0], fitted.rounds + 1
    for result in results:
        fitted.rows, fitted.judged = fitted.rows + result.rows, fitted.judged + result.judged
        fitted.loss = added(fitted.loss, np.array([result.loss]))
        fitted.level_counts = together(fitted.level_counts, result.level_counts)


def _go_on(model: Any, classes: Any, parts: Sequence[Part]) -> Fitted:
    """A copy of the model once it has learned some parts."""
    fitted, counts = Fitted(deepcopy(model)), list[Sequence[LevelCounts]]()
    named = {} if classes is None else {"classes": classes}
    for X, y in chain.from_iterable(pieces(part, counts) for part in parts):
        y = spelled_as(y, getattr(fitted.model, "classes_", ()) if classes is None else classes)
        predicted, _ = fitted.model.learn(X, y, **named)
        known = present(y)
        fitted.rows, fitted.judged = fitted.rows + len(y), fitted.judged + int(known.sum())
        fitted.loss = added(fitted.loss, losses(predicted[known], y[known], task_of(fitted.model)))
    return replace(fitted, level_counts=reduce(together, counts, ()))


def _all(crew: Crew, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The results of calls, whose last argument is parts; here one by one, else by workers."""
    if crew.here:
        return [function(*first, computed(parts)) for *first, parts in calls]
    begun = [crew.submit(function, *first, _at_workers(crew, parts)) for *first, parts in calls]
    return [call.result() for call in begun]


def _at_workers(crew: Any, parts: Sequence[Part]) -> list[Any]:
    """Parts, where what Dask has yet to make is made by the workers."""
    return [
        [crew.client.compute(arg) if has_delayed(arg) else arg for arg in part] for part in parts
    ]


def train_parts(
    parts: Parts,
    new: NewModel,
    path: str | PathLike[str],
    client: Any,
    *,
    rounds: int = 1,
    classes: Any = None,
    overwrite: bool = False,
    progress: Callable[[Fitted], None] | None = None,
) -> Training:
    """`fit` of the parts of a folder, and the model to a file that `predict` takes.

    path, overwrite : as `kernbrook.evaluation.train` has them; the file is no place to go on from
    """
    with locked(path):
        check_target(path, False, overwrite)
        estimator = new.fitting(lambda: _task_of(parts))
        crew, kind = crew_of(client), parts.first[1].dtype
        classes = named_classes(estimator, classes, kind)
        fitted = fit_parts(estimator, parts, crew, rounds, crew.size, classes, progress)
        data = Sums(fitted.rows, fitted.judged, {"loss": fitted.loss})
        result = Training(
            estimator, name=parts.name, rows=fitted.rows, rows_read=fitted.rows, data=data,
            finished=True, windows=None, seconds=fitted.seconds,
            level_counts=fitted.level_counts, n_unlabelled=fitted.rows - fitted.judged,
        )  # fmt: skip
        assert parts.like is not None
        past = [Past(**vars(data), name=parts.name)]
        save_checkpoint(parts.like.set_params(model=estimator), Checkpoint(past, True), path)
        return result


def _task_of(parts: Parts) -> Task:
    """Numbers where a label of the first rows has a fraction, else classes."""
    X, y = parts.first
    known = has_label(y)
    return task_of_labels(open_stream((X[known], y[known]))) if known.any() else "classification"
