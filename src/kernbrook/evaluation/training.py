"""Training in one pass over a stream, with checkpoints: stopped, it goes on from the last one.

And another day's data for a model in a file: all that is to be known of them, the file knows.
"""

from __future__ import annotations

import os
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from os import PathLike
from typing import Any, ClassVar, NamedTuple

from numpy.typing import NDArray

from kernbrook.atomic import check_writable
from kernbrook.errors import DataFileWarning, InputError, ModelFileError
from kernbrook.estimators.confidence import intervals_of
from kernbrook.estimators.outside import online
from kernbrook.estimators.table_model import TableModel, open_like
from kernbrook.estimators.tasks import scored_learn, task_of
from kernbrook.evaluation.checkpoint import (
    Checkpoint,
    load_checkpoint,
    load_learned,
    save_checkpoint,
    with_state,
)
from kernbrook.evaluation.classes import allowed_classes, named_classes
from kernbrook.evaluation.content import Content, RowDigest, WatchedRows
from kernbrook.evaluation.locking import locked
from kernbrook.evaluation.measures import COVERAGE, Measures, Sums, Tally
from kernbrook.evaluation.predicting import predict_frozen
from kernbrook.evaluation.recipes_wanted import (
    NewModel,
    check_numbers,
    check_settings,
    classes_of,
    task_of_labels,
)
from kernbrook.evaluation.warming import ROWS, Reporter, run_reported, warm_up
from kernbrook.evaluation.windows import Judge, Past, Windows, shortened, together
from kernbrook.persistence.encoding import Writer
from kernbrook.streams import Stream, TableEncoder, open_stream
from kernbrook.streams.opening import is_frame
from kernbrook.streams.records import quoted
from kernbrook.streams.stream import Features, Labels, Piece, check_stream, has_label
from kernbrook.streams.tables.declared import AUTO, declared_lags, is_auto
from kernbrook.streams.tables.labels import (
    as_numbers,
    check_some_known,
    new_labels,
)
from kernbrook.streams.tables.stream import BadRows, TableStream
from kernbrook.streams.tables.values import LevelCounts

CHUNK = 1024  # rows read at a time; they do not change the result
ENCODED = (  # the parameters of an encoder
    "categorical", "dates", "drop", "missing", "decimal", "thousands", "words", "lags",
    "delay", "every",
)  # fmt: skip


class Quit(Exception):
    """Raise it where a label is asked for: the labelling stops before the row, and is saved."""


class Undo(Exception):
    """Raise it where a label is asked for: the last answer is taken back."""


@dataclass(kw_only=True)
class Progress:
    """How far a model is through its rows."""

    rows: int = 0  # seen, of these data
    resumed_at: int = 0  # rows that it had seen when this call began
    rows_read: int = 0  # below `resumed_at` while rows seen before are read again
    finished: bool = False  # whether no row is left
    data: Sums = field(default_factory=Sums)  # of these rows
    # The losses over time; None where those before were not recorded.
    windows: Windows | None = field(default_factory=Windows)

    @property
    def loss(self) -> float:
        """On the labels of these rows that were predicted: mistakes, or squared errors."""
        return self.data.sums.get("loss", 0)

    @property
    def judged(self) -> int:
        """These labels."""
        return self.data.judged


class Position(NamedTuple):
    """Where in its data a model is."""

    known: Checkpoint | None = None  # in the model's file
    past: Sequence[Past] = ()  # the data that it learned from before
    here: Past | None = None  # what it has learned of these data; None where it is to begin them
    begun: dict[str, Any] | None = None  # what the encoder had learned before these data
    new: bool = False  # whether a file that is there is somebody else's

    @classmethod
    def within(cls, path: str | PathLike[str], known: Checkpoint | None) -> Position:
        """The place of a model whose training was stopped, or whose data have more rows by now."""
        if known is None:
            problem = "a model that `train` did not write: it has no place to go on"
            raise ModelFileError(path, problem)
        if known.last.rows and not known.last.digest:
            raise ModelFileError(path, "a model that was trained apart: no place to go on from")
        return cls(known, known.past[:-1], known.last, known.begun)


