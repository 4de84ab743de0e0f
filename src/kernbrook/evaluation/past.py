"""The data that a model has learned from, one after the other: what each was, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

from kernbrook.checks import shown
from kernbrook.errors import InputError
from kernbrook.persistence.encoding import expect
from kernbrook.persistence.file_checks import is_count

MOST = 400  # data that are told apart: a year of days, and a month


@dataclass(frozen=True)
class Past:
    """Data that a model has learned from.

    Attributes
    ----------
    name : of the data; None where it was not recorded
    rows : met
    judged : rows whose label was predicted before it was seen
    loss : on these: mistakes, or squared errors; None where it was not recorded
    first, digest : of the first row and of all rows met, by `RowDigest`; "" where not recorded
    data : how many data these are: those of long ago are put together
    """

    name: str | None
    rows: int
    judged: int = 0
    loss: float | None = None
    first: str = ""
    digest: str = ""
    data: int = 1

    def check(self) -> None:
        """InputError where a value is of no kind that it can be."""
        expect("past: name", self.name, str, NoneType)
        for name in ("first", "digest"):
            expect(f"past: {name}", getattr(self, name), str)
        for name in ("rows", "judged", "data"):
            if not is_count(value := getattr(self, name)):
                raise InputError(f"past: {name}: expected an integer from 0, got {shown(value)}")
        if self.loss is not None and not (
            type(self.loss) in (int, float) and 0 <= self.loss < math.inf
        ):
            wanted = "expected a finite number from 0, or null"
            raise InputError(f"past: loss: {wanted}, got {shown(self.loss)}")
        if self.judged > self.rows or not self.data:
            raise InputError(f"past: {self.judged} of {self.rows} rows, of {self.data} data")


def shortened(past: Sequence[Past]) -> list[Past]:
    """The same, with those of long ago put together where they are more than 400.

    Examples
    --------
    >>> days = shortened([Past(f"day {i}", 10, 10, 1) for i in range(1000)])
    >>> len(days), days[0].data, days[0].rows, days[1].name
    (400, 601, 6010, 'day 601')
    """
    if len(past) <= MOST:
        return list(past)
    cut = len(past) - MOST + 1
    return [together(past[:cut]), *past[cut:]]


def together(past: Sequence[Past]) -> Past:
    """Several data as one."""
    losses = [one.loss for one in past if one.loss is not None]
    rows, judged, data = (
        sum(getattr(one, name) for one in past) for name in ("rows", "judged", "data")
    )
    return Past(None, rows, judged, sum(losses) if len(losses) == len(past) else None, data=data)


def read_past(given: Any) -> list[Past]:
    """What a file says of the data learned from.

    Raises
    ------
    InputError
        It is nothing that can be said of them.
    """
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise InputError(f"past: expected a list of objects, got {shown(given)}")
    past = [Past(**one) for one in given]
    for one in past:
        one.check()
    return past
