"""What a model has seen of its data so far, in its file: so it goes on, and so show says it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import Any

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from kernbrook.errors import InputError, KernbrookError, ModelFileError
from kernbrook.estimators.by_name import NamedColumns
from kernbrook.estimators.late import LateLabels
from kernbrook.estimators.table_model import TableModel
from kernbrook.evaluation.windows import Judge, Past, Windows
from kernbrook.persistence.saving import load, save
from kernbrook.plain_values import Size, read_as
from kernbrook.streams import TableEncoder


@dataclass(frozen=True)
class Checkpoint:
    """How far a training is: the history of a `TableModel`.

    Attributes
    ----------
    past : the data that were learned, one after the other; the last of them may go on
    finished : whether the last data have no row more
    seconds : spent learning from the last data; 0 when finished, because the same training gives
        the same bytes
    windows : what rows cost over time; None where that was not recorded
    judge : `Judge`, the same beside trivial rules, whose windows these are; None where nothing was
        recorded
    begun : what the encoder had learned before the last data; None where it was new
    """

    past: list[Past]
    finished: bool
    seconds: Size = 0.0
    windows: Windows | None = None
    judge: Any = None
    begun: dict[str, Any] | None = None

    @property
    def rows(self) -> int:
        """Rows learned from, of all data."""
        return sum(data.rows for data in self.past)

    @property
    def last(self) -> Past:
        """The last data."""
        return self.past[-1]

    def described(self) -> dict[str, Any]:
        """The same as plain values, for a file."""
        windows = None if self.windows is None or self.judge is not None else self.windows
        return {
            **vars(self),
            "past": [asdict(data) for data in self.past],
            "windows": None if windows is None else asdict(windows),
            "judge": None if self.judge is None else self.judge.described(),
        }


def save_checkpoint(
    table: TableModel, checkpoint: Checkpoint | None, path: str | PathLike[str]
) -> None:
    """`kb.save` of a model with what it has seen so far; None where that is nothing."""
    table.history_ = None if checkpoint is None else checkpoint.described()
    save(table, path)


def load_checkpoint(path: str | PathLike[str]) -> tuple[TableModel, Checkpoint | None]:
    """Read a model and how far its training is, as `kernbrook show` prints it.

    Parameters
    ----------
    path : of a file that `train`, `label` or `kb.save` wrote

    Returns
    -------
    the `TableModel`, and its history as a `Checkpoint`; None where that is not known

    Raises
    ------
    ModelFileError
        The file is damaged, or holds a `LateLabels` or a `NamedColumns`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernbrook as kb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "model"
    ...     stream, model = kb.open_stream("checkerboard:500"), kb.recipes.make("majority")
    ...     training = kb.evaluation.train(stream, model, file)
    ...     table, history = load_checkpoint(file)
    >>> history.rows, history.finished, [data.name for data in history.past]
    (500, True, ['checkerboard:500'])
    """
    model = load(path)
    if isinstance(model, (LateLabels, NamedColumns)):
        raise ModelFileError(path, f"a model with {type(model).__name__}: use kb.load in Python")
    table = TableModel._around(model)
    return table, checkpoint_of(table, path)


def load_learned(path: str | PathLike[str]) -> tuple[TableModel, Checkpoint | None]:
    """As `load_checkpoint`, and ModelFileError where the model has not learned."""
    table, known = load_checkpoint(path)
    try:
        check_is_fitted(table.model)
    except NotFittedError as error:
        raise ModelFileError(path, "a model that has not learned anything") from error
    return table, known


def checkpoint_of(table: TableModel, path: str | PathLike[str]) -> Checkpoint | None:
    """What a model has seen of its data; ModelFileError where it can be no such thing."""
    found, model = table.history_, table.model
    if found is None or "past" not in found:  # before 2026-11-26 it said nothing of each data
        return None
    try:
        checkpoint: Checkpoint = read_as(Checkpoint, found, "history")
        if checkpoint.judge is not None:
            judge = Judge.restored(checkpoint.judge, getattr(model, "classes_", None))
            checkpoint = replace(checkpoint, judge=judge, windows=judge.windows)
        if not checkpoint.past:
            raise InputError("past: expected data")
        if checkpoint.begun is not None and table.encoder_ is not None:
            with_state(table.encoder_, checkpoint.begun)
        more = model.n_rounds_ - checkpoint.rows
    except (AttributeError, KeyError, TypeError, KernbrookError) as error:
        raise ModelFileError(path, f"not an account of a training: {error}") from error
    if more < 0:  # by `fit`, which begins anew and writes nothing down
        return None
    if more:  # by `partial_fit`
        past = [*checkpoint.past, Past(more)]
        return Checkpoint(past, finished=True)
    return checkpoint


def with_state(encoder: TableEncoder, state: dict[str, Any] | None) -> TableEncoder:
    """An encoder with another state; None for that before any row."""
    described = encoder.described()
    if state is None:
        known = TableEncoder.from_description(described)
        state = clone(known).begin(known.feature_names_in_, known.label).described()["state"]
    return TableEncoder.from_description({**described, "state": state})
