"""The data that a model has learned from, one after the other: what each was, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

from kernbrook.checks import shown
from kernbrook.errors import InputError
from kernbrook.evaluation.history.windows import Span
from kernbrook.plain_values import expect, is_count

MOST = 400  # data that are told apart: a year of days, and a month


@dataclass
class Past(Span):
    """Data that a model has learned from.

    Attributes
    ----------
    name : of the data; None where it was not recorded
    first, digest : of the first row and of all rows met, by `RowDigest`; "" where not recorded
    data : how many data these are: those of long ago are put together
    rows, judged, sums, began, ended : as `Span` has them
    """

    name: str | None = None
    first: str = ""
    digest: str = ""
    data: int = 1

    @property
    def loss(self) -> float | None:
        """Mistakes, or squared errors, of the judged rows; None where they were not recorded."""
        return self.sums.get("loss")

    def check(self, what: str = "past") -> None:
        """InputError where a value is of no kind that it can be."""
        super().check(what)
        expect(f"{what}: name", self.name, str, NoneType)
        for name in ("first", "digest"):
            expect(f"{what}: {name}", getattr(self, name), str)
        if not (is_count(self.data) and self.data):
            raise InputError(f"{what}: expected a number of data from 1, got {shown(self.data)}")
        if self.columns is not None:
            raise InputError(f"{what}: expected null as columns")


def shortened(past: Sequence[Past]) -> list[Past]:
    """The same, with those of long ago put together where they are more than 400.

    Examples
    --------
    >>> days = shortened([Past(10, 10, {"loss": 1}, name=f"day {i}") for i in range(1000)])
    >>> len(days), days[0].data, days[0].rows, days[0].loss, days[1].name
    (400, 601, 6010, 601, 'day 601')
    """
    if len(past) <= MOST:
        return list(past)
    cut = len(past) - MOST + 1
    return [together(past[:cut]), *past[cut:]]


def together(past: Sequence[Past]) -> Past:
    """Several data as one; a cost that one of them lacks is not known of all."""
    found = Past(data=sum(one.data for one in past))
    for one in past:
        found.join(one)
    return found


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
