"""What data a model was trained on, and opening other data in the same form."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from sklearn.base import clone

from kernbrook.errors import (
    DataFileError,
    DataFileWarning,
    InputError,
    KernbrookError,
    KernbrookWarning,
    UnknownNameError,
)
from kernbrook.streams import Stream, open_stream
from kernbrook.streams.csv_files import CsvStream
from kernbrook.streams.csv_header import checked_separator, find_separator, read_header
from kernbrook.streams.data_files import DataFile
from kernbrook.streams.matching import match_columns
from kernbrook.streams.opening import find_file, open_folder, open_records
from kernbrook.streams.table_labels import MISSING_LABEL
from kernbrook.streams.text_files import file_format
from kernbrook.streams.unlabelled import UnlabelledCsv

if TYPE_CHECKING:
    from kernbrook.streams import TableEncoder
    from kernbrook.streams.records import Records

_Opened = TypeVar("_Opened", bound=Stream)


@dataclass(frozen=True)
class Source:
    """What `predict` has to know of the data that a model was trained on.

    Attributes
    ----------
    n_features : d, or None where it is not known
    positive : the label that became +1, all others -1; None where labels were left alone
    features : the names of the d features of a table, in their order; None for other data
    label : the table's column with the label
    encoder : what `TableEncoder.described` gave; None where the columns were taken as they are
    aside : columns of a CSV file that are neither features nor the label
    """

    n_features: int | None
    positive: str | None = None
    features: list[str] | None = None
    label: str | None = None
    encoder: dict[str, Any] | None = None
    aside: list[str] | None = None

    @classmethod
    def of_stream(cls, stream: Stream, positive: str | None = None) -> Source:
        names, aside = (stream.feature_names, stream.label_name), list(stream.aside) or None
        return cls(stream.n_features, positive, *names, aside=aside).reached(stream)

    def reached(self, stream: Stream) -> Source:
        """The same with what the stream's encoder has learned so far."""
        encoder = stream.encoder
        if encoder is None:
            return self
        described = encoder.described()
        # How values are written in these data alone is not what the model knows of all.
        return replace(self, encoder={**(self.encoder or described), "state": described["state"]})

    def knowing(self, state: dict[str, Any] | None) -> Source:
        """The same with another state of its encoder; None for that before any row."""
        encoder = self.made_encoder()
        if state is None:
            state = clone(encoder).begin(encoder.feature_names_in_).described()["state"]
        return replace(self, encoder={**encoder.described(), "state": state})

    def made_encoder(self) -> TableEncoder:
        """The encoder as it is described, where there is one."""
        from kernbrook.streams.table_encoder import TableEncoder

        return TableEncoder.from_description(self.encoder)

    def settings(self) -> dict[str, Any]:
        """All but what was learned, by name."""
        names = (
            "categorical", "dates", "drop", "missing", "decimal", "thousands", "units", "columns",
        )  # fmt: skip
        # A model of 0.1 has no units; that is the same as none.
        declared = {"units": {}, **self.encoder} if self.encoder else {}
        return {**vars(self), "encoder": None, **{name: declared.get(name) for name in names}}

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
    data: Any,
    *,
    n_features: int | None = None,
    label: str | None = None,
    aside: Sequence[str] = (),
    seed: int = 0,
    max_bytes: int | None = None,
    sep: str | None = None,
    encoder: TableEncoder | None = None,
    written: Mapping[str, Any] | None = None,
    learns: bool = False,
    ignore_extra: bool = False,
) -> Stream:
    """New data in the form of those that a model learned; a table needs no label.

    Parameters
    ----------
    source : of the data that the model learned; None for a new model, whose table has a label
        only in a column that is named here or called "label"
    data : a path or a name, or a table in memory, see `open_stream`
    n_features : of a new model's data, see `open_stream`
    label : a table's column with the label; None for the one that the model learned
    aside : a CSV file's columns that are neither features nor the label, besides those that were
        so in the data that the model learned
    seed : of a generator
    max_bytes, sep : see `open_stream`
    encoder : of a new model's table; what it fills gaps with comes from the whole table
    written : how values are written where it is not as they were for the model, see
        `TableEncoder.rewritten`
    learns : whether the model is to learn the rows: then they need labels, and what fills gaps goes
        on learning, too
    ignore_extra : whether a table's columns that the model does not know are left out

    Returns
    -------
    Stream, which is not `labelled` where a table has no label

    Raises
    ------
    DataFileError
        The file cannot be read, or has other features.
    UnknownNameError
        Neither a file nor a name, or no such column.
    InputError
        The data have other features.
    """
    known, sep = source or Source(n_features), checked_separator(sep)
    if not isinstance(data, (str, PathLike)):
        from kernbrook.streams.arrow_records import FrameRecords

        return _open_table(
            source, known, FrameRecords(data), label, encoder, written, learns, ignore_extra
        )
    file = find_file(str(data), max_bytes)
    least = _least(known)
    kind = None if file is None else file_format(file, least)
    if kind == "csv" and encoder is None and known.encoder is None and written is None:
        assert file is not None
        sep = find_separator(file) if sep is None else sep
        if sep == ",":
            return _open_csv(source, known, file, label, aside, learns, ignore_extra)
    if aside:
        raise InputError(
            f"column {aside[0]!r}: {data} is no CSV file of numbers with commas between"
        )
    if file is None and (records := open_folder(data, max_bytes)) is not None:
        return _open_table(source, known, records, label, encoder, written, learns, ignore_extra)
    if kind in (None, "svmlight"):
        return open_stream(
            file or data, n_features=known.n_features, label=label, seed=seed,
            max_bytes=max_bytes, sep=sep, encoder=encoder,
        )  # fmt: skip
    assert file is not None
    if known.encoder is not None:
        encoder = known.made_encoder()
    names = list(known.features or ()) if encoder is None else encoder.named_columns()
    filled = names if known.encoder is not None and known.encoder["missing"] != "error" else ()
    named = names if label is None else [*names, label]
    table = open_records(file, sep, named, least, optional=filled)
    assert table is not None
    return _open_table(source, known, table, label, encoder, written, learns, ignore_extra)