@dataclass
class Session(ABC):
    """One stretch of a model's way through a stream."""

    step: ClassVar[int | None] = None  # rows met at a time; all of a chunk where None

    table: TableModel  # the model that learns, with all that goes into its file
    state: Any  # a `Progress`, first that of the file
    path: str | PathLike[str]  # the model's file
    position: Position
    stream: Stream
    digest: RowDigest | Content  # of the rows read

    def __post_init__(self) -> None:
        known = self.position.known
        self._learned_digest = "" if known is None else known.last.digest
        self._whole = known is not None and known.finished  # what the file says
        self._written = self.state.resumed_at = self.state.rows
        self._stamp = _stamp(self.path) if known is not None else None
        self._careful = self.position.new or known is not None  # about what the file is now

    @abstractmethod
    def digest_rows(self, X: Features, y: Labels) -> None:
        """Called with all rows once, before they are met if they are new: the digest takes them."""

    @abstractmethod
    def learn(self, X: Features, y: Labels) -> None:
        """Take in rows that are new, (n, d) and (n,)."""

    @abstractmethod
    def checkpoint(self) -> Checkpoint:
        """What is written beside the model."""

    def other_data(self, problem: str) -> InputError:
        """The rows are not those of the file."""
        helps = "go_on (--go-on) learns other data"
        return InputError(f"{self.path} comes from other data: {problem}; {helps}")

    def run(
        self,
        every: float,
        progress: Callable[[Any], None] | None,
        stop: Callable[[], bool] | None,
    ) -> None:
        """Meet the new rows, and write the model every so many seconds and at the end."""
        state, last = self.state, time.monotonic()
        for X, y in self._new_rows(progress):
            try:
                self.learn(X, y)
            except Quit:
                break
            state.rows += len(y)
            state.rows_read, self._learned_digest = state.rows, self.digest.hexdigest()
            if progress is not None:
                progress(state)
            if stop is not None and stop():
                break
            if time.monotonic() - last >= every:
                self.save()
                last = time.monotonic()
        else:
            self.finish()
        self.save()

    def finish(self) -> None:
        """Called where no row is left."""
        self.state.finished = True

    def save(self) -> None:
        rows, whole = self.state.rows, self.state.finished
        if rows != self._written or whole > self._whole:
            self.write(self.checkpoint())
            self._written, self._whole = rows, whole

    def write(self, checkpoint: Checkpoint | None) -> None:
        """Write the file; InputError where something else has written it since."""
        if self._careful and _stamp(self.path) != self._stamp:
            check_writable(self.path)  # its folder may be gone
            raise InputError(
                f"{self.path} was written by something else meanwhile, and is left as it is: "
                "take another file, or overwrite (--overwrite)"
            )
        here, known = self.stream.encoder, self.table.encoder_
        kept = f"; the checkpoint after {self._written} rows is still there"
        kept = kept if self._written else ""
        try:
            if here is not None and known is not None:  # values may be written otherwise here
                self.table.encoder_ = with_state(known, here.described()["state"])
            save_checkpoint(self.table, checkpoint, self.path)
        except InputError as error:
            raise InputError(f"after {self.state.rows} rows: {error}{kept}") from error
        self._stamp, self._careful = _stamp(self.path), True

    def _new_rows(self, progress: Callable[[Any], None] | None) -> Iterator[Piece]:
        """The rows that the model has not met; the ones before must be those that it has."""
        state, begin, digest = self.state, self.state.resumed_at, self._learned_digest
        for X, y in self.stream.chunks(CHUNK):
            again = min(begin - state.rows_read, len(y)) if state.rows_read < begin else 0
            if again:
                self.digest_rows(X[:again], y[:again])
                state.rows_read += again
                if progress is not None:
                    progress(state)
                if state.rows_read == begin and digest != self.digest.hexdigest():
                    problem = f"the first {begin} rows here are not those that it has seen"
                    raise self.other_data(problem)
            for start in range(again, len(y), self.step or len(y)):
                piece = slice(start, start + (self.step or len(y)))
                self.digest_rows(X[piece], y[piece])
                yield X[piece], y[piece]
        if state.rows_read < begin:
            raise self.other_data(f"it has seen {begin} rows, here are {state.rows_read}")


def check_same_settings(path: str | PathLike[str], was: Any, now: Any) -> None:
    """InputError where a model in a file has other parameters than one that is asked for.

    `TableModel`s are compared with what they know of their data.
    """
    check_same(path, _settings(was), _settings(now))


def _settings(model: Any) -> dict[str, Any]:
    data = {}
    if isinstance(model, TableModel):
        model, data = model.model, data_settings(model)
    return {**data, "estimator": type(model).__name__, **model.get_params(deep=False)}


