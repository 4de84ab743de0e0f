"""A model and how far its training is, in one file, so that the two never disagree."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from hashlib import sha256
from os import PathLike
from types import NoneType
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from kernbrook.checks import shown
from kernbrook.errors import InputError, KernbrookError, ModelFileError
from kernbrook.estimators.tasks import task_of
from kernbrook.evaluation.sources import Source
from kernbrook.evaluation.windows import Windows
from kernbrook.persistence.encoding import expect
from kernbrook.persistence.file_checks import is_count
from kernbrook.persistence.saving import read, write
from kernbrook.streams.base import Features, Labels


@dataclass(frozen=True)
class Checkpoint:
    """How far a training is.

    Attributes
    ----------
    source : of the rows
    rows : rows learned from
    loss : on these rows, each predicted before it was learned: mistakes, or squared errors
    digest : of these rows, by `RowDigest`
    finished : whether they are all rows of the data
    seconds : spent learning; 0 when finished, because the same training gives the same bytes
    data : names of the data learned from, one after the other; None where one was not recorded
    windows : the losses over time; None where they were not recorded
    """

    source: Source
    rows: int
    loss: float
    digest: str
    finished: bool
    seconds: float = 0.0
    data: list[str | None] | None = None
    windows: Windows | None = None


def save_checkpoint(estimator: Any, checkpoint: Checkpoint, path: str | PathLike[str]) -> None:
    """`kb.save`, with the checkpoint in the same file; `kb.load` reads the model alone."""
    write(estimator, path, asdict(checkpoint))


def load_checkpoint(path: str | PathLike[str]) -> tuple[Any, Checkpoint | None]:
    """The model, and its checkpoint or None where `kb.save` wrote the file.

    Raises
    ------
    ModelFileError
        As `kb.load`, or the checkpoint is not one of this model.
    """
    estimator, header = read(path)
    return estimator, checkpoint_of(estimator, header, path)


def checkpoint_of(
    estimator: Any, header: dict[str, Any], path: str | PathLike[str]
) -> Checkpoint | None:
    """The checkpoint in a file that `read` has read; ModelFileError as `load_checkpoint`."""
    found = header.get("training")
    if found is None:
        return None
    try:
        source = Source(**found["source"])
        _check_source(source)
        if source.encoder is not None:
            _check_encoder(source)
        windows = found.get("windows")
        windows = None if windows is None else Windows(**windows)
        checkpoint = Checkpoint(**{**found, "source": source, "windows": windows})
        _check_progress(checkpoint)
        most = math.inf if task_of(estimator) == "regression" else checkpoint.rows
        sensible = estimator.n_rounds_ == checkpoint.rows and 0 <= checkpoint.loss <= most
    except (AttributeError, KeyError, TypeError, KernbrookError) as error:
        raise ModelFileError(path, f"not an account of a training: {error}") from error
    if not sensible:
        problem = f"expected a model of {checkpoint.rows} rows, got {estimator.n_rounds_}"
        raise ModelFileError(path, problem)
    return checkpoint


def _check_source(source: Source) -> None:
    """InputError where what is written down about the data is none of what it can be."""
    if source.n_features is not None and not is_count(source.n_features):
        raise InputError(f"n_features: expected an integer from 0, got {shown(source.n_features)}")
    for name in ("positive", "label"):
        expect(name, getattr(source, name), str, NoneType)
    for name in ("features", "aside"):
        expect(name, names := getattr(source, name), list, NoneType)
        for one in names or []:
            expect(name, one, str)
    if source.features is not None and len(source.features) != source.n_features:
        raise InputError(f"features: {len(source.features)} names of {source.n_features} features")


def _check_progress(checkpoint: Checkpoint) -> None:
    """InputError where what is said of a training is of no kind that it can be."""
    expect("data", checkpoint.data, list, NoneType)
    for name in checkpoint.data or []:
        expect("data", name, str, NoneType)
    expect("digest", checkpoint.digest, str)
    if not is_count(checkpoint.rows):
        raise InputError(f"rows: expected an integer from 0, got {shown(checkpoint.rows)}")
    for name in ("loss", "seconds"):
        if not (type(value := getattr(checkpoint, name)) in (int, float) and 0 <= value < math.inf):
            raise InputError(f"{name}: expected a finite number from 0, got {shown(value)}")
    if type(checkpoint.finished) is not bool:
        raise InputError(f"finished: expected true or false, got {shown(checkpoint.finished)}")
    if checkpoint.windows is not None and checkpoint.windows.rows > checkpoint.rows:
        raise InputError(f"windows: of {checkpoint.windows.rows} rows, of {checkpoint.rows}")


def _check_encoder(source: Source) -> None:
    """InputError where its encoder is none, or not one of these features."""
    from kernbrook.streams import TableEncoder

    names = TableEncoder.from_description(source.encoder).get_feature_names_out().tolist()
    if source.n_features != len(names) or source.features not in (None, names):
        raise InputError("encoder: not of the features that it has")


class RowDigest:
    """SHA-256 of rows and their labels, by value: dense or sparse, in chunks of any length.

    Examples
    --------
    >>> X, y = np.eye(3), np.array([1, 2, 3])
    >>> whole, parts = RowDigest(), RowDigest()
    >>> whole.update(X, y)
    >>> parts.update(X[:1], y[:1])
    >>> parts.update(csr_array(X[1:]), y[1:])
    >>> whole.hexdigest() == parts.hexdigest()
    True
    """

    def __init__(self) -> None:
        self._parts = [sha256() for _ in range(4)]

    def update(self, X: Features, y: Labels) -> None:
        """Take in more rows, (n, d) and (n,)."""
        X = csr_array(X)
        if not X.data.all():
            X = X.copy()
            X.eliminate_zeros()
        if y.dtype.kind in "UO":
            labels = b"".join(_in_a_line(label or "") for label in y.tolist())
        else:
            labels = y.astype("<f8").tobytes()
        lengths, indices = np.diff(X.indptr).astype("<i8"), X.indices.astype("<i8")
        for part, data in zip(
            self._parts, (X.data.tobytes(), indices.tobytes(), lengths.tobytes(), labels),
            strict=True,
        ):  # fmt: skip
            part.update(data)

    def hexdigest(self) -> str:
        """The digest of the rows so far, 64 letters."""
        return sha256(b"".join(part.digest() for part in self._parts)).hexdigest()


def _in_a_line(label: str) -> bytes:
    """A label as no other is written, with a line end; UTF-8 has no byte 255."""
    return label.encode(errors="surrogatepass").replace(b"\n", b"\xff") + b"\n"