def _open_csv(
    source: Source | None,
    known: Source,
    file: DataFile,
    label: str | None,
    aside: Sequence[str],
    learns: bool,
    ignore_extra: bool,
) -> Stream:
    """A CSV file of numbers."""
    width, trained = known.n_features, source is not None
    names = [*(known.features or ()), *([] if label is None else [label])]
    columns = read_header(file, known=names, least=_least(known)).names
    if label is not None and label not in columns:
        raise UnknownNameError("column", label, columns)
    before = [name for name in known.aside or [] if name in columns and name not in aside]
    aside = [*aside, *before]
    if known.features is None:  # by their number alone
        if source is None and label is None and "label" in columns:
            label = "label"
        if label is None and (source is None or len(columns) - len(aside) == width):
            return UnlabelledCsv(file, width, aside, trained=trained)
        own = label or ("label" if "label" in columns else columns[-1])
        return _with_labels_or_without(
            trained and not learns,
            lambda: CsvStream(file, width, label, aside, trained=trained),
            lambda: UnlabelledCsv(file, width, [*aside, own], trained=trained),
        )
    label = known.label if label is None else label
    left = [name for name in columns if name != label and name not in aside]
    matched = match_columns(known.features, left, ignore_extra=ignore_extra)
    if matched.problem:
        raise DataFileError(file.path, matched.problem, 1)
    stream: CsvStream
    if label not in columns:
        stream = UnlabelledCsv(file, None, aside, known.features, trained)
    else:
        stream = _with_labels_or_without(
            trained and not learns,
            lambda: CsvStream(file, None, label, aside, known.features, trained),
            lambda: UnlabelledCsv(file, None, [*aside, f"{label}"], known.features, trained),
        )
    stream.matched = matched
    return stream if learns else _told(stream)


def _told(stream: Stream) -> Stream:
    """The same, once it is said which columns are not those of the model."""
    for told in () if stream.matched is None else stream.matched.told(stream.n_rows or 0):
        warnings.warn(DataFileWarning(stream.name, told), stacklevel=1)
    return stream


def _least(known: Source) -> int:
    """How many columns a CSV file must have, at least: a label need not be there."""
    return 1 if known.n_features == 1 else 2


def _with_labels_or_without(
    trained: bool, labelled: Callable[[], _Opened], unlabelled: Callable[[], _Opened]
) -> _Opened:
    """To predict, labels need not be there: a column of them that has gaps is left out."""
    try:
        return labelled()
    except KernbrookError as error:
        if not trained or not str(error).endswith(MISSING_LABEL):
            raise
        told = str(error).removesuffix(f": {MISSING_LABEL}")
    stream = unlabelled()
    problem = "a label is missing: all rows are predicted, and no error is counted"
    warnings.warn(KernbrookWarning(f"{told}: {problem}"), stacklevel=1)
    return stream


def _open_table(
    source: Source | None,
    known: Source,
    records: Records,
    label: str | None,
    encoder: TableEncoder | None,
    written: Mapping[str, Any] | None,
    learns: bool,
    ignore_extra: bool,
) -> Stream:
    """A table of any format, encoded as the model's rows were."""
    from kernbrook.streams.table_encoder import TableEncoder
    from kernbrook.streams.table_stream import TableStream

    width, columns, trained = known.n_features, records.columns, source is not None
    if label is not None and label not in columns:
        raise UnknownNameError("column", label, columns)
    if known.encoder is not None:
        encoder = known.made_encoder()
    elif known.features is not None:
        encoder = TableEncoder().begin(known.features)
    wanted = known.label if trained else "label"
    label = wanted if label is None and wanted in columns else label
    by_number = trained and encoder is None and len(columns) != width
    if written is not None:
        encoder = (TableEncoder() if encoder is None else encoder).rewritten(**written)

    def opened(label: str | None, labelled: bool) -> TableStream:
        return TableStream(records, encoder, label, labelled, width, trained, learns, ignore_extra)

    if label is None and not by_number:
        stream = opened(None, False)
    else:
        own = label or ("label" if "label" in columns else columns[-1])
        stream = _with_labels_or_without(
            trained and not learns, lambda: opened(label, True), lambda: opened(own, False)
        )
    if source is None and stream.encoder.missing != "error":
        return TableStream(records, stream.encoder, label, stream.labelled, width)
    return stream if learns else _told(stream)
