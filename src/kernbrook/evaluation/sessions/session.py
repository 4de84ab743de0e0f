"""One pass over rows in stretches: a model that was stopped, or killed, goes on from its file."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, ClassVar

from kernbrook.atomic import check_writable
from kernbrook.errors import InputError
from kernbrook.estimators.table_model import TableModel
from kernbrook.evaluation.content import Content, RowDigest
from kernbrook.evaluation.measures import Sums
from kernbrook.evaluation.sessions.checkpoints import Checkpoint, reached, save_checkpoint
from kernbrook.evaluation.windows import Past, Windows, shortened
from kernbrook.persistence.encoding import Writer
from kernbrook.streams import Stream, TableEncoder
from kernbrook.streams.stream import Features, Labels, Piece
from kernbrook.streams.tables.declarations import AUTO, declared_lags, is_auto

CHUNK = 1024  # rows read at a time; they do not change the result
ENCODED = (  # the parameters of an encoder
    "categorical", "dates", "drop", "missing", "decimal", "thousands", "units", "words", "lags",
    "delay", "every",
)  # fmt: skip


class Quit(Exception):
    """Raised while a row is met, to stop before it."""


class Undo(Exception):
    """Raised while a row is met, to take back the last answer."""


class _OtherWriter(InputError):
    """Something else has written the model's file."""


@dataclass(kw_only=True)
class Stretch:
    """How far a model is through its rows.

    Attributes
    ----------
    rows : rows met, of these data
    resumed_at : rows that it had met when this call began
    rows_read : rows seen; below `resumed_at` while those met before are read again
    finished : whether no row is left
    data : sums of these rows
    windows : the losses over time; None where those before were not recorded
    """

    rows: int = 0
    resumed_at: int = 0
    rows_read: int = 0
    finished: bool = False
    data: Sums = field(default_factory=Sums)
    windows: Windows | None = field(default_factory=Windows)

    @property
    def loss(self) -> float:
        """On the labels of these rows that were predicted: mistakes, or squared errors."""
        return self.data.sums.get("loss", 0)

    @property
    def judged(self) -> int:
        """These labels."""
        return self.data.judged


