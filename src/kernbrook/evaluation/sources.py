"""What data a model was trained on, and opening other data in the same form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kernbrook.errors import DataFileError, InputError, UnknownNameError
from kernbrook.streams import Stream, open_stream
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
    """

    n_features: int | None
    positive: str | None = None
    features: list[str] | None = None
    label: str | None = None

    @classmethod
    def of_model(cls, model: Any) -> Source:
        """What a model says of its data where nothing else was written down."""
        names = getattr(model, "feature_names_in_", None)
        features = None if names is None else names.tolist()
        return cls(getattr(model, "n_features_in_", None), features=features)


def open_source(
    data: str,
    *,
    n_features: int | None = None,
    label: str | None = None,
    positive: str | None = None,
    seed: int = 0,
    max_bytes: int | None = None,
) -> tuple[Stream, Source]:
    """`open_stream`, with what has to be known to open other data alike."""
    file = find_file(data, max_bytes)
    stream = open_stream(
        file or data,
        n_features=n_features,
        label=label,
        positive=positive,
        seed=seed,
        max_bytes=max_bytes,
    )
    features = None
    if file is not None and file_format(file) == "csv":
        columns = csv_columns(file)
        label = label or ("label" if "label" in columns else columns[-1])
        features = [name for name in columns if name != label]
    return stream, Source(stream.n_features, positive, features, label)


def open_unlabelled(
    data: str,
    *,
    n_features: int | None = None,
    label: str | None = None,
    seed: int = 0,
    max_bytes: int | None = None,
) -> tuple[Stream, Source]:
    """Data to be labelled, for a model that knows none yet.

    As `open_source`, but the columns of a CSV file are all features, except one that is called
    "label" or is named here.
    """
    file = find_file(data, max_bytes)
    if file is None or file_format(file) != "csv":
        stream = open_stream(
            file or data, n_features=n_features, label=label, seed=seed, max_bytes=max_bytes
        )
        return stream, Source(stream.n_features)
    columns = csv_columns(file)
    label = "label" if label is None and "label" in columns else label
    stream = UnlabelledCsv(file) if label is None else open_stream(file, label=label)
    if n_features not in (None, stream.n_features):
        raise InputError(f"{file.path}: expected {n_features} features, found {stream.n_features}")
    return stream, Source(
        stream.n_features, features=[name for name in columns if name != label], label=label
    )


def open_like(
    source: Source,
    data: str,
    *,
    label: str | None = None,
    seed: int = 0,
    max_bytes: int | None = None,
) -> Stream:
    """New data in the form of those that a model learned; a CSV file needs no label.

    Parameters
    ----------
    source : of the data that the model learned
    data : a path or a name, see `open_stream`
    label : a CSV file's column with the label; None for the one that the model learned
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
    width = source.n_features
    file = find_file(data, max_bytes)
    if file is None or file_format(file) != "csv":
        return open_stream(
            file or data, n_features=width, label=label, seed=seed, max_bytes=max_bytes
        )
    columns = csv_columns(file)
    if label is not None and label not in columns:
        raise UnknownNameError("column", label, columns)
    if source.features is None:  # by their number alone
        if label is None and len(columns) == width:
            return UnlabelledCsv(file)
        return open_stream(file, n_features=width, label=label)
    label = source.label if label is None else label
    if problem := _difference(source.features, [name for name in columns if name != label]):
        raise DataFileError(
            file.path, f"the model's features are not the columns here: {problem}", 1
        )
    return open_stream(file, label=label) if label in columns else UnlabelledCsv(file)


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
