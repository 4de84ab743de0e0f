"""From what a user names to a stream."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kernbrook.errors import InputError, UnknownNameError
from kernbrook.streams.arrays import ArrayStream
from kernbrook.streams.builtin import make_builtin, stream_names
from kernbrook.streams.bytes import DataFile, file_format, has_known_suffix, is_data_file
from kernbrook.streams.csv import checked_separator
from kernbrook.streams.stream import FirstRows, PositiveView, Stream, positive_integer
from kernbrook.telling import warnings_together

if TYPE_CHECKING:
    from kernbrook.streams.arrow import FolderRecords
    from kernbrook.streams.records import Records
    from kernbrook.streams.tables.encoder import TableEncoder

DATA_FOLDER = "KERNBROOK_DATA"
_FOLDER_ENDINGS = (".libsvm", ".libsvm.xz")
_KINDS = {
    "svmlight": "svmlight",
    "parquet": "Parquet",
    "arrow": "Arrow",
    "arff": "ARFF",
    "json": "JSON lines",
}


def open_stream(
    source: Any,
    *,
    n_features: int | None = None,
    label: str | None = None,
    positive: object = None,
    seed: int = 0,
    max_bytes: int | None = None,
    sep: str | None = None,
    encoder: TableEncoder | None = None,
    on_bad_rows: str = "error",
) -> Stream:
    """Open data for reading in chunks.

    Parameters
    ----------
    source : what to read:

        - a path: svmlight (.libsvm, .svm, .svmlight, .txt, .dat), CSV (.csv, .tsv), Parquet
          (.parquet, .pq), Arrow (.arrow, .feather, .ipc), ARFF (.arff) or JSON lines (.jsonl,
          .ndjson), plain or with .gz, .bz2, .xz, .zst or .lz4 after that; other names are told
          apart by what they hold. What a pipe gives is copied first, to the folder for temporary
          files where it is much
        - a folder of Parquet files, which are read in the order of their names
        - "-" for standard input, which is read as a pipe is
        - a name: one of `stream_names()`, or NAME where the folder given by the environment
          variable KERNBROOK_DATA has NAME.libsvm or NAME.libsvm.xz; ``NAME:N`` for N rows
        - a pair (X, y) of arrays, sparse arrays, lists or frames
        - a table of pandas, polars or pyarrow that has the label, too
        - a `Stream`

        A file in the way of a name wins over the name.
    n_features : d, the width; None to find it. A svmlight file may use fewer features
    label : the column of a table with the label; None for "label", else the last
    positive : a label that becomes +1, all others -1; None to leave the labels alone. Text is
        compared as a number where the labels are numbers
    seed : of a generator; a non-negative integer
    max_bytes : the most text that a file may have, unpacked. None for no limit to an ordinary file;
        then a compressed one may have 256 MiB, or 100 times its size if that is more, and through a
        pipe come up to 16 GiB
    sep : what parts the values of a CSV file; None to find it
    encoder : a `TableEncoder`, what the columns of a table become. One that has learned nothing
        stays so: `stream.encoder` learns the rows as they are read. One that has learned encodes
        as it is
    on_bad_rows : "error", or "skip" to leave out rows of a table that cannot be read
        `stream.bad_rows` says which, and what is wrong with the first five; more than half of all
        are an error

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
        A CSV file seems to have no header row, or a column that counts the rows; or something was
        guessed, see `TableStream`.

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
    if encoder is not None and not hasattr(encoder, "read_record"):
        raise InputError(f"encoder: expected a TableEncoder, got {encoder!r:.80}")
    asked = _OpenOptions(n_features, label, max_bytes, checked_separator(sep), encoder)
    with warnings_together():
        stream = _resolve(source, seed, asked._replace(skips=check_on_bad_rows(on_bad_rows)))
    return stream if positive is None else PositiveView(stream, positive)


class _OpenOptions(NamedTuple):
    """What a file or a table is asked for; as `open_stream` has it."""

    n_features: int | None = None
    label: str | None = None
    max_bytes: int | None = None
    sep: str | None = None
    encoder: TableEncoder | None = None
    skips: bool = False

    def columns(self) -> list[str]:
        label = [] if self.label is None else [self.label]
        return label if self.encoder is None else [*label, *self.encoder.named_columns()]

    def refuse(self, name: str, is_kind: str) -> None:
        """InputError where something is asked for that only tables have."""
        for parameter in ("label", "sep", "encoder"):
            if getattr(self, parameter) is not None:
                kind = "a CSV file" if parameter == "sep" else "a table"
                means = "names a column of" if parameter == "label" else "is for"
                given = f"{parameter}={getattr(self, parameter)!r:.80}"
                raise InputError(f"{given} {means} {kind}; {name} is {is_kind}")
        if self.skips:
            raise InputError(f"on_bad_rows: rows of a table are left out; {name} is {is_kind}")


def find_file(source: str, max_bytes: int | None = None) -> DataFile | None:
    """The file or pipe that `open_stream` would read, which it takes too; None for a name."""
    return DataFile(source, max_bytes) if is_data_file(source) else None