@dataclass
class Session(ABC):
    """One stretch of a model's way through a stream; a subclass writes `meet`.

    Attributes
    ----------
    table : the model that learns, with all that goes into its file
    state : what is told of it, a `Stretch`; `rows` are those that the model in the file has met
    path : the model's file
    known : the checkpoint in the file; None where there is none
    past : the data that the model learned from before these
    new : whether a file that is there at the first writing is somebody else's
    """

    step: ClassVar[int | None] = None  # rows met at a time; all of a chunk where None

    table: TableModel
    state: Any
    path: str | PathLike[str]
    known: Checkpoint | None
    past: Sequence[Past]
    new: bool

    def __post_init__(self) -> None:
        self.digest: RowDigest | Content = RowDigest()  # of the rows read; `_met` of those met
        self._stream: Stream | None = None
        self._met = "" if self.known is None else self.known.last.digest
        self._whole = self.known is not None and self.known.finished  # what the file says
        self._written = self.state.resumed_at = self.state.rows
        self._replaces = _stamp(self.path) if self.known is not None else None
        self._careful = self.new or self.known is not None  # about what the file is now

    @abstractmethod
    def meet(self, X: Features, y: Labels) -> None:
        """Take in rows that are new, (n, d) and (n,)."""

    def look_at(self, X: Features, y: Labels) -> None:
        """Called with all rows once, before they are met if they are new."""
        self.digest.update(X, y)

    def reached(self) -> Checkpoint:
        """What is written beside the model."""
        state, name = self.state, None if self._stream is None else self._stream.name
        data = Past(state.rows, state.judged, {"loss": state.loss}, name=name, digest=self._met)
        past = shortened([*self.past, data])
        return Checkpoint(past, state.finished, windows=state.windows)

    def other(self, problem: str) -> InputError:
        """The rows are not those of the file."""
        helps = "go_on (--go-on) learns other data"
        return InputError(f"{self.path} comes from other data: {problem}; {helps}")

    def run(
        self,
        stream: Stream,
        every: float,
        progress: Callable[[Any], None] | None,
        stop: Callable[[], bool] | None,
    ) -> None:
        """Meet the new rows, and write the model every so many seconds and at the end."""
        state, self._stream = self.state, stream
        last = time.monotonic()
        for X, y in self._new_rows(stream, progress):
            try:
                self.meet(X, y)
            except Quit:
                break
            state.rows += len(y)
            state.rows_read, self._met = state.rows, self.digest.hexdigest()
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
        """Write the model, where the file does not say the same."""
        rows, whole = self.state.rows, self.state.finished
        if rows == self._written and self._whole >= whole:
            return
        try:
            self.table.encoder_ = reached(self.table.encoder_, self._stream)
            self.write(save_checkpoint, self.table, self.reached(), self.path)
        except _OtherWriter:
            raise
        except InputError as error:
            kept = f"; the checkpoint after {self._written} rows is still there"
            kept = kept if self._written else ""
            raise InputError(f"after {rows} rows: {error}{kept}") from error
        self._written, self._whole = rows, whole

    def write(self, function: Callable[..., None], *arguments: Any) -> None:
        """Write the file; InputError where something else has written it since."""
        check_writable(self.path)
        if self._careful and _stamp(self.path) != self._replaces:
            raise _OtherWriter(
                f"{self.path} was written by something else meanwhile, and is left as it is: "
                "take another file, or overwrite (--overwrite)"
            )
        function(*arguments)
        self._replaces, self._careful = _stamp(self.path), True

    def _new_rows(self, stream: Stream, progress: Callable[[Any], None] | None) -> Iterator[Piece]:
        """The rows that the model has not met; the ones before must be those that it has."""
        state, begin, digest = self.state, self.state.resumed_at, self._met
        for X, y in stream.chunks(CHUNK):
            again = min(begin - state.rows_read, len(y)) if state.rows_read < begin else 0
            if again:
                self.look_at(X[:again], y[:again])
                state.rows_read += again
                if progress is not None:
                    progress(state)
                if state.rows_read == begin and digest != self.digest.hexdigest():
                    raise self.other(f"the first {begin} rows here are not those that it has seen")
            for start in range(again, len(y), self.step or len(y)):
                piece = slice(start, start + (self.step or len(y)))
                self.look_at(X[piece], y[piece])
                yield X[piece], y[piece]
        if state.rows_read < begin:
            raise self.other(f"it has seen {begin} rows, here are {state.rows_read}")


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
    encoder, declared = table.encoder_, dict[str, Any]()
    if encoder is not None:
        declared = TableEncoder.from_description(encoder.described()).described()
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
        told = "; ".join(
            f"{name} was {before[name]!r:.60} and is {after[name]!r:.60}" for name in changed
        )
        raise InputError(f"{path} comes from other settings: {told}")


def check_same_columns(
    path: str | PathLike[str],
    table: TableModel,
    columns: Mapping[str, Any],
    given: Mapping[str, Any],
    written: bool = False,
) -> None:
    """InputError where columns, or other settings of data, are not as a model's file knows them.

    Parameters
    ----------
    path : the file
    table : the model in it
    columns : the parameters of a TableEncoder that are given; where some speak of some columns
        alone, the others are as they were, and so is what "auto" takes
    given : other settings, by name; None of those that are not given
    written : whether values must be written as before, too
    """
    before, after = data_settings(table), {k: v for k, v in given.items() if v is not None}
    for name, own in columns.items():
        if name in ("units", "decimal", "thousands") and not written:
            continue
        known, after[name] = before[name], own
        if name == "drop":
            before[name] = known = list(known or ())
            after[name] = known + [one for one in own if one not in known]
        elif isinstance(own, Mapping):
            before[name], own = (_by_column(name, one, table.label_) for one in (known or {}, own))
            auto = AUTO in own and is_auto(getattr(table.encoder, name, None))
            own = {k: v for k, v in own.items() if not (k == AUTO and auto)}
            after[name] = {**before[name], **{k: v for k, v in own.items() if v}}
    check_same(path, before, after)


def _by_column(name: str, given: Any, label: str | None) -> dict[str, Any]:
    """What is said of each column: of dates without formats, of lags by one name of the label."""
    if name == "lags":
        lags = declared_lags(dict(given))
        return {"label" if key in (None, label) else str(key): [*v] for key, v in lags.items()}
    if name == "dates":
        return {
            key: own if own == AUTO else [part for part in own if "%" not in part]
            for key, own in given.items()
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
