"""What data a model was trained on, and opening other data in the same form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from sklearn.base import clone

from kernbrook.errors import DataFileWarning, InputError
from kernbrook.estimators.table_model import TableModel
from kernbrook.streams import Stream, TableEncoder, open_stream
from kernbrook.streams.formats.csv_header import checked_separator
from kernbrook.streams.formats.table_records import Records
from kernbrook.streams.opening import check_on_bad_rows, find_file, table_records
from kernbrook.streams.tables.declarations import is_auto
from kernbrook.streams.tables.table_stream import TableStream
from kernbrook.telling import tell


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
    aside : columns of a table that are neither features nor the label
    classes : all labels, where somebody has named them: no other is learned
    auto : parameters of the encoder that were to be found; None where nobody knows
    """

    n_features: int | None
    positive: str | None = None
    features: list[str] | None = None
    label: str | None = None
    encoder: dict[str, Any] | None = None
    aside: list[str] | None = None
    classes: list[Any] | None = None
    auto: list[str] | None = None

    @classmethod
    def of_stream(cls, stream: Stream, positive: str | None = None) -> Source:
        names, aside = (stream.feature_names, stream.label_name), list(stream.aside) or None
        given = None if stream.encoder is None else stream.encoder.get_params()
        auto = given and [name for name in ("categorical", "dates") if is_auto(given[name])]
        return cls(stream.n_features, positive, *names, aside=aside, auto=auto).reached(stream)

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
        return TableEncoder.from_description(self.encoder)

    def settings(self) -> dict[str, Any]:
        """All but what was learned, by name."""
        names = (
            "categorical", "dates", "drop", "missing", "decimal", "thousands", "units", "words",
            "lags", "delay", "every", "columns",
        )  # fmt: skip
        encoder = self.encoder
        if encoder is None and self.features is not None:  # as numbers, each as it is
            encoder = TableEncoder().begin(self.features).described()
        declared = TableEncoder.from_description(encoder).described() if encoder else {}
        own = {name: value for name, value in vars(self).items() if name not in ("classes", "auto")}
        return {**own, "encoder": None, **{name: declared.get(name) for name in names}}

    def check_parts(self) -> None:
        """InputError where rows go in their own order alone, and no part of them by itself."""
        if self.encoder is not None and self.encoder.get("lags"):
            raise InputError("lags: rows go in their own order, and no part of them by itself")

    @classmethod
    def of_model(cls, model: Any) -> Source:
        """What a model says of its data where nothing else was written down."""
        if isinstance(model, TableModel):
            encoder = model._unwrapped()[1]
            names = encoder.get_feature_names_out().tolist()
            return cls(len(names), None, names, model.label_, encoder.described())
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
    on_bad_rows: str = "error",
) -> Stream:
    """New data in the form of those that a model learned; a table needs no label.

    Parameters
    ----------
    source : of the data that the model learned; None for a new model, whose table has a label
        only in a column that is named here or called "label"
    data : a path or a name, or a table in memory, see `open_stream`; or records
    n_features : of a new model's data, see `open_stream`
    label : a table's column with the label; None for the one that the model learned
    aside : a table's columns that are neither features nor the label, besides those that were so
        in the data that the model learned
    seed : of a generator
    max_bytes, sep : see `open_stream`
    encoder : of a new model's table; what it fills gaps with comes from the whole table
    written : how values are written where it is not as they were for the model, see
        `TableEncoder.rewritten`
    learns : whether the model is to learn the rows: what fills gaps then goes on learning, too
    ignore_extra : whether a table's columns that the model does not know are left out
    on_bad_rows : see `open_stream`

    Returns
    -------
    Stream, which is not `labelled` where a table has no label, or none in any row

    Raises
    ------
    DataFileError
        The file cannot be read, or has other features.
    UnknownNameError
        Neither a file nor a name, or no such column.
    InputError
        The data have other features.
    """
    known, sep, own = source or Source(n_features), checked_separator(sep), encoder
    skips = check_on_bad_rows(on_bad_rows)
    if known.encoder is not None:
        encoder = known.made_encoder()
    names = list(known.features or ()) if encoder is None else encoder.named_columns()
    filled = encoder is not None and known.encoder and encoder.missing != "error"
    named = names if label is None else [*names, label]
    optional = names if filled else ()
    place = data
    if isinstance(data, (str, PathLike)) and (file := find_file(str(data), max_bytes)) is not None:
        data = file  # a pipe gives its rows once
    if isinstance(data, Records):
        records: Records | None = data
    else:
        records = table_records(data, max_bytes, sep, named, _least(known), optional, skips)
    if records is not None:
        options = {
            "aside": aside, "learns": learns, "ignore_extra": ignore_extra, "skips": skips
        }  # fmt: skip
        return _open_table(source is not None, known, records, label, encoder, written, options)
    if aside:
        raise InputError(f"column {aside[0]!r}: {place} is no table")
    of_tables = [name for name, value in (written or {}).items() if value]
    if named := of_tables + ["ignore_extra"] * ignore_extra:
        raise InputError(f"{named[0]}: goes with a table, and {place} is none")
    return open_stream(
        data, n_features=known.n_features, label=label, seed=seed,
        max_bytes=max_bytes, sep=sep, encoder=own, on_bad_rows=on_bad_rows,
    )  # fmt: skip


def _least(known: Source) -> int:
    """How many columns a CSV file must have, at least: a label need not be there."""
    return 1 if known.n_features == 1 else 2


def _open_table(
    trained: bool,
    known: Source,
    records: Records,
    label: str | None,
    encoder: TableEncoder | None,
    written: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> Stream:
    """A table of any format, encoded as the model's rows were.

    options : as `TableStream` has them: aside, learns, ignore_extra, skips
    """
    columns = records.columns
    if encoder is None and known.features is not None:
        encoder = TableEncoder().begin(known.features)
    before = [name for name in known.aside or [] if name in columns]
    aside = list(dict.fromkeys([*options["aside"], *before]))
    wanted = known.label if trained else "label"
    label = wanted if label is None and wanted in columns else label
    width = known.n_features
    by_number = trained and encoder is None and len(columns) - len(aside) != width
    if written is not None:
        encoder = (TableEncoder() if encoder is None else encoder).rewritten(**written)
    options = {**options, "n_features": width, "aside": aside}
    labelled = label is not None or by_number
    stream = TableStream(records, encoder, label, labelled, trained=trained, **options)
    if not trained and stream.encoder.missing != "error":
        return TableStream(records, stream.encoder, label, labelled, **options)
    if not options["learns"] and stream.n_rows is not None:
        for told in stream.matched.told(stream.n_rows):
            tell(DataFileWarning(stream.name, told))
    return stream
