"""What the columns of a table are like: gaps, levels among the others, and where numbers lie."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError
from kernbrook.plain_values import is_count
from kernbrook.streams.tables.encoded_columns import Part
from kernbrook.streams.tables.encoder import TableEncoder

MOST_COLUMNS = 256  # of a table; of more none are looked at
LARGEST = 1e300  # sum

Floats = NDArray[np.float64]


@dataclass
class Columns:
    """What the columns of a table were like in some rows, each list one entry a column.

    Attributes
    ----------
    rows : how many
    gaps : rows without a value
    others : rows with a level that was not declared; 0 of columns that are not levels
    totals, squares : of numbers, sums of the values and of their squares, less the first value ever
    low, high : of numbers; None where there was none
    """

    rows: int
    gaps: list[int]
    others: list[int]
    totals: list[float]
    squares: list[float]
    low: list[float | None]
    high: list[float | None]

    def mean(self, i: int, origin: float | None) -> float | None:
        """Of the numbers of a column; None where there are none."""
        there = self.rows - self.gaps[i]
        return None if origin is None or not there else origin + self.totals[i] / there

    def deviation(self, i: int) -> float | None:
        """Of the numbers of a column, about their mean; None where there are none."""
        there = self.rows - self.gaps[i]
        if not there:
            return None
        mean = self.totals[i] / there
        return math.sqrt(max(self.squares[i] / there - mean**2, 0.0))

    def joined(self, before: Columns | None) -> Columns:
        """The same of these rows and of those before."""
        if before is None:
            return self
        sums = {
            name: [a + b for a, b in zip(getattr(before, name), getattr(self, name), strict=True)]
            for name in ("gaps", "others", "totals", "squares")
        }
        low, high = (
            [_furthest(of, pair) for pair in zip(*both, strict=True)]
            for of, both in ((min, (before.low, self.low)), (max, (before.high, self.high)))
        )
        return Columns(before.rows + self.rows, **sums, low=low, high=high)

    @classmethod
    def restored(cls, described: Any, inputs: Inputs | None) -> Columns:
        """What was written of columns; InputError where it can be no such thing."""
        columns = cls(**described)
        if inputs is None or not is_count(columns.rows):
            raise InputError("windows: expected columns of a table, and how many rows they are of")
        width = len(inputs.parts)
        kinds: dict[str, tuple[type, ...]] = {
            "gaps": (int,), "others": (int,), "totals": (float, int), "squares": (float, int),
            "low": (float, int, type(None)), "high": (float, int, type(None)),
        }  # fmt: skip
        for name, kind in kinds.items():
            values = getattr(columns, name)
            fits = isinstance(values, list) and len(values) == width
            if not fits or not all(
                type(one) in kind and (one is None or math.isfinite(one)) for one in values
            ):
                raise InputError(f"windows: expected {width} numbers as {name}")
        return columns


@dataclass
class Inputs:
    """The columns of a table, and what is known of all of their rows.

    Attributes
    ----------
    parts : of each column its name, what it becomes, and where its encoded columns are
    origins : of numbers, the first value ever; None before it, and of other columns
    """

    parts: list[Part]
    origins: list[float | None] = field(default_factory=list)

    @classmethod
    def of(cls, encoder: TableEncoder | None) -> Inputs | None:
        """Of a table as an encoder has it; None of other data, and of a table that is too wide."""
        if encoder is None or len(encoder.columns_) > MOST_COLUMNS:
            return None
        parts = encoder.encoded.parts()
        return cls(parts, [None] * len(parts))

    def counted(self, before: Columns | None, values: Floats) -> Columns:
        """What columns were like in rows before, and in more: (n, d) encoded, NaN for gaps."""
        starts = [part.start for part in self.parts]
        gaps = np.isnan(values[:, starts]).sum(axis=0)
        others = np.zeros(len(starts), dtype=np.int64)
        levels = [i for i, part in enumerate(self.parts) if part.kind == "levels"]
        lasts = [self.parts[i].start + self.parts[i].width - 1 for i in levels]
        others[levels] = (values[:, lasts] == 1).sum(axis=0)
        numbers = [i for i, part in enumerate(self.parts) if part.kind == "numbers"]
        width = len(starts)
        own = Columns(
            len(values), gaps.tolist(), others.tolist(),
            [0.0] * width, [0.0] * width, [None] * width, [None] * width,
        )  # fmt: skip
        if numbers:
            self._count_numbers(own, before, numbers, values[:, [starts[i] for i in numbers]])
        found = own.joined(before)
        for i in numbers:  # which are summed one after the other
            found.totals[i], found.squares[i] = own.totals[i], own.squares[i]
        return found

    def _count_numbers(
        self, own: Columns, before: Columns | None, numbers: Sequence[int], values: Floats
    ) -> None:
        """Where numbers lie, and sums that go on from those before."""
        there = ~np.isnan(values)
        for place, i in enumerate(numbers):
            found = values[there[:, place], place]
            if len(found):
                own.low[i], own.high[i] = float(found.min()), float(found.max())
                if self.origins[i] is None:
                    self.origins[i] = float(found[0])
        with np.errstate(over="ignore", invalid="ignore"):
            away = np.where(there, values - [self.origins[i] or 0.0 for i in numbers], 0.0)
            for name, more in (("totals", away), ("squares", away**2)):
                begun = [0.0 if before is None else getattr(before, name)[i] for i in numbers]
                sums = np.add.accumulate(np.vstack([begun, more]))[-1]
                sums = np.nan_to_num(np.clip(sums, -LARGEST, LARGEST))  # no file can hold infinity
                for place, i in enumerate(numbers):
                    getattr(own, name)[i] = float(sums[place])

    @classmethod
    def restored(cls, described: Any) -> Inputs:
        """What was written of a table; InputError where it can be no such thing."""
        inputs = cls(**described)
        problem = "windows: expected the columns of a table"
        if not isinstance(inputs.parts, list) or not isinstance(inputs.origins, list):
            raise InputError(problem)
        inputs.parts = [Part(*part) for part in inputs.parts]
        numbers = all(type(one) in (float, type(None)) for one in inputs.origins)
        if len(inputs.parts) != len(inputs.origins) or not numbers:
            raise InputError(problem)
        if not all(part.is_sound() for part in inputs.parts):
            raise InputError(problem)
        return inputs


def _furthest(of: Any, pair: tuple[float | None, float | None]) -> float | None:
    there = [one for one in pair if one is not None]
    return of(there) if there else None


@dataclass(frozen=True)
class Shift:
    """How a column was in the last rows, beside all rows before.

    Attributes
    ----------
    column, kind : as `Part` has them
    rows : of the last rows
    gaps, others : shares of rows without a value, and with a level that was not declared; before,
        and in the last rows
    means, lows, highs : of numbers, likewise; None where there are none
    deviation : of the numbers before; None where there are none
    """

    column: str
    kind: str
    rows: int
    gaps: tuple[float, float]
    others: tuple[float, float]
    means: tuple[float | None, float | None]
    lows: tuple[float | None, float | None]
    highs: tuple[float | None, float | None]
    deviation: float | None

    @property
    def size(self) -> float:
        """How far it has moved: from 1 on it is worth a look.

        A share by five points or more, or a mean by half a deviation or more, where that is four
        standard errors or more.
        """
        found = 0.0
        for before, now in (self.gaps, self.others):
            error = math.sqrt(max(before * (1 - before), now * (1 - now)) / self.rows)
            found = max(
                found, min(abs(now - before) / 0.05, abs(now - before) / (4 * error or 1.0))
            )
        first, last = self.means
        if first is not None and last is not None and self.deviation is not None:
            apart, there = abs(last - first), (1 - self.gaps[1]) * self.rows
            scale = self.deviation or 1e-300
            found = max(found, min(2 * apart / scale, apart * math.sqrt(there) / (4 * scale)))
        return found


def shifts(inputs: Inputs | None, columns: Sequence[Columns | None], late: float) -> list[Shift]:
    """How each column was in the last windows, beside those before.

    Parameters
    ----------
    inputs : what is known of the columns
    columns : by window
    late : the share of the rows that the last windows have, at least

    Returns
    -------
    a Shift for each column; none where fewer than four windows are known
    """
    known = [one for one in columns if one is not None]
    if inputs is None or len(known) < 4:
        return []
    rows, cut = sum(one.rows for one in known), len(known) - 1
    while cut > 1 and sum(one.rows for one in known[cut:]) < late * rows:
        cut -= 1
    before, last = (_together(part) for part in (known[:cut], known[cut:]))
    return [_shift(inputs, i, before, last) for i in range(len(inputs.parts))]


def _together(columns: Sequence[Columns]) -> Columns:
    found = columns[0]
    for one in columns[1:]:
        found = one.joined(found)
    return found


def _shift(inputs: Inputs, i: int, before: Columns, last: Columns) -> Shift:
    part, numbers = inputs.parts[i], inputs.parts[i].kind == "numbers"

    def pair(value: Callable[[Columns], Any]) -> tuple[Any, Any]:
        return value(before), value(last)

    return Shift(
        part.column, part.kind, last.rows,
        gaps=pair(lambda one: one.gaps[i] / one.rows),
        others=pair(lambda one: one.others[i] / one.rows),
        means=pair(lambda one: one.mean(i, inputs.origins[i]) if numbers else None),
        lows=pair(lambda one: one.low[i]), highs=pair(lambda one: one.high[i]),
        deviation=before.deviation(i) if numbers else None,
    )  # fmt: skip
