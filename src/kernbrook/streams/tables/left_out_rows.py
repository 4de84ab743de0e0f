"""Rows of a table that are left out because they cannot be read."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

_TOLD = 5  # rows
_MANY = 1000  # rows: where more were left out than were read, nothing more is


@dataclass
class BadRows:
    """Rows that are left out.

    Attributes
    ----------
    places : of all rows of the table, these too, the numbers of those left out, from 0
    told : what is wrong with the first five: where, in which column, and what was found
    first : what would be raised for the first value that is no value of its column, or None
    """

    places: list[int] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    first: Exception | None = field(default=None, repr=False)

    def leave_out(self, place: int, told: str, problem: Exception, rows: int) -> None:
        """Remember one; where most rows are such, raise the problem of the first.

        Parameters
        ----------
        place : of all rows of the table, from 0
        told : what is wrong with it
        problem : what would be raised where it was not left out
        rows : how many were read so far
        """
        self.first = self.first or problem
        self.tell(told)
        self.places.append(place)
        if len(self.places) > max(rows, _MANY):
            raise self.first

    def tell(self, problem: str) -> None:
        """What is wrong with one of them."""
        if len(self.told) < _TOLD:
            self.told.append(problem)

    @staticmethod
    def silently(error: Exception) -> None:
        """What is said of a row that is left out, where another reading tells of it."""

    def before(self, first: int, rows: int) -> list[int]:
        """Before each of so many rows that are left, from one on: those left out since the last.

        Examples
        --------
        >>> BadRows([0, 1, 3]).before(0, 3), BadRows([0, 1, 3]).before(1, 2)
        ([2, 1, 0], [1, 0])
        """
        own = np.array(self.places, dtype=np.int64) - np.arange(len(self.places))
        ends = np.searchsorted(own, np.arange(first - 1, first + rows), side="right")
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
        told = [f"{number:,} row{'s' * (number > 1)} left out:", *(f"  {one}" for one in self.told)]
        return [*told, "  ..."] if number > len(self.told) else told
