"""From what a user names to a stream."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from kernbrook.errors import InputError, UnknownNameError
from kernbrook.streams.arrays import ArrayStream
from kernbrook.streams.base import FirstRows, PositiveView, Stream, positive_integer
from kernbrook.streams.builtin import make_builtin, stream_names
from kernbrook.streams.data_files import DataFile, is_data_file
from kernbrook.streams.text_files import file_format, has_known_suffix

DATA_FOLDER = "KERNBROOK_DATA"
_FOLDER_ENDINGS = (".libsvm", ".libsvm.xz")


def open_stream(
    source: Any,
    *,
    n_features: int | None = None,
    label: str | None = None,
    positive: object = None,
    seed: int = 0,
    max_bytes: int | None = None,
) -> Stream:
    """Open data for reading in chunks.

    Parameters
    ----------
    source : what to read:

        - a path: svmlight (.libsvm, .svm, .svmlight, .txt, .dat) or CSV (.csv), plain or with
          .gz, .bz2 or .xz after that; other names are told apart by their first line with data.
          What a pipe gives is copied first, to the folder for temporary files where it is much
        - "-" for standard input, which is read as a pipe is
        - a name: one of `stream_names()`, or NAME where the folder given by the environment
          variable KERNBROOK_DATA has NAME.libsvm or NAME.libsvm.xz; ``NAME:N`` for N rows
        - a pair (X, y) of arrays, sparse arrays, lists or frames
        - a `Stream`

        A file in the way of a name wins over the name.
    n_features : d, the width; None to find it. A svmlight file may use fewer features
    label : the column of a CSV file with the label; None for "label", else the last
    positive : a label that becomes +1, all others -1; None to leave the labels alone. Text is
        compared as a number where the labels are numbers
    seed : of a generator; a non-negative integer
    max_bytes : the most text that a file may have, unpacked. None for no limit to an ordinary file;
        then a compressed one may have 256 MiB, or 100 times its size if that is more, and through a
        pipe come up to 16 GiB

    Returns
    -------
    Stream

    Raises
    ------
    DataFileError
        The file is missing, too large or cannot be read, or a line of it is at fault.
    UnknownNameError
        Neither a file nor a name, or no such column.
    InputError
        The arrays are not a matrix and a vector of equal length, or an argument does not fit.
    NonFiniteError
        The arrays hold NaN or infinity.

    Warns
    -----
    DataFileWarning
        A CSV file seems to have no header row, or a column that counts the rows; see `CsvStream`.

    Examples
    --------
    >>> stream = open_stream("wdbc")
    >>> stream.n_rows, stream.n_features
    (569, 30)
    >>> X, y = next(stream.chunks(100))
    >>> X.shape, int(y[0])
    ((100, 30), 1)

    Digits as "is it an eight?":

    >>> X, y = open_stream("digits:500", positive=8).read()
    >>> int((y == 1).sum()), int((y == -1).sum())
    (46, 454)
    """
    if n_features is not None:
        n_features = positive_integer(n_features, "n_features")
    stream = _resolve(source, n_features, label, seed, max_bytes)
    return stream if positive is None else PositiveView(stream, positive)


def find_file(source: str, max_bytes: int | None = None) -> DataFile | None:
    """The file or pipe that `open_stream` would read, which it takes too; None for a name."""
    return DataFile(source, max_bytes) if is_data_file(source) else None


def _resolve(
    source: Any, n_features: int | None, label: str | None, seed: int, max_bytes: int | None
) -> Stream:
    if isinstance(source, DataFile):
        return _open_file(source, n_features, label)
    if isinstance(source, (str, os.PathLike)):
        file = DataFile(source, max_bytes)
        if is_data_file(source) or not isinstance(source, str):
            return _open_file(file, n_features, label)
        named = _named(source, seed, n_features, max_bytes)
        if named is None:
            if os.path.exists(source) or _looks_like_path(source):
                return _open_file(file, n_features, label)
            known = [*stream_names(), *_folder_names()]
            if file.path.suffix and not get_close_matches(source, known):
                return _open_file(file, n_features, label)  # it says that there is none
            raise UnknownNameError("data", source, known)
        stream = named
    elif isinstance(source, Stream):
        stream = source
    elif isinstance(source, tuple) and len(source) == 2:
        stream = ArrayStream(*source)
    else:
        raise InputError(
            f"expected a path, a name or a pair (X, y), got {type(source).__name__} {source!r:.80}"
        )
    if label is not None:
        raise InputError(f"label={label!r} names a column of a CSV file; {stream.name} is none")
    if n_features is not None and n_features != stream.n_features:
        raise InputError(
            f"{stream.name}: expected {n_features} features, found {stream.n_features}"
        )
    return stream


def _open_file(file: DataFile, n_features: int | None, label: str | None) -> Stream:
    if file_format(file) == "csv":
        from kernbrook.streams.csv_files import CsvStream

        return CsvStream(file, n_features, label)
    if label is not None:
        raise InputError(f"label={label!r} names a column of a CSV file; {file.path} is svmlight")
    from kernbrook.streams.svmlight import SvmlightStream

    return SvmlightStream(file, n_features)


def _named(source: str, seed: int, n_features: int | None, max_bytes: int | None) -> Stream | None:
    """The stream called NAME or NAME:N, or None where there is no such name."""
    name, colon, count = source.partition(":")
    in_folder = None if name in stream_names() else _in_folder(name)
    if name not in stream_names() and in_folder is None:
        return None
    if colon and not (count.isascii() and count.isdigit() and int(count) > 0):
        raise InputError(f"expected {name}:N with a positive number of rows N, got {source!r}")
    rows = int(count) if colon else None
    if in_folder is None:
        return make_builtin(name, rows, seed)
    whole = _open_file(DataFile(in_folder, max_bytes), n_features, None)
    return whole if rows is None else FirstRows(whole, rows)


def _looks_like_path(source: str) -> bool:
    separators = {os.sep, "/", os.altsep or os.sep}
    return any(s in source for s in separators) or has_known_suffix(Path(source))


def _in_folder(name: str) -> Path | None:
    folder = os.environ.get(DATA_FOLDER)
    if not folder or not name or Path(name).name != name:
        return None
    paths = (Path(folder, name + ending) for ending in _FOLDER_ENDINGS)
    return next((path for path in paths if path.is_file()), None)


def _folder_names() -> list[str]:
    folder = os.environ.get(DATA_FOLDER)
    try:
        files = sorted(os.listdir(folder)) if folder else []
    except OSError:
        return []
    return [
        file.removesuffix(ending)
        for file in files
        for ending in _FOLDER_ENDINGS
        if file.endswith(ending)
    ]
