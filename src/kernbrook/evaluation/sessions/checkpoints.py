"""A model and how far its training is, in one file, so that the two never disagree."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from os import PathLike
from types import NoneType
from typing import Any

from kernbrook.checks import shown
from kernbrook.errors import InputError, KernbrookError, ModelFileError
from kernbrook.estimators.tasks import task_of
from kernbrook.evaluation.measures import Sums
from kernbrook.evaluation.sessions.sources import Source
from kernbrook.evaluation.windows import Judge, Past, Windows
from kernbrook.persistence.saving import read, write
from kernbrook.plain_values import expect, is_count, read_as


@dataclass(frozen=True)
class Checkpoint:
    """How far a training is.

    Attributes
    ----------
    source : of the rows
    rows : rows learned from, of all data
    past : the data that they are of, one after the other; the last of them may go on
    finished : whether the last data have no row more
    seconds : spent learning from the last data; 0 when finished, because the same training gives
        the same bytes
    windows : what rows cost over time; None where that was not recorded
    judge : the same beside trivial rules, whose windows these are; None where nothing was recorded
    begun : what the encoder had learned before the last data; None where it was new
    """

    source: Source
    rows: int
    past: list[Past]
    finished: bool
    seconds: float = 0.0
    windows: Windows | None = None
    judge: Judge | None = None
    begun: dict[str, Any] | None = None

    @property
    def last(self) -> Past:
        """The last data."""
        return self.past[-1]

    def described(self) -> dict[str, Any]:
        """The same as plain values, for a file."""
        windows = None if self.windows is None or self.judge is not None else self.windows
        return {
            **vars(self),
            # Names of encoded columns follow from the encoder; of hashed words there are many.
            "source": asdict(self.source)
            | ({} if self.source.encoder is None else {"features": None}),
            "past": [asdict(one) for one in self.past],
            "windows": None if windows is None else asdict(windows),
            "judge": None if self.judge is None else self.judge.described(),
        }


def save_checkpoint(estimator: Any, checkpoint: Checkpoint, path: str | PathLike[str]) -> None:
    """`kb.save`, with the checkpoint in the same file; `kb.load` reads the model alone."""
    write(estimator, path, checkpoint.described())


def load_checkpoint(
    path: str | PathLike[str], history: bool = True
) -> tuple[Any, Checkpoint | None]:
    """The model, and its checkpoint or None where `kb.save` wrote the file.

    history : False leaves out what rows cost over time, which who predicts does not need

    Raises
    ------
    ModelFileError
        As `kb.load`, or the checkpoint is not one of this model.
    """
    estimator, header = read(path)
    if not history and isinstance(header.get("training"), dict):
        header["training"] |= {"windows": None, "judge": None}
    return estimator, checkpoint_of(estimator, header, path)


def checkpoint_of(
    estimator: Any, header: dict[str, Any], path: str | PathLike[str]
) -> Checkpoint | None:
    """The checkpoint in a file that `read` has read; ModelFileError as `load_checkpoint`."""
    found = header.get("training")
    if found is None:
        return None
    try:
        if "past" not in found:
            found = _of_before(found)
        source = Source(**found["source"])
        _check_source(source)
        if source.encoder is not None:
            source = replace(source, features=_encoded(source))
        past: list[Past] = read_as(list[Past], found.get("past"), "past")
        of_classes = task_of(estimator) == "classification"
        windows, judge = found.get("windows"), found.get("judge")
        if judge is not None:
            judge = Judge.restored(judge, estimator.classes_ if of_classes else None)
            windows = judge.windows
        elif windows is not None:
            windows = read_as(Windows, windows, "windows")
        read_anew = {"source": source, "past": past, "windows": windows, "judge": judge}
        checkpoint = Checkpoint(**{**found, **read_anew})
        _check_progress(checkpoint, of_classes)
        sensible = estimator.n_rounds_ == checkpoint.rows
    except (AttributeError, KeyError, TypeError, KernbrookError) as error:
        raise ModelFileError(path, f"not an account of a training: {error}") from error
    if not sensible:
        problem = f"expected a model of {checkpoint.rows} rows, got {estimator.n_rounds_}"
        raise ModelFileError(path, problem)
    return checkpoint


def _of_before(found: dict[str, Any]) -> dict[str, Any]:
    """What an older kernbrook wrote of a training, as it is written now: the loss of all rows."""
    names, windows = found.get("data") or [None], found.get("windows")
    past = Past(found["rows"], digest=found["digest"], data=len(names))
    past.name = names[0] if len(names) == 1 else None
    if windows is not None:
        length = windows["length"]
        past.judged, past.sums = windows["rows"], {"loss": found["loss"]}
        ends = [min(length * (i + 1), past.judged) for i in range(len(windows["sums"]))]
        rows = [end - length * i for i, end in enumerate(ends)]
        spans = [Sums(n, n, {"loss": s}) for n, s in zip(rows, windows["sums"], strict=True)]
        windows = asdict(Windows(length, spans))
    same = {name: found[name] for name in ("source", "rows", "finished")}
    seconds = found.get("seconds", 0.0)
    return {**same, "seconds": seconds, "past": [asdict(past)], "windows": windows}


def _check_source(source: Source) -> None:
    """InputError where what is written down about the data is none of what it can be."""
    if source.n_features is not None and not is_count(source.n_features):
        raise InputError(f"n_features: expected an integer from 0, got {shown(source.n_features)}")
    for name in ("positive", "label"):
        expect(name, getattr(source, name), str, NoneType)
    expect("classes", source.classes, list, NoneType)
    for name in ("features", "aside", "auto"):
        expect(name, names := getattr(source, name), list, NoneType)
        for one in names or []:
            expect(name, one, str)
    if source.features is not None and len(source.features) != source.n_features:
        raise InputError(f"features: {len(source.features)} names of {source.n_features} features")


def _check_progress(checkpoint: Checkpoint, of_classes: bool) -> None:
    """InputError where what is said of a training is of no kind that it can be."""
    if not is_count(checkpoint.rows):
        raise InputError(f"rows: expected an integer from 0, got {shown(checkpoint.rows)}")
    if sum(one.rows for one in checkpoint.past) != checkpoint.rows or not checkpoint.past:
        raise InputError(f"past: expected data of {checkpoint.rows} rows")
    if of_classes and any((one.loss or 0) > one.judged for one in checkpoint.past):
        raise InputError("past: more mistakes than rows")
    seconds = checkpoint.seconds
    if not (type(seconds) in (int, float) and 0 <= seconds < math.inf):
        raise InputError(f"seconds: expected a finite number from 0, got {shown(seconds)}")
    if type(checkpoint.finished) is not bool:
        raise InputError(f"finished: expected true or false, got {shown(checkpoint.finished)}")
    if checkpoint.windows is not None and checkpoint.windows.rows > checkpoint.rows:
        raise InputError(f"windows: of {checkpoint.windows.rows} rows, of {checkpoint.rows}")
    if checkpoint.begun is not None:
        if checkpoint.source.encoder is None:
            raise InputError("begun: expected null, because there is no encoder")
        checkpoint.source.knowing(checkpoint.begun).made_encoder()


def _encoded(source: Source) -> list[str]:
    """The names of the encoded columns; InputError where they are not those of the features."""
    names: list[str] = source.made_encoder().get_feature_names_out().tolist()
    if source.n_features != len(names) or source.features not in (None, names):
        raise InputError("encoder: not of the features that it has")
    return names
