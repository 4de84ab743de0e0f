"""What data a model was trained on, and opening other data in the same form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kernbrook.errors import DataFileError, InputError, UnknownNameError
from kernbrook.streams import Stream, open_stream
from kernbrook.streams.csv_files import CsvStream
from kernbrook.streams.opening import find_file
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
    aside : columns of the CSV file that are neither
    """

    n_features: int | None
    positive: str | None = None
    features: list[str] | None = None
    label: str | None = None
    aside: list[str] | None = None

    @classmethod
    def of_stream(cls, stream: Stream, positive: str | None = None) -> Source:
        aside = list(stream.aside) or None
        return cls(stream.n_features, positive, stream.feature_names, stream.label_name, aside)

    @classmethod
    def of_model(cls, model: Any) -> Source:
        """What a model says of its data where nothing else was written down."""
        names = getattr(model, "feature_names_in_", None)
        features = None if names is None else names.tolist()
        return cls(getattr(model, "n_features_in_", None), features=features)


def open_source(data: str, *, positive: str | None = None, **options: Any) -> tuple[Stream, Source]:
    """`open_stream`, with what has to be known to open other data alike."""
    stream = open_stream(data, positive=positive, **options)
    return stream, Source.of_stream(stream, positive)


def open_like(
    source: Source | None,
    data: str,
    *,
    n_features: int | None = None,
    label: str | None = None,
    aside: Sequence[str] = (),
    seed: int = 0,
    max_bytes: int | None = None,
) -> Stream:
    """New data in the form of those that a model learned; a CSV file needs no label.

    Parameters
    ----------
    source : of the data that the model learned; None for a new model, whose CSV file has a label
        only in a column that is named here or called "label"
    data : a path or a name, see `open_stream`
    n_features : of a new model's data, see `open_stream`
    label : a CSV file's column with the label; None for the one that the model learned
    aside : a CSV file's columns that are neither features nor the label, besides those that were
        so in the data that the model learned
    seed : of a generator
    max_bytes : see `open_stream`

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
    known = source or Source(n_features)
    width = known.n_features
    file = find_file(data, max_bytes)
    if file is None or file_format(file) != "csv":
        if aside:
            raise InputError(f"column {aside[0]!r}: {data} is no CSV file")
        return open_stream(
            file or data, n_features=width, label=label, seed=seed, max_bytes=max_bytes
        )
    columns = csv_columns(file)
    if label is not None and label not in columns:
        raise UnknownNameError("column", label, columns)
    before = [name for name in known.aside or [] if name in columns and name not in aside]
    aside = [*aside, *before]
    if known.features is None:  # by their number alone
        if source is None and label is None and "label" in columns:
            label = "label"
        if label is None and (source is None or len(columns) - len(aside) == width):
            return UnlabelledCsv(file, width, aside)
        return CsvStream(file, width, label, aside)
    label = known.label if label is None else label
    if problem := _difference(
        known.features, [name for name in columns if name != label and name not in aside]
    ):
        raise DataFileError(
            file.path, f"the model's features are not the columns here: {problem}", 1
        )
    if label not in columns:
        return UnlabelledCsv(file, aside=aside)
    return CsvStream(file, None, label, aside)


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
