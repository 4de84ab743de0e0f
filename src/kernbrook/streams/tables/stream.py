"""Streams from tables: records, encoded piece by piece, beside their labels."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kernbrook.errors import DataFileWarning, InputError, KernbrookError, UnknownNameError
from kernbrook.streams.loading import pa
from kernbrook.streams.records import Batch, ReadOptions, Records, quoted, several_of
from kernbrook.streams.stream import Labels, Piece, Stream, all_whole
from kernbrook.streams.tables.encoder import TableEncoder, stacked
from kernbrook.streams.tables.hints import (
    WHICH,
    codes_of,
    found_format,
    note_taken,
    survey,
    taken_of,
    undeclared,
)
from kernbrook.streams.tables.labels import (
    LabelCells,
    LabelType,
    label_cells,
    or_the_label,
)
from kernbrook.streams.tables.values import (
    ColumnProblem,
    LevelCounts,
    ValueProblem,
    option,
)
from kernbrook.telling import warn_caller

# -- columns beside those that a model knows -------------------------------------------------------

_NAMED = 5  # columns, in a message


class Match(NamedTuple):
    """What a model and a table do not have in common, and what is done about it.

    missing : columns of the model that the table does not have, which are gaps
    extra : columns of the table that the model does not know, which are left out
    problem : why the table is refused, in a sentence; empty where it is taken
    """

    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    problem: str = ""

    def notes(self, rows: int) -> list[str]:
        """What is done about the columns of a table of so many rows, a sentence each.

        Examples
        --------
        >>> Match(("temp",), ("new", "more")).notes(1200)
        ["no column 'temp': filled as gaps, in 1,200 rows", "left out 2 columns: 'new', 'more'"]
        """
        parts = []
        if self.missing:
            kind = "column" if len(self.missing) == 1 else f"{len(self.missing)} columns, such as"
            parts.append(f"no {kind} {_listed(self.missing)}: filled as gaps, in {rows:,} rows")
        if self.extra:
            columns = "1 column" if len(self.extra) == 1 else f"{len(self.extra)} columns"
            parts.append(f"left out {columns}: {_listed(self.extra)}")
        return parts


def match_columns(
    wanted: Sequence[str],
    found: Sequence[str],
    known: Collection[str] = (),
    fills: bool = False,
    ignore_extra: bool = False,
) -> Match:
    """Find the columns of a model in a table: the one rule for files, frames and records.

    wanted, known : columns that the model learns from, and that it has seen besides
    found : columns of the table, without the label
    fills : whether the model fills gaps: a column that is not there is then one of gaps
    ignore_extra : whether columns that the model does not know are left out

    Examples
    --------
    >>> match_columns(["a", "b"], ["b", "id", "a"], known=["id"])
    Match(missing=(), extra=(), problem='')
    >>> match_columns(["a", "b"], ["b", "c"], fills=True, ignore_extra=True)[:2]
    (('a',), ('c',))
    >>> print(match_columns(["a", "b"], ["b", "c"], fills=True).problem)
    the model's features are not the columns here: missing 'a', unknown 'c'; ignore_extra \
(--ignore-extra) leaves out what is unknown
    """
    present, seen = set(found), {*wanted, *known}  # a wide file has very many
    missing = tuple(name for name in wanted if name not in present)
    extra = tuple(name for name in found if name not in seen)
    if missing and len(missing) == len(wanted):
        helps = "none of them is here"
    elif missing and not fills:
        helps = "a model that is trained with missing (--missing mean, ...) fills such gaps"
    elif extra and not ignore_extra:
        helps = "ignore_extra (--ignore-extra) leaves out what is unknown"
    else:
        return Match(missing, extra)
    pairs = (("missing", missing), ("unknown", extra))
    differs = ", ".join(f"{kind} {_listed(names)}" for kind, names in pairs if names)
    problem = f"the model's features are not the columns here: {differs}; {helps}"
    return Match(missing, extra, problem)


def _listed(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > _NAMED else ""
    return ", ".join(map(quoted, names[:_NAMED])) + more


# -- rows that are left out because they cannot be read --------------------------------------------

_TOLD = 5  # rows
_MANY = 1000  # rows: where more were left out than were read, nothing more is


@dataclass
class BadRows:
    """Rows that are left out.

    Attributes
    ----------
    places : of all rows of the table, these too, the numbers of those left out, from 0
    problems : what is wrong with the first five: where, in which column, and what was found
    first : what would be raised for the first value that is no value of its column, or None
    """

    places: list[int] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    first: Exception | None = field(default=None, repr=False)

    def leave_out(self, place: int, found: str, problem: Exception, rows: int) -> None:
        """Remember one; where most are such, raise the first problem.

        problem : what would be raised
        rows : how many were read so far
        """
        self.first = self.first or problem
        self.add(place, found)
        if len(self.places) > max(rows, _MANY):
            raise self.first

    def add(self, place: int, problem: str) -> None:
        self.places.append(place)
        if len(self.problems) < _TOLD:
            self.problems.append(problem)

    def before(self, first: int, rows: int) -> list[int]:
        """Before each of so many rows that are left, from one on: those left out since the last.

        Examples
        --------
        >>> BadRows([0, 1, 3]).before(0, 3), BadRows([0, 1, 3]).before(1, 2)
        ([2, 1, 0], [1, 0])
        """
        shifted = np.array(self.places, dtype=np.int64) - np.arange(len(self.places))
        ends = np.searchsorted(shifted, np.arange(first - 1, first + rows), side="right")
        return list(np.diff(ends).tolist())

    def lines(self) -> list[str]:
        """What has to be said at the end, a line each.

        Examples
        --------
        >>> BadRows([4], ["a.csv, line 6: column 'x': expected a number, found 'many'"]).lines()
        ['1 row left out:', "  a.csv, line 6: column 'x': expected a number, found 'many'"]
        """
        if not self.places:
            return []
        number = len(self.places)
        heading, lines = f"{number:,} row{'s' * (number > 1)} left out:", self.problems
        more = ["  ..."] if number > len(lines) else []
        return [heading, *(f"  {line}" for line in lines), *more]


# -- a table as a stream ---------------------------------------------------------------------------

PIECE = 1024  # rows; where so many have been read, the encoder knows them and no more
_CELLS = 1 << 20  # encoded at once
_KEPT_BYTES = 1 << 24  # of what was read: a table of no more is read once
_SLAB_BYTES = 1 << 24  # of labels as NumPy has them: each as long as the longest
_INDEX = "", "Unnamed: 0"


# Rows that follow each other, encoded, and the cells of their labels, if there are any; and where
# they are wanted, the rows before gaps are filled, and moments by the first column of dates.
EncodedPiece: TypeAlias = (
    "tuple[Any, LabelCells | None, NDArray[np.float64] | None, NDArray[np.int64] | None]"
)


class MendableError(Exception):
    """A value that is refused, where a reading of the whole table may tell what reads it."""

    def __init__(self, column: str, cause: ValueProblem, refusal: KernbrookError):
        self.column, self.cause, self.refusal = column, cause, refusal
        super().__init__()


class TableStream(Stream):
    """A table of any format; its columns but for the label are encoded as they come.

    It is read once when opened, in bounded memory, and again by each pass where it takes over
    16 MiB. The first reading checks every value and finds the type of the labels, see `LabelType`;
    an error names the line or the row, the column, and the option that would help; a warning says
    what was guessed. `encoder` is what has learned so far in the pass that was begun last; one that
    was given and learns stays as it is.

    Parameters
    ----------
    records : the rows
    encoder : what the columns become; None for numbers only. One that has learned nothing learns,
        afresh in each pass; one that has, as it is
    label : name of the label's column; None for the column "label", else the last
    labelled : whether there is a label; without, the labels are all 0, and a column that is named
        as the label is no feature
    n_features : width, for a check
    trained : whether the rows are for a model that has learned; what its columns become is fixed
    aside : names of columns of any values, which are neither features nor the label
    learns : whether an encoder that has learned goes on learning: a copy of it, afresh in each pass
    ignore_extra : whether columns that an encoder which has learned does not know are left out
    skips : whether rows that cannot be read are left out
    """

    matched: Match
    bad_rows: BadRows
    tells = True

    def __init__(
        self,
        records: Records,
        encoder: TableEncoder | None = None,
        label: str | None = None,
        labelled: bool = True,
        n_features: int | None = None,
        trained: bool = False,
        aside: Sequence[str] = (),
        learns: bool = False,
        ignore_extra: bool = False,
        skips: bool = False,
    ):
        self.name, self._records = records.name, records
        self._new = encoder is None or not hasattr(encoder, "columns_")
        self._trained, self._ignores = trained, ignore_extra
        self._learns = self._new or learns
        self.labelled, self.aside = labelled, list(aside)
        self._skips = skips
        self._label_is_known = label is not None or not labelled or "label" in records.columns
        self.label_name = _label(records, encoder, label, aside) if labelled else None
        left_out = {self.label_name, label, *aside}
        if (note := records.note) is not None:
            problem = "; ".join(filter(None, [note.problem, self._note_label()]))
            warn_caller(DataFileWarning(note.path, problem, note.line))
        for name in [*aside, *([] if label is None else [label])]:
            if name not in records.columns:
                raise UnknownNameError("column", name, records.columns)
        features = [name for name in records.columns if name not in left_out]
        self._start = self.encoder = self._begun(encoder, features)
        self.in_turn = self._start.lags is not None
        self.feature_names = self._start.get_feature_names_out().tolist()
        self.n_features = len(self.feature_names)
        if n_features is not None and n_features != self.n_features:
            problem = f"expected {n_features} features, found {self.n_features}"
            raise records.refusal_of_names(problem)
        self.n_rows = None
        self._kept: list[Batch] | None = None
        self._large = False
        while self.n_rows is None:
            try:
                self._look_through()
            except MendableError as error:
                if not error.cause.may_be_found:
                    raise self._all_undeclared() or error.refusal from None
                parts = self._start.declarations().dates[error.column][0]
                found = found_format(records, error.column, parts, error.refusal, skips)
                self._start = self._start.rewritten(dates={error.column: found})

    def classes(self) -> Labels | None:
        return self._labels.classes if self.labelled else None

    def written(self, row: int) -> dict[str, Any] | None:
        wanted = self._wanted()
        names = [name for name in wanted.columns if name != self.label_name]
        for batch in self._records.batches(wanted._replace(columns=names, numbers=())):
            if row < (table := batch.readable()).num_rows:
                found = dict(table.slice(row, 1).to_pylist()[0])
                if self.encoder.lags_of_label and self.encoder.label is not None:
                    found[self.encoder.label] = "labels of rows before"
                return found
            row -= table.num_rows
        return None

    def records(self) -> Records | None:
        return self._records

    def unfilled(self, learns: bool = False) -> Any:
        """(n, w) all rows as the encoder's `read_table` has them; it has learned before."""
        batches = self._batches(self._wanted())
        tables = (self._whole(batch.table) for batch in batches)
        return stacked([self._start.read_table(table, learns) for table in tables])

    def taught(self, rows: int) -> TableEncoder:
        for _ in self._read(most_rows=rows):
            pass
        return self.encoder

    # -- opening -----------------------------------------------------------------------------------

    def _begun(self, encoder: TableEncoder | None, columns: list[str]) -> TableEncoder:
        self._declared: set[str] = set()  # not by the file itself
        self._codes: dict[str, str] = {}
        self.matched = Match()
        if encoder is not None and not self._new:
            self.matched = match_columns(
                encoder.columns_, columns, encoder.feature_names_in_, encoder.missing != "error",
                self._ignores,
            )  # fmt: skip
            if self.matched.problem:
                raise self._records.refusal_of_names(self.matched.problem)
            return encoder
        if not columns:
            raise self._records.refusal_of_names("no column is left to learn from")
        begun = TableEncoder() if encoder is None else clone(encoder)
        if encoder is not None:
            encoder.given = True
        self._declared = set(begun.declarations().names)
        levels = {k: v for k, v in self._records.levels.items() if k in columns}
        if levels:
            begun = begun.with_levels(levels)
        of_label = begun.declarations().has_lags_of(self.label_name)
        if of_label and not self.labelled:
            raise self._records.refusal("lags: of the label, and there is none")
        label = [self.label_name] if of_label and self.label_name is not None else []
        taken = taken_of(begun, self._records, [*columns, *label], self._skips)
        for note in note_taken(taken):
            warn_caller(DataFileWarning(self._records.where, note))
        start = begun.begin(columns, self.label_name, taken)
        self._codes = codes_of(self._records, start.plain_numbers(), start.decimal)
        return start

    def _all_undeclared(self) -> KernbrookError | None:
        """What all columns are to be declared as, where there are several; None where not."""
        encoder, records = self._start, self._records
        names, fills = encoder.feature_names_in_.tolist(), encoder.missing != "error"
        found = survey(records, names, encoder.declarations(), fills, self._skips)
        if len(found) == 1 and WHICH in found[0].text:
            return records.refusal(f"column {quoted(found[0].column)}: {found[0].text}")
        if len(found) < 2:
            return None
        return undeclared(records.where, found, encoder, self._note_label())

    def _note_label(self) -> str:
        """Which column was taken for the label; empty where somebody has said it."""
        label = f"the label is {quoted(self.label_name or '')}, the last column"
        return "" if self._label_is_known else f"{label}; label (--label NAME) says another"

    def _look_through(self) -> None:
        """Read all rows once: count them, and find what the labels are."""
        start = self._start
        rows, level_counts, self.bad_rows = 0, start.no_levels(), BadRows()
        for column, counts in level_counts.items():
            counts.expected = self._new and column in self._declared
        self._labels = LabelType(start.declarations().written)
        first = self._records.columns[0]
        place = start.place_of(first) if first in _INDEX else None
        is_index = place is not None
        for X, cells, _, _ in self._read(level_counts, self.bad_rows):
            rows += X.shape[0]
            if is_index:
                index = X[:, [place]]
                numbers = index if isinstance(index, np.ndarray) else index.toarray()
                is_index = bool((numbers >= 0).all()) and all_whole(numbers)
            if cells is not None:
                self._labels.add(cells)
        if rows == 0:
            problem = "; ".join(["no row of data", *self.bad_rows.problems[:1]])
            raise self.bad_rows.first or self._records.refusal(problem)
        self.n_rows, self.level_counts = rows, list(level_counts.values())
        odd = {**self.encoder.notes(), **self._codes}
        notes = [f"column {quoted(name)}: {problem}" for name, problem in odd.items()]
        if is_index:
            notes.append(
                f"the first column, called {first!r}, seems to be the index that pandas writes; it "
                f"is taken as a feature: {option('drop', first)} leaves it out, and so does "
                "to_csv(index=False)"
            )
        if self.labelled:
            try:
                notes += self._labels.finish()
            except InputError as error:
                problem = f"column {quoted(self.label_name or '')}: {error}"
                raise self._records.refusal(problem) from None
            self.seem_counts = self._labels.seem_counts
            self.labelled = self._labels.present > 0
            self.n_unlabelled = self._labels.missing if self.labelled else 0
            self.label_type = self._labels.present_dtype
        for note in notes:
            warn_caller(DataFileWarning(self._records.where, note))

    # -- reading -----------------------------------------------------------------------------------

    def _pieces(self) -> Iterator[Piece]:
        rows = 0
        slab = max(1, _SLAB_BYTES // self._labels.dtype.itemsize)
        for X, cells, values, moments in self._read(watched=self.watch is not None):
            rows += X.shape[0]
            for start in range(0, X.shape[0], slab):
                here = slice(start, start + slab)
                labels: Labels | None = np.zeros(X[here].shape[0])
                if cells is not None and self.labelled:
                    labels = self._labels.labels(cells.part(start, slab))
                if labels is None:
                    raise self._changed()
                if self.watch is not None and values is not None:
                    self.watch(values[here], labels, None if moments is None else moments[here])
                yield X[here], labels
        if rows != self.n_rows:
            raise self._changed()

    def _changed(self) -> KernbrookError:
        return self._records.refusal("the table was changed after it was opened")

    def _read(
        self,
        counts: Mapping[str, LevelCounts] | None = None,
        bad: BadRows | None = None,
        watched: bool = False,
        most_rows: int | None = None,
    ) -> Iterator[EncodedPiece]:
        """All rows from the first on; `encoder` then knows those that were given, and no more.

        counts, bad : to count the rows of each level, and to remember rows that are left out
        watched : whether values and moments are wanted
        most_rows : that are read; None for all
        """
        keeps = self._learns or self._start.lags is not None
        encoder = self.encoder = self._start.copy() if keeps else self._start
        encoder.keeps, encoder.helps = watched, True
        bad = BadRows() if bad is None else bad
        most = max(1, _CELLS // max(1, self.n_features - encoder.words_width))
        rows, first, step = 0, 0, most
        for batch in self._batches(self._wanted()):
            table, start = self._whole(batch.table), 0
            ends = [*sorted(batch.refused), table.num_rows]
            while start < table.num_rows:
                if start in batch.refused:
                    bad.add(first + start, str(batch.refused[start]))
                    start += 1
                    continue
                room = PIECE - rows % PIECE if keeps and encoder.remembers else most
                if most_rows is not None and (room := min(room, most_rows - rows)) == 0:
                    return
                end = ends[bisect_right(ends, start)]
                piece = table.slice(start, min(step, room, end - start))
                try:
                    encoded = self._encoded(encoder, piece, counts, watched)
                except ColumnProblem as error:
                    problem = self._raised(batch, start + error.cause.row, error)
                    mended = isinstance(problem, MendableError) and error.cause.may_be_found
                    if mended or not self._skips:
                        raise problem from None
                    if (step := error.cause.row) == 0:  # else the rows before it come first
                        found = f"column {quoted(error.column)}: {error.cause.found}"
                        message = str(batch.refusal(start, found))
                        bad.leave_out(first + start, message, problem, rows)
                        encoder.helps = False
                        start, step = start + 1, 1
                    continue
                except InputError as error:
                    raise batch.refusal(start, str(error)) from None
                yield encoded
                start += piece.num_rows
                rows += piece.num_rows
                step = min(2 * step, most)
            first += table.num_rows

    def _wanted(self) -> ReadOptions:
        encoder = self.encoder
        gone = set(self.matched.missing)
        present = [name for name in encoder.columns_ if name not in gone]
        label = [] if self.label_name is None else [self.label_name]
        numbers = [name for name in encoder.plain_numbers() if name not in gone]
        columns, levels = [*present, *label], encoder.levels()
        return ReadOptions(columns, encoder.decimal, levels, numbers, self._skips, self._ignores)

    def _batches(self, wanted: ReadOptions) -> Iterator[Batch]:
        """The rows as they were read; those of a small table are kept."""
        if self._kept is not None:
            yield from self._kept
            return
        kept, size = list[Batch](), 0
        for batch in self._records.batches(wanted):
            size += batch.table.nbytes
            self._large = self._large or size > _KEPT_BYTES  # later passes keep nothing on the way
            kept = [] if self._large else [*kept, batch]
            yield batch
        if not self._large:
            self._kept = kept

    def _whole(self, table: Any) -> Any:
        """A table with the columns that it lacks, which have no value."""
        for name in self.matched.missing:
            table = table.append_column(name, pa.nulls(table.num_rows))
        return table

    def _encoded(
        self,
        encoder: TableEncoder,
        piece: Any,
        level_counts: Mapping[str, LevelCounts] | None,
        watched: bool,
    ) -> EncodedPiece:
        """A piece of a table; a row that is refused has taught nothing."""
        label, cells = self.label_name, None
        if label is not None:
            declared, typed = self._records.levels.get(label, ()), self._records.typed
            written = self._start.declarations().written
            try:
                cells = label_cells(piece.column(label), declared, written, typed)
            except ValueProblem as problem:
                raise ColumnProblem(label, problem) from None
            cells = cells._replace(several=several_of(piece, label))
        known = piece.column(label) if label and encoder.lags_of_label else None
        counts = encoder.no_levels() if level_counts else {}
        X = encoder.encode(piece, counts, self._learns, known, follows=encoder.lags is not None)
        for name, total in (level_counts or {}).items():
            total.join(counts[name])
        moments = encoder.moments_of(piece) if watched else None
        return X, cells, encoder.values, moments

    def _raised(self, batch: Batch, row: int, error: ColumnProblem) -> Exception:
        """What is raised for a value in a row of a batch: the refusal, or what may mend it."""
        cause = error.cause
        problem = f"column {quoted(error.column)}: {cause.advice(self._trained)}"
        if cause.may_be_label and not self._label_is_known:
            problem += or_the_label(error.column)
        refusal = batch.refusal(row, problem)
        helps = (cause.declared or cause.written) and error.column != self.label_name
        if self._learns and not self._trained and (helps or cause.may_be_found):
            return MendableError(error.column, cause, refusal)
        return refusal


def _label(
    records: Records, encoder: TableEncoder | None, label: str | None, aside: Sequence[str]
) -> str:
    if label is not None:
        return label
    if "label" in records.columns:
        return "label"
    dropped = () if encoder is None or encoder.drop is None else encoder.drop
    left = [name for name in records.columns if name not in dropped and name not in aside]
    if len(left) < 2:
        raise records.refusal("expected a label and features, found one column or none")
    return left[-1]
