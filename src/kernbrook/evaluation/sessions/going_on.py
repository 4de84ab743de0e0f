"""Another day's data for a model in a file: all that is to be known of them, the file knows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from os import PathLike
from typing import Any

from kernbrook.atomic import check_writable
from kernbrook.errors import DataFileWarning, InputError
from kernbrook.estimators.outside import online
from kernbrook.estimators.table_model import TableModel, open_like
from kernbrook.evaluation.content import Content, Watched
from kernbrook.evaluation.measures import COVERAGE, Measures, Tally
from kernbrook.evaluation.running.warming import Tell, watched
from kernbrook.evaluation.sessions.checkpoints import (
    Checkpoint,
    checkpoint_of,
    load_learned,
    with_state,
)
from kernbrook.evaluation.sessions.classes import allowed_classes
from kernbrook.evaluation.sessions.locking import locked
from kernbrook.evaluation.sessions.predicting import said_of
from kernbrook.evaluation.sessions.training import Place, Training, learn_all
from kernbrook.evaluation.windows import Judge, Past
from kernbrook.streams import Stream, open_stream
from kernbrook.streams.formats.csv_header import quoted
from kernbrook.streams.opening import is_frame
from kernbrook.streams.stream import has_label
from kernbrook.streams.tables.new_labels import check_some_known, new_labels
from kernbrook.streams.tables.table_stream import TableStream


def go_on(
    data: Any,
    path: str | PathLike[str],
    *,
    resume: bool = False,
    anyway: bool = False,
    classes: Sequence[Any] | None = None,
    check: Callable[[TableModel], None] | None = None,
    every: float = 60.0,
    progress: Callable[[Training], None] | None = None,
    stop: Callable[[], bool] | None = None,
    compiling: Tell | None = None,
    **options: Any,
) -> Training:
    """Learn other data with the model in a file: those of the next day.

    Recipe, encoder and labels are those of the model. Columns go by their names, in any order. Gaps
    are filled by what was learned from all rows before, and a class that the model does not know
    is learned from its first row on, as by `partial_fit`. The file is written as by `train`: after
    a kill it has the model of before, or one on the way.

    Parameters
    ----------
    data : what `kb.open_stream` takes; a path or a table as the model's data were
    path : the model's file, that `train`, `label` or `kb.save` wrote
    resume : go on with the data that the model learned from last: where it was stopped within them,
        or where rows were appended
    anyway : learn the data also where the model has learned them before, or was stopped within
        others
    classes : all labels that may come, those that the model knows and others: no other label is
        learned, in later data neither. Where None, and nobody named them before, a new label is
        learned unless it seems to be a known one in other writing
    check : called with the model, which knows of its data, before any are read: to refuse them
        by an InputError
    every, progress, stop, compiling : as `train` has them
    **options : how the data are opened, as `open_like` has it: `label`, `sep`, `max_bytes`, `seed`,
        `written`; `ignore_extra` leaves out columns that the model does not know

    Returns
    -------
    Training, whose rows and error are those of these data, each label known before the next row;
    `ahead` has the measures of the data as the model predicted them before

    Raises
    ------
    InputError
        There is no such file, the model learns from all data at once, it has learned these data
        before, or was stopped within others, or the data do not go with it; a label is new that
        seems to be a known one, or none of the labels is known; or as `train`.
    ModelFileError
        The file is damaged, not a model, or one that has not learned anything; or with `resume`
        it has no place to go on from.
    DataFileError
        The data cannot be read, or have other columns.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernbrook as kb
    >>> monday, tuesday = (kb.open_stream("checkerboard:1500", seed=day) for day in (0, 1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "model"
    ...     first = kb.evaluation.train(monday, kb.recipes.make("bpas", random_state=0), file)
    ...     second = go_on(tuesday, file)
    ...     rows = kb.load(file).n_rounds_
    >>> second.rows, second.error < first.error, rows
    (1500, True, 3000)
    """
    with locked(path):
        check_there(path)
        table = load_learned(path)
        known = checkpoint_of(table, path)
        online(table.model)
        if check is not None:
            check(table)
        place = Place.within(path, known) if resume else _after(path, table, known, anyway)
        if (encoder := table.encoder_) is not None:
            begun = (place.begun if resume else encoder.described()["state"]) or None
            place, table.encoder_ = place._replace(begun=begun), with_state(encoder, begun)
        if resume and place.past and table.encoder_ is not None:  # left out again as before
            options.setdefault("ignore_extra", True)
        if classes is not None:
            table.named_classes_ = allowed_classes(table.model, classes)
        opened = _opened(data, table, options)
        stream = table._signed(opened)
        if not (resume or anyway):
            _check_unknown(stream, path, place.past)
        judge = None if known is None else known.judge
        ahead = None if resume else _ahead(table, judge, opened, options, compiling)
        return learn_all(stream, table, path, place, None, every, progress, stop, compiling, ahead)


def _ahead(
    table: TableModel,
    judge: Judge | None,
    stream: Stream,
    options: dict[str, Any],
    compiling: Tell | None,
) -> Measures | None:
    """Measures of all rows as the model says them before any of their labels is known.

    Labels that are not to be learned are refused here, before anything is.
    """
    if isinstance(stream, TableStream):  # what fills gaps is to learn nothing yet
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataFileWarning)
            stream = open_like(table, stream.records(), **options)
    model, positive, named = table.model, table.positive_, table.named_classes_
    coverage = COVERAGE if hasattr(model, "predict_interval") else None
    tally = Tally.of(model, positive, coverage, judge)
    known, found, rows = getattr(model, "classes_", None), set[Any](), 0
    for X, y in stream.chunks():
        if rows == 0:
            watched(partial(said_of, model, X[:1], coverage), compiling)
        if known is not None and positive is None:
            labels, _ = new_labels(y, known, rows, None if named is None else named.tolist())
            found.update(labels[has_label(labels)].tolist())
        tally.add(y, said_of(model, X, coverage))
        rows += len(y)
    if known is not None and named is None:
        check_some_known(sorted(found), known, stream.name)
    return tally.judged


def check_there(path: str | PathLike[str]) -> None:
    """InputError where there is no model to go on with."""
    if not check_writable(path).exists():
        raise InputError(f"{path} does not exist: train it first, without go_on (--go-on)")


def _after(
    path: str | PathLike[str], table: TableModel, known: Checkpoint | None, anyway: bool
) -> Place:
    """The place of a model that is to begin other data."""
    if known is None:
        past = [Past(table.model.n_rounds_)]
        return Place(Checkpoint(past, True), past)
    if not known.finished and not anyway:
        raise InputError(
            f"{path} was stopped within {known.last.name!r}, after {known.last.rows:,} rows of "
            "it: resume (--resume) goes on with these data, anyway (--anyway) leaves out the rest"
        )
    return Place(known, known.past)


def _opened(data: Any, table: TableModel, options: dict[str, Any]) -> Stream:
    """The data, as those of the model were, with labels to learn from."""
    if isinstance(data, str | PathLike) or is_frame(data):
        stream = open_like(table, data, learns=True, **options)
    else:
        if options:
            raise InputError(f"{next(iter(options))}: goes with a path or a table alone")
        stream = open_stream(data, n_features=getattr(table.model, "n_features_in_", None))
        if stream.encoder is not None:
            raise InputError("data: expected the table itself, which is encoded as the model's was")
    if not stream.labelled:
        label = options.get("label") or table.label_
        where = "" if label is None else f" in a column {quoted(label)}"
        raise InputError(f"{stream.name}: expected labels to learn from{where}, found none")
    return stream


def _check_unknown(stream: Stream, path: str | PathLike[str], past: Sequence[Past]) -> None:
    """InputError where the data are those that the model has learned, or begin with them."""
    same = learned_before(stream, past)
    if same is None:
        return
    told = f"{told_of_same(stream, same)}, which {path} has learned"
    if stream.n_rows != same.rows and same is past[-1]:
        told += "; resume (--resume) learns the rows after them"
    raise InputError(f"{told}; anyway (--anyway) learns them once more")


def learned_before(stream: Stream, past: Sequence[Past]) -> Past | None:
    """The data that a stream with labels is, or begins with, of those that a model has learned.

    The stream is read as far as it may be one of them.
    """
    before = [one for one in past if one.first]
    watched = Watched(stream, Content([one.rows for one in before]))
    most, rows = max((one.rows for one in before), default=0), 0
    for X, y in stream.chunks() if before else ():
        watched.reach(X, y)
        rows += len(y)
        before = [one for one in before if one.first == watched.content.first]
        if not before or rows >= most:
            break
    stream.watch = None
    found = [one for one in before if watched.content.marked.get(one.rows) == one.digest]
    return max(found, key=lambda one: one.rows, default=None)


def told_of_learned(stream: Stream, past: Sequence[Past] | None) -> str:
    """That a model has learned the very rows of a stream; "" where it has not, or nobody can tell.

    stream : with labels as the model has them
    past : the data that the model has learned
    """
    if not (past and stream.labelled):
        return ""
    same = learned_before(stream, past)
    return "" if same is None else told_of_same(stream, same)


def told_of_same(stream: Stream, same: Past) -> str:
    """That the rows of a stream are, or begin with, those of other data."""
    which = "its" if stream.n_rows == same.rows else "its first"
    return f"{stream.name}: {which} {same.rows:,} rows are those of {quoted(same.name or '')}"