def table_records(
    data: Any,
    max_bytes: int | None = None,
    sep: str | None = None,
    known: Collection[str] = (),
    least: int = 2,
    optional: Collection[str] = (),
    skips: bool = False,
) -> Records | None:
    """The rows of a table: a frame or records in memory, a file, or a folder of Parquet files.

    None where it is a name of data, or svmlight.

    sep, known, least : of a CSV file, as `read_header` has them
    optional : columns that no object of JSON lines needs to have
    skips : whether rows that cannot be read will be left out
    """
    if not isinstance(data, (str, os.PathLike, DataFile)):
        from kernbrook.streams.arrow import FrameRecords, frame_of

        return FrameRecords(frame_of(data).to_native() if is_records(data) else data)
    file = data if isinstance(data, DataFile) else find_file(str(data), max_bytes)
    if file is None:
        return open_folder(str(data), max_bytes)
    kind = file_format(file, least, is_csv=sep is not None)
    if kind == "csv":
        from kernbrook.streams.csv import CsvRecords

        return CsvRecords(file, sep, known, least)
    if sep is not None:
        raise InputError(f"sep={sep!r} is for a CSV file; {file.path} is {_KINDS[kind]}")
    if kind == "svmlight":
        return None
    if kind == "json":
        from kernbrook.streams.json import JsonRecords

        return JsonRecords(file, optional, skips)
    if kind == "arff":
        from kernbrook.streams.arff import ArffRecords

        return ArffRecords(file)
    from kernbrook.streams.arrow import ArrowRecords, ParquetRecords

    return (ParquetRecords if kind == "parquet" else ArrowRecords)(file)


def open_folder(
    source: str | os.PathLike[str], max_bytes: int | None = None
) -> FolderRecords | None:
    """The Parquet files of a folder; None where the source is no folder, or a name of data."""
    name = os.fspath(source).partition(":")[0]
    if not os.path.isdir(source) or name in stream_names() or _in_folder(name) is not None:
        return None
    from kernbrook.streams.arrow import FolderRecords

    return FolderRecords(Path(source), max_bytes)


def _resolve(source: Any, seed: int, asked: _OpenOptions) -> Stream:
    if isinstance(source, DataFile):
        return _open_file(source, asked)
    if isinstance(source, (str, os.PathLike)):
        file = DataFile(source, asked.max_bytes)
        if is_data_file(source):
            return _open_file(file, asked)
        named = _named(source, seed, asked) if isinstance(source, str) else None
        if named is None:
            if (records := open_folder(source, asked.max_bytes)) is not None:
                return _open_table(records, asked)
            is_path = has_known_suffix(file.path) or file.path.name != os.fspath(source)
            if not isinstance(source, str) or is_path:
                return _open_file(file, asked)
            known = [*stream_names(), *_folder_names()]
            if file.path.suffix and not get_close_matches(source, known):
                return _open_file(file, asked)  # it says that there is none
            raise UnknownNameError("data", source, known)
        stream = named
    elif isinstance(source, Stream):
        stream = source
    elif isinstance(source, tuple) and len(source) == 2:
        stream = ArrayStream(*source)
    elif is_frame(source):
        from kernbrook.streams.arrow import FrameRecords

        if asked.sep is not None:
            raise InputError(f"sep={asked.sep!r} is for a CSV file, got a table")
        return _open_table(FrameRecords(source), asked)
    else:
        got = f"{type(source).__name__} {source!r:.80}"
        raise InputError(f"expected a path, a name, a table or a pair (X, y), got {got}")
    asked.refuse(stream.name, "none")
    if asked.n_features is not None and asked.n_features != stream.n_features:
        raise InputError(
            f"{stream.name}: expected {asked.n_features} features, found {stream.n_features}"
        )
    return stream


def check_on_bad_rows(given: Any) -> bool:
    """Whether rows that cannot be read are left out; InputError where that is not said."""
    if given not in ("error", "skip"):
        raise InputError(f"on_bad_rows: expected error or skip, got {given!r:.40}")
    return bool(given == "skip")


def is_frame(source: Any) -> bool:
    """Whether it is a table in memory; nothing is imported to know that."""
    named = hasattr(source, "columns") and hasattr(source, "shape")
    return not isinstance(source, type) and (named or hasattr(source, "__dataframe__"))


def is_records(X: Any) -> bool:
    """Whether it is a dict, or a list of dicts."""
    return isinstance(X, Mapping) or (
        isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(row, Mapping) for row in X)
    )


def _open_file(file: DataFile, asked: _OpenOptions) -> Stream:
    records = table_records(file, sep=asked.sep, known=asked.columns(), skips=asked.skips)
    if records is not None:
        return _open_table(records, asked)
    asked.refuse(f"{file.path}", "svmlight")
    from kernbrook.streams.svmlight import SvmlightStream

    return SvmlightStream(file, asked.n_features)


def _open_table(records: Records, asked: _OpenOptions) -> Stream:
    from kernbrook.streams.tables.stream import TableStream

    stream = TableStream(
        records, asked.encoder, asked.label, n_features=asked.n_features, skips=asked.skips
    )
    if not stream.labelled:
        raise records.refusal(f"column {stream.label_name!r:.60}: no row has a label")
    return stream


def _named(source: str, seed: int, asked: _OpenOptions) -> Stream | None:
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
    of_file = asked._replace(label=None, sep=None, encoder=None)
    whole = _open_file(DataFile(in_folder, asked.max_bytes), of_file)
    return whole if rows is None else FirstRows(whole, rows)


def place_of(source: str) -> str | Path:
    """Where the file is that a name of data in the folder KERNBROOK_DATA means; else the same."""
    name = source.partition(":")[0]
    if is_data_file(source) or name in stream_names():
        return source
    return _in_folder(name) or source


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
