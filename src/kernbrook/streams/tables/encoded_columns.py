"""All columns of a table: what each becomes, and where that stands in the encoded rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError
from kernbrook.streams import limits
from kernbrook.streams.records import is_unicode, quoted
from kernbrook.streams.tables.column_kinds import (
    Floats,
    Hashed,
    Levels,
    Numbers,
    Seen,
    alone,
    as_text,
)
from kernbrook.streams.tables.column_problems import ValueProblem
from kernbrook.streams.tables.date_columns import Dates, Declared
from kernbrook.streams.tables.declarations import DeclaredLevels
from kernbrook.streams.tables.levels import LevelCounts
from kernbrook.streams.tables.words import hashing
from kernbrook.streams.tables.written_numbers import Written

Column: TypeAlias = Numbers | Levels | Hashed | Dates

_KINDS = {Numbers: "numbers", Levels: "levels", Hashed: "hashed", Dates: "dates"}


class Words(NamedTuple):
    """Words and pairs of words, hashed, as scikit-learn's HashingVectorizer has them.

    Of length 1 in all. Text that is missing has no words.

    Attributes
    ----------
    column : name
    width : columns
    rules : what a word is, see `hashing`
    """

    column: str
    width: int
    rules: int

    @property
    def names(self) -> list[str]:
        return [f"{self.column}#{i}" for i in range(self.width)]

    def encode(self, array: Any) -> Any:
        """(n, width) CSR."""
        texts = as_text(array).fill_null("").to_pylist()
        return hashing(self.width, self.rules).transform(texts)


class Part(NamedTuple):
    """A column of a table, and the encoded columns that it becomes.

    Attributes
    ----------
    column : its name
    kind : "numbers", "levels", of which the last encoded column is that of all others, "hashed" or
        "dates"
    start, width : where its encoded columns begin, and how many there are
    """

    column: str
    kind: str
    start: int
    width: int

    def is_sound(self) -> bool:
        """Whether it can be one."""
        texts = isinstance(self.column, str) and self.kind in _KINDS.values()
        return (
            texts and type(self.start) is type(self.width) is int and self.width > 0 <= self.start
        )


class Declarations:
    """What is said of the columns, all of it checked.

    Parameters
    ----------
    levels, dates, words, units : by column
    drop : columns to leave out
    written : how numbers in text are, but for units
    rules : of this version, 2, or of one before
    """

    def __init__(
        self,
        levels: DeclaredLevels,
        dates: Declared,
        words: Mapping[str, int],
        units: Mapping[str, str],
        drop: Sequence[str],
        written: Written,
        rules: int,
    ):
        self.levels, self.dates, self.words, self.rules = levels, dates, words, rules
        self.units, self.drop, self.written = units, drop, written

    def names(self) -> list[str]:
        """The columns of which something is said, as often as it is."""
        return [*self.levels, *self.dates, *self.words, *self.drop, *self.units]

    def is_plain(self, name: str) -> bool:
        """Whether numbers of a column are written as programs write them."""
        return self.written == Written() and name not in self.units

    def column(self, name: str, seen: Seen) -> Column:
        """What a column becomes that is none of words."""
        if name in self.levels:
            levels = self.levels[name]
            kind = Hashed if isinstance(levels, int) else Levels
            return kind(name, levels, self.written.decimal)  # type: ignore[arg-type]
        if name in self.dates:
            return Dates(name, *self.dates[name], seen)
        return Numbers(name, self.written._replace(unit=self.units.get(name, "")), seen)


class EncodedColumns:
    """The columns of a table as columns of numbers, and of words.

    Parameters
    ----------
    names : of the columns, in their order
    said : what is said of them

    Attributes
    ----------
    columns : what becomes columns of numbers
    starts : of each of these the place of its first one
    width : of all of them
    words : what becomes sparse columns, which stand behind
    words_width : of all of these
    seen : what is remembered of the text in columns of numbers
    """

    def __init__(self, names: Sequence[str], said: Declarations):
        self.seen = Seen()
        texts = [name for name in names if name in said.words]
        self.words = [Words(name, said.words[name], said.rules) for name in texts]
        dense = [name for name in names if name not in said.words]
        self.columns = [said.column(name, self.seen) for name in dense]
        widths = [len(column.names) for column in self.columns]
        self.starts: NDArray[np.int64] = np.cumsum([0, *widths])[:-1].astype(np.int64)
        self.width = sum(widths)
        self.words_width = sum(words.width for words in self.words)

    def encode(self, table: Any, met: Mapping[str, LevelCounts]) -> Floats:
        """(n, width) the columns of numbers, NaN where values are missing.

        met : to count the rows of each level
        """
        values = np.empty((table.num_rows, self.width))
        for column, start in zip(self.columns, self.starts.tolist(), strict=True):
            try:
                array = table.column(column.column)
                if isinstance(column, Levels):
                    found = column.encode(array, met.get(column.column))
                else:
                    found = column.encode(array)
            except ValueProblem as problem:
                raise ColumnProblem(column.column, problem) from None
            values[:, start : start + found.shape[1]] = found
        if self.seen.keeps:
            self.seen.values = values
        return values

    def encode_record(
        self, record: Mapping[str, Any], gaps: bool
    ) -> tuple[Floats, list[Any]] | None:
        """(1, width) the columns of numbers of one record, and (1, n) CSR of each one of words.

        None where only a table of it tells, or refuses it; then nothing is remembered of it.

        gaps : whether values may be missing
        """
        import pyarrow as pa

        before, found = self.seen.of_text(), None
        with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
            found = self._one(record)
        refused = found is None or (not gaps and np.isnan(found[0]).any())
        if refused or self.seen.odd != before[0]:
            self.seen.go_back(before)
            return None
        return found

    def _one(self, record: Mapping[str, Any]) -> tuple[Floats, list[Any]] | None:
        row, words, longest = list[float](), list[Any](), limits.LONGEST_CELL // 4
        for column in (*self.columns, *self.words):
            value = record.get(column.column)
            if isinstance(value, str) and not (len(value) <= longest and is_unicode(value)):
                return None
            if isinstance(column, Words):
                words.append(alone(column, value))
            elif (found := column.one(value)) is None:
                return None
            else:
                row += found
        return np.array([row]), words

    def moments(self, table: Any) -> NDArray[np.int64] | None:
        """(n,) microseconds since 1970 by the first column of dates; None where there is none.

        A row without a date has the least number that there is.
        """
        for column in self.columns:
            if isinstance(column, Dates) and column.parts != ("hour",):
                moments, missing = column.moments(table.column(column.column))
                return np.where(missing, np.iinfo(np.int64).min, moments)
        return None

    def holes(self, values: Floats) -> NDArray[np.bool_]:
        """(n, columns) where values are missing."""
        return np.isnan(values[:, self.starts])

    def words_of(self, table: Any) -> list[Any]:
        """(n, width) CSR of each column of words."""
        found = []
        for words in self.words:
            try:
                found.append(words.encode(table.column(words.column)))
            except ValueProblem as problem:
                raise ColumnProblem(words.column, problem) from None
        return found

    def place_of(self, name: str) -> int | None:
        """Where a column of numbers is in the encoded rows; None where it is not numbers."""
        for column, start in zip(self.columns, self.starts.tolist(), strict=True):
            if column.column == name:
                return start if isinstance(column, Numbers) else None
        return None

    def parts(self) -> list[Part]:
        """What each column becomes that is none of words."""
        return [
            Part(of.column, _KINDS[type(of)], start, len(of.names))
            for of, start in zip(self.columns, self.starts.tolist(), strict=True)
        ]

    def plain_numbers(self) -> list[str]:
        """The columns of numbers that are written as programs write them."""
        plain = Written()
        own = [column for column in self.columns if isinstance(column, Numbers)]
        return [column.column for column in own if column.written == plain]

    def no_levels(self) -> dict[str, LevelCounts]:
        """Counts of the declared levels, by column, before any row."""
        return {
            of.column: LevelCounts(of.column, of.levels, np.zeros(len(of.levels) + 1, np.int64))
            for of in self.columns
            if isinstance(of, Levels)
        }


def with_words(rows: Floats, words: Sequence[Any]) -> Any:
    """The rows, and behind them their words: CSR where there are some."""
    if not words:
        return rows
    from scipy.sparse import csr_array, hstack

    blocks = [csr_array(rows)] if rows.shape[1] else []
    return hstack([*blocks, *map(csr_array, words)], format="csr")


def stacked(parts: Sequence[Any]) -> Any:
    """Rows below one another, CSR where those are."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    from scipy.sparse import vstack

    return vstack(parts, format="csr")


class ColumnProblem(InputError):
    """A value of a named column that cannot be encoded.

    Parameters
    ----------
    column : name
    cause : what is wrong, and in which row
    """

    def __init__(self, column: str, cause: ValueProblem):
        self.column = column
        self.cause = cause
        where = f"column {quoted(column)}, row {cause.row} of the chunk, counted from 0"
        super().__init__(f"X: {where}: {cause.problem}")