def data_settings(table: TableModel) -> dict[str, Any]:
    """All that a model knows of its data but what was learned, by name."""
    encoder = table.encoder_
    declared = {} if encoder is None else encoder.described()
    width = None if encoder is None else len(encoder.get_feature_names_out())
    width = getattr(table.model, "n_features_in_", width)
    return {
        **({} if width is None else {"n_features": width}),
        "positive": table.positive_, "label": table.label_, "aside": table.aside_ or None,
        **{name: declared.get(name) for name in (*ENCODED, "columns")},
    }  # fmt: skip


def check_same(
    path: str | PathLike[str], before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    """InputError where one of the settings after, by name, is not as it was before in a file."""
    old, new = Writer().values(before), Writer().values(after)
    changed = [name for name in after if name not in old or old[name] != new[name]]
    if "estimator" in changed:  # whose other parameters say nothing
        changed = ["estimator"]
    if changed:
        listed = "; ".join(
            f"{name} was {before[name]!r:.60} and is {after[name]!r:.60}" for name in changed
        )
        raise InputError(f"{path} comes from other settings: {listed}")


def check_same_columns(
    path: str | PathLike[str],
    table: TableModel,
    columns: Mapping[str, Any],
    given: Mapping[str, Any],
    written: bool = False,
) -> None:
    """InputError where columns, or other settings of data, are not as a model's file knows them.

    columns : the parameters of a TableEncoder that are given; where some speak of some columns
        alone, the others are as they were, and so is what "auto" takes
    given : other settings, by name; None of those that are not given
    written : whether values must be written as before, too
    """
    before, after = data_settings(table), {k: v for k, v in given.items() if v is not None}
    for name, value in columns.items():
        if name in ("decimal", "thousands") and not written:
            continue
        known, after[name] = before[name], value
        if name == "drop":
            before[name] = known = list(known or ())
            after[name] = known + [column for column in value if column not in known]
        elif isinstance(value, Mapping):
            before[name], value = (_by_column(name, v, table.label_) for v in (known or {}, value))
            auto = AUTO in value and is_auto(getattr(table.encoder, name, None))
            value = {k: v for k, v in value.items() if not (k == AUTO and auto)}
            after[name] = {**before[name], **{k: v for k, v in value.items() if v}}
    check_same(path, before, after)


def _by_column(name: str, given: Any, label: str | None) -> dict[str, Any]:
    """What is said of each column: of dates without formats, of lags by one name of the label."""
    if name == "lags":
        lags, of = declared_lags(dict(given) or None)
        return {"label" if of in (None, label) else str(of): [*lags]} if lags else {}
    if name == "dates":
        return {
            key: parts if parts == AUTO else [part for part in parts if "%" not in part]
            for key, parts in given.items()
        }
    return dict(given)


def check_seed(path: str | PathLike[str], model: Any, seed: int) -> None:
    """InputError where the model in a file draws by another seed."""
    check_same(path, {"seed": getattr(model, "random_state", None)}, {"seed": seed})


def _stamp(path: str | PathLike[str]) -> tuple[int, ...] | None:
    """What changes with each writing of a file; None where there is none.

    The lock does not tell everything: its file can be removed, and some file systems have none.
    """
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


@dataclass
class Training(Progress):
    """A training as it goes on; `loss` is on the rows of the data, predicted before learned.

    Attributes
    ----------
    estimator : the model
    seconds : spent learning from the data, in every stretch up to a checkpoint
    past : the data that the model learned from before
    name : of the data
    n_rows : of the data; None where it is not known
    new_classes : labels of classes that the model did not know, and the first row of each, from 1
    level_counts : of each column of declared levels, how often each came in the whole table
    n_unlabelled : rows of the data without a label
    bad_rows : those that were left out; None where none can be
    taken : what "auto" has taken columns for, by parameter and column
    notes : on the columns of a table, a sentence each
    judge : what predictions cost beside trivial rules; None of a training by several workers
    ahead : measures of these data, all predicted by the model as it was before any of their labels
        was known; None but for other data, from their beginning on
    rows, loss, judged, resumed_at, rows_read, finished, data, windows : as `Progress` has them
    """

    estimator: Any
    seconds: float = 0.0
    past: Sequence[Past] = ()
    name: str = ""
    n_rows: int | None = None
    new_classes: dict[Any, int] = field(default_factory=dict)
    level_counts: Sequence[LevelCounts] = ()
    n_unlabelled: int = 0
    bad_rows: BadRows | None = None
    taken: dict[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    judge: Judge | None = None
    ahead: Measures | None = None

    @property
    def in_all(self) -> Past:
        """These data and those before, as one; `loss` is None where one was not recorded."""
        return together([*self.past, self.as_past])

    @property
    def as_past(self) -> Past:
        """These data so far, as data that the model has learned from."""
        return Past(name=self.name, **vars(self.data))

    @property
    def error(self) -> float:
        """Mistakes per judged row of these data so far, or the mean squared error."""
        return self.loss / max(self.judged, 1)


def train(
    stream: Stream,
    estimator: Any,
    path: str | PathLike[str],
    *,
    positive: str | None = None,
    classes: Sequence[Any] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    every: float = 60.0,
    progress: Callable[[Training], None] | None = None,
    stop: Callable[[], bool] | None = None,
    compiling: Reporter | None = None,
) -> Training:
    """Learn every row of a stream once, in its order, and leave the model in a file.

    The file is written whole or not at all, every so often and at the end. A training that was
    stopped, or killed, goes on from its file; its last file is, byte for byte, that of a training
    which was not. `go_on` goes on from it with other data.

    Parameters
    ----------
    stream : the rows
    estimator : what `kb.save` takes; changed in place. None for `OnlineMKRegressor` where a label
        has a fraction, else `OnlineMKClassifier`, both with the seed 0
    path : the model's file, in an existing folder
    positive : the label that `open_stream` has made +1 of, to write it down
    classes : all labels of a classifier; found by one reading of the stream where None. Text is
        read as numbers where the labels are numbers
    resume : go on from the file, if there is one: with the same settings, on data that begin
        with the rows it has learned
    overwrite : replace a file that is there
    every : seconds between checkpoints, at least 0
    progress : called after each chunk
    stop : asked after each chunk: True to write a checkpoint and return
    compiling : as `kernbrook.evaluation.compare` has it; the seconds count no compiling

    Returns
    -------
    Training

    Raises
    ------
    InputError
        The file is there and neither `resume` nor `overwrite` is set, it comes from other settings
        or other rows, it cannot be written, another process trains or labels the model in it, or
        an argument does not fit the data.
    NonFiniteError
        The features or the squared errors overflow.
    ModelFileError
        The file to go on from is damaged or not a model.
    DataFileError
        The data cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernbrook as kb
    >>> stream = kb.open_stream("checkerboard:3000")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "model"
    ...     machine = kb.recipes.make("bpas", random_state=0)
    ...     first = train(stream, machine, file, stop=lambda: True)
    ...     again = kb.recipes.make("bpas", random_state=0)
    ...     whole = train(stream, again, file, resume=True)
    >>> first.rows, first.finished, whole.resumed_at, whole.rows, whole.finished
    (1024, False, 1024, 3000, True)
    """
    check_stream(stream)
    with locked(path):
        going_on = check_target(path, resume, overwrite)
        if estimator is None:
            estimator = NewModel(None, classes, {"random_state": 0})
        if isinstance(estimator, NewModel):
            estimator = estimator.fitting(partial(task_of_labels, stream))
        else:
            check_settings(estimator, stream.n_features)
        Writer().values(estimator.get_params(deep=False))  # refuses what no file can hold
        table = TableModel._of_stream(estimator, stream, positive)
        position = Position(new=not overwrite)
        if going_on:
            found, known = load_checkpoint(path)
            position = Position.within(path, known)
            if position.begun is not None:
                raise InputError(
                    f"{path} has met other data before: kb.evaluation.go_on(data, path, "
                    "resume=True) goes on with the last ones"
                )
            check_same_settings(path, found, table)
            table = found
        return _learn_all(stream, table, path, position, classes, every, progress, stop, compiling)


def _learn_all(
    stream: Stream,
    table: TableModel,
    path: str | PathLike[str],
    position: Position,
    classes: Sequence[Any] | None,
    every: float,
    progress: Callable[[Training], None] | None,
    stop: Callable[[], bool] | None,
    compiling: Reporter | None,
    ahead: Measures | None = None,
) -> Training:
    """Learn the rows from a place on; see `train`. The file is locked."""
    X, y = next(stream.chunks(ROWS))
    estimator = table.model
    labels = named_classes(estimator, classes, None if position.past else y.dtype)
    if task_of(estimator) == "regression":
        check_numbers(y)
    elif labels is None:
        labels = classes_of(stream)
    if classes is not None and labels is not None:
        table.named_classes_ = labels
    run_reported(partial(warm_up, estimator, X, y, labels), compiling)
    state = Training(
        estimator, ahead=ahead, past=position.past, name=stream.name, n_rows=stream.n_rows,
        level_counts=stream.level_counts, n_unlabelled=stream.n_unlabelled,
        bad_rows=stream.bad_rows, taken=getattr(stream.encoder, "taken_", {}),
    )  # fmt: skip
    if stream.matched is not None:
        state.notes = [*stream.matched.notes(stream.n_rows or 0), *note_late_labels(stream.encoder)]
    if position.here is not None:
        state.rows = position.here.rows
    if position.known is not None:
        state.seconds = position.known.seconds
    judge = None if position.known is None else position.known.judge
    if judge is None:
        judge = Judge(labels, 0 if position.known is None else position.known.rows)
        if position.here is not None:
            judge.data.join(position.here)
    elif position.here is None:
        judge.begin()
    state.judge, state.data, state.windows = judge, judge.data, judge.windows
    watch = WatchedRows(stream, Content())
    session = _Session(table, state, path, position, stream, watch.content, labels, watch)
    session.run(every, progress, stop)
    stream.watch = None
    return state


def check_target(path: str | PathLike[str], resume: bool, overwrite: bool) -> bool:
    """Whether there is a file to go on from; InputError where `train` may not write to it.

    `train` asks this first. Who opens data that take long to open may ask before.
    """
    exists = check_writable(path).exists()
    if resume and overwrite:
        raise InputError("resume, overwrite: expected one of them, got both")
    if exists and not (resume or overwrite):
        raise InputError(
            f"{path} is there already: resume (--resume) to go on with the same data, go_on "
            "(--go-on) with other data, overwrite (--overwrite) to begin anew"
        )
    return exists and resume


def note_late_labels(encoder: TableEncoder | None) -> list[str]:
    """That the errors are those of labels in time, where an encoder knows of late ones."""
    if encoder is None or not encoder.lags_of_label or (encoder.delay, encoder.every) == (0, 1):
        return []
    late = [f"--delay {encoder.delay}"] if encoder.delay else []
    late += [f"--every {encoder.every}"] if encoder.every > 1 else []
    return [
        "each row was predicted with the labels of all rows before; kernbrook compare --in-order "
        f"{' '.join(late)} says the errors where labels come so late"
    ]


@dataclass
class _Session(Session):
    labels: NDArray[Any] | None  # all classes of the first data; None where they are numbers
    watched: WatchedRows  # the rows as they are before gaps are filled

    def digest_rows(self, X: Features, y: Labels) -> None:
        self.watched.advance(X, y)

    def learn(self, X: Features, y: Labels) -> None:
        state, named = self.state, dict[str, Any]()
        if self.labels is not None:
            y, named = self._named(y)
        else:
            y = as_numbers(y, state.rows)
        for rows in self._parts(y):
            self._learn(rows, X[rows], y[rows], named)

    def _learn(self, rows: slice, X: Features, y: Labels, named: dict[str, Any]) -> None:
        state, judge = self.state, self.state.judge
        start = time.perf_counter()
        try:
            with intervals_of(judge.measures.coverage):
                outputs = scored_learn(state.estimator)(X, y, **named)
        except InputError as error:
            if state.rows + rows.start == 0:
                raise
            before = state.rows + rows.start  # it counts these rows alone
            raise InputError(f"in the chunk after row {before}: {error}") from error
        state.seconds += time.perf_counter() - start - outputs.aside
        dates = self.watched.dates
        judge.add(y, outputs, None if dates is None else dates[rows])
        if self.labels is not None:
            judge.measures.know(state.estimator.classes_)

    def _parts(self, y: Labels) -> list[slice]:
        """A row of a class that is new by itself, which nobody could have predicted."""
        new = self.state.new_classes.values()
        cuts = sorted({row - self.state.rows - 1 + after for row in new for after in (0, 1)})
        ends = [0, *(cut for cut in cuts if 0 < cut < len(y)), len(y)]
        return [slice(*pair) for pair in pairwise(ends)]

    def _named(self, y: Labels) -> tuple[Labels, dict[str, Any]]:
        """Labels as the model's classes are written, and what `learn` is told of classes.

        The classes of the first data are all known before; those of later data may be new.
        """
        state, known, named = self.state, self.labels, self.labels
        if self.position.past:
            known, named = state.estimator.classes_, self.table.named_classes_
        assert known is not None
        y, found = new_labels(y, known, state.rows, None if named is None else named.tolist())
        for label, row in found.items():
            state.new_classes.setdefault(label, row)
        return y, {} if self.position.past else {"classes": self.labels}

    def checkpoint(self) -> Checkpoint:
        state, position, first = self.state, self.position, self.watched.content.first
        last = replace(state.as_past, first=first, digest=self._learned_digest)
        past = shortened([*position.past, last])
        seconds = 0.0 if state.finished else state.seconds
        return Checkpoint(past, state.finished, seconds, state.windows, state.judge, position.begun)


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
    compiling: Reporter | None = None,
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
        if not check_writable(path).exists():
            raise InputError(f"{path} does not exist: train it first, without go_on (--go-on)")
        table, known = load_learned(path)
        online(table.model)
        if check is not None:
            check(table)
        position = Position.within(path, known) if resume else _after(path, table, known, anyway)
        if (encoder := table.encoder_) is not None:
            begun = (position.begun if resume else encoder.described()["state"]) or None
            position, table.encoder_ = position._replace(begun=begun), with_state(encoder, begun)
        if resume and position.past and table.encoder_ is not None:  # left out again as before
            options.setdefault("ignore_extra", True)
        if classes is not None:
            table.named_classes_ = allowed_classes(table.model, classes)
        opened = _opened(data, table, options)
        stream = table._signed(opened)
        if not (resume or anyway):
            _check_unknown(stream, path, position.past)
        judge = None if known is None else known.judge
        ahead = None if resume else _ahead(table, judge, opened, options, compiling)
        return _learn_all(
            stream, table, path, position, None, every, progress, stop, compiling, ahead
        )


def _ahead(
    table: TableModel,
    judge: Judge | None,
    stream: Stream,
    options: dict[str, Any],
    compiling: Reporter | None,
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
            run_reported(partial(predict_frozen, model, X[:1], coverage), compiling)
        if known is not None and positive is None:
            labels, _ = new_labels(y, known, rows, None if named is None else named.tolist())
            found.update(labels[has_label(labels)].tolist())
        tally.add(y, predict_frozen(model, X, coverage))
        rows += len(y)
    if known is not None and named is None:
        check_some_known(sorted(found), known, stream.name)
    return tally.judged


def _after(
    path: str | PathLike[str], table: TableModel, known: Checkpoint | None, anyway: bool
) -> Position:
    """The place of a model that is to begin other data."""
    if known is None:
        past = [Past(table.model.n_rounds_)]
        return Position(Checkpoint(past, True), past)
    if not known.finished and not anyway:
        raise InputError(
            f"{path} was stopped within {known.last.name!r}, after {known.last.rows:,} rows of "
            "it: resume (--resume) goes on with these data, anyway (--anyway) leaves out the rest"
        )
    return Position(known, known.past)


def _opened(data: Any, table: TableModel, options: dict[str, Any]) -> Stream:
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
    message = f"{note_same_rows(stream, same)}, which {path} has learned"
    if stream.n_rows != same.rows and same is past[-1]:
        message += "; resume (--resume) learns the rows after them"
    raise InputError(f"{message}; anyway (--anyway) learns them once more")


def learned_before(stream: Stream, past: Sequence[Past]) -> Past | None:
    """The data that a stream with labels is, or begins with, of those that a model has learned.

    The stream is read as far as it may be one of them.
    """
    before = [data for data in past if data.first]
    watched = WatchedRows(stream, Content([data.rows for data in before]))
    most, rows = max((data.rows for data in before), default=0), 0
    for X, y in stream.chunks() if before else ():
        watched.advance(X, y)
        rows += len(y)
        before = [data for data in before if data.first == watched.content.first]
        if not before or rows >= most:
            break
    stream.watch = None
    found = [data for data in before if watched.content.marked.get(data.rows) == data.digest]
    return max(found, key=lambda data: data.rows, default=None)


def note_learned(stream: Stream, past: Sequence[Past]) -> str:
    """That a model has learned the very rows of a stream; "" where it has not, or nobody can tell.

    stream : with labels as the model has them
    past : the data that the model has learned
    """
    same = learned_before(stream, past) if stream.labelled else None
    return "" if same is None else note_same_rows(stream, same)


def note_same_rows(stream: Stream, same: Past) -> str:
    """That the rows of a stream are, or begin with, those of other data."""
    which = "its" if stream.n_rows == same.rows else "its first"
    return f"{stream.name}: {which} {same.rows:,} rows are those of {quoted(same.name or '')}"
