"""What data a model was trained on, and opening other data in the same form."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from kernbrook.errors import DataFileError, UnknownNameError
from kernbrook.streams import Stream, open_stream
from kernbrook.streams.text_files import file_format
from kernbrook.streams.unlabelled import UnlabelledCsv, csv_columns


@dataclass(frozen=True)
class Source:
    """What `predict` has to know of the data that a model was trained on.

    Attributes
    ----------
    n_features : d, or None where it is not known
    positive : the label that became +1, all others -1; None where labels were left alone
    features : the d columns of a CSV file that are features, in their order; None for other data
    label : the CSV file's column with the label
    """

    n_features: int | None
    positive: str | None = None
    features: list[str] | None = None
    label: str | None = None


def open_source(
    data: str,
    *,
    n_features: int | None = None,
    label: str | None = None,
    positive: str | None = None,
    seed: int = 0,
) -> tuple[Stream, Source]:
    """`open_stream`, with what has to be known to open other data alike."""
    stream = open_stream(data, n_features=n_features, label=label, positive=positive, seed=seed)
    features = None
    if _is_csv(data):
        columns = csv_columns(Path(data))
        label = label or ("label" if "label" in columns else columns[-1])
        features = [name for name in columns if name != label]
    return stream, Source(stream.n_features, positive, features, label)


def open_like(source: Source, data: str, *, label: str | None = None, seed: int = 0) -> Stream:
    """New data in the form of those that a model learned; a CSV file needs no label.

    Parameters
    ----------
    source : of the data that the model learned
    data : a path or a name, see `open_stream`
    label : a CSV file's column with the label; None for the one that the model learned
    seed : of a generator

    Returns
    -------
    Stream, an `UnlabelledCsv` where the file has no label

    Raises
    ------
    DataFileError
        The file cannot be read, or has other features.
    UnknownNameError
        Neither a file nor a name, or no such column.
    InputError
        The data have other features.
    """
    width = source.n_features
    if not _is_csv(data):
        return open_stream(data, n_features=width, label=label, seed=seed)
    path = Path(data)
    columns = csv_columns(path)
    if label is not None and label not in columns:
        raise UnknownNameError("column", label, columns)
    if source.features is None:  # by their number alone
        if label is None and len(columns) == width:
            return UnlabelledCsv(path)
        return open_stream(path, n_features=width, label=label)
    label = source.label if label is None else label
    if problem := _difference(source.features, [name for name in columns if name != label]):
        raise DataFileError(path, f"the model's features are not the columns here: {problem}", 1)
    return open_stream(path, label=label) if label in columns else UnlabelledCsv(path)


def _difference(expected: list[str], found: list[str]) -> str:
    """How two lists of names differ, in words; empty where they do not."""
    wanted_names, found_names = set(expected), set(found)  # a wide file has very many
    for what, names in (
        ("missing", [name for name in expected if name not in found_names]),
        ("unknown", [name for name in found if name not in wanted_names]),
    ):
        if names:
            return f"{what} {', '.join(map(repr, names[:5]))}{', ...' if len(names) > 5 else ''}"
    for wanted, there in zip(expected, found, strict=False):  # a name given twice is found later
        if wanted != there:
            return f"expected {wanted!r} before {there!r}"
    return ""


def _is_csv(data: str) -> bool:
    return os.path.isfile(data) and file_format(Path(data)) == "csv"
