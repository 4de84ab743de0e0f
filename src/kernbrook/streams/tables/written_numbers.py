"""Numbers as offices write them: marks for thousands and fractions, units, accountants' signs."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from kernbrook.checks import shown
from kernbrook.errors import InputError
from kernbrook.streams.booleans import BOOLEANS

DECIMALS = (".", ",")
THOUSANDS = ". , ' or a blank"
_ALIKE = {" ": " \u00a0\u2009\u202f", "'": "'\u2019"}  # no-break, thin; the apostrophe of printers
_MINUS = "-\u2212"
_HUNDREDTHS = {"%": -2, "\u2030": -3}  # powers of ten
TRUTH = {word: float(one == "True") for word, one in BOOLEANS.items()}
PLAIN_NUMBER = r"^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,9})?$"  # as Arrow casts it, too
_INFINITY = re.compile("inf(inity)?", re.IGNORECASE)
_PARTS = re.compile(r"(\D*)(\d.*\d|\d)(\D*)", re.ASCII | re.DOTALL)
_CODE = re.compile("[A-Z]{3}")
_NO_UNIT = re.compile(  # but a part of a date
    "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|[ap]m$|mon$|tue$|wed$|thu$|fri$|sat$|sun$)",
    re.IGNORECASE,
)
_MEASURE = re.compile(r"[^\W\d_]{1,3}")


class Written(NamedTuple):
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : what stands before the fraction
    thousands : what may stand between groups of three digits, or of two as in India; " " for any
        blank; None for nothing
    unit : what may stand before or after a number; empty for nothing. Percent and per mille say
        what the number is divided by, so they have to be there
    """

    decimal: str = "."
    thousands: str | None = None
    unit: str = ""

    def read(self, text: str) -> tuple[float, bool] | None:
        """The number, and whether its minus is written as accountants do; None where it is none.

        Examples
        --------
        >>> Written(",", ".", "EUR").read("(1.234,50 EUR)")
        (-1234.5, True)
        >>> Written(unit="%").read("12.3 %")
        (0.123, False)
        >>> Written().read("1,200") is None
        True
        """
        body, unit, sign, odd = text.strip(), self.unit, "", False
        if not unit and body in TRUTH:
            return TRUTH[body], False
        while body:
            if body[0] in _MINUS or body[0] == "+":
                sign, body = sign + body[0], body[1:]
            elif body[-1] in _MINUS:
                sign, body, odd = sign + "-", body[:-1], True
            elif body[0] == "(" and body[-1] == ")":
                sign, body, odd = sign + "-", body[1:-1], True
            elif unit and body.startswith(unit):
                unit, body = "", body[len(unit) :]
            elif unit and body.endswith(unit):
                unit, body = "", body[: -len(unit)]
            else:
                break
            body = body.strip()
        number = self._unsigned(body)
        if number is None or len(sign) > 1 or (unit in _HUNDREDTHS and number != 0):
            return None
        return (-number if sign and sign != "+" else number), odd

    def _unsigned(self, body: str) -> float | None:
        found = _pattern(self.decimal, self.thousands).fullmatch(body)
        if found is None:
            return math.inf if _INFINITY.fullmatch(body) else None
        digits, exponent = found[1], int(found[2] or 0) + _HUNDREDTHS.get(self.unit, 0)
        if self.thousands is not None:
            for mark in _ALIKE.get(self.thousands, self.thousands):
                digits = digits.replace(mark, "")
        return float(f"{digits.replace(self.decimal, '.')}e{exponent}")

    def plain(self, array: Any) -> Any:
        """Arrow text as Arrow casts it; what is written in another way is no number then."""
        from pyarrow import compute

        marked = array
        if self.unit:  # behind the number, and nothing else; of the rest each is read by itself
            behind = f"^(-?[0-9.,]*[0-9]) ?{re.escape(self.unit)}$"
            simple = compute.match_substring_regex(array, behind)
            bare = compute.replace_substring_regex(array, behind, "\\1")
            array = marked = compute.if_else(simple, bare, "?")
        if self.thousands is not None:
            point = re.escape(self.decimal)
            grouped = f"^[+-]?(?:{_groups(self.thousands)})(?:{point}[0-9]*)?$"
            bare = compute.replace_substring_regex(array, _mark(self.thousands), "")
            marked = compute.if_else(compute.match_substring_regex(array, grouped), bare, array)
        if self.decimal != ".":
            marked = compute.replace_substring(marked, ".", "?")
            marked = compute.replace_substring(marked, self.decimal, ".")
        if self.unit in _HUNDREDTHS:
            marked = compute.binary_join_element_wise(marked, f"e{_HUNDREDTHS[self.unit]}", "")
        return marked

    def bare(self, text: str) -> str:
        """Plain text of a number as programs write it; other text is no number then."""
        if self.thousands is not None and _pattern(*self[:2]).fullmatch(text.lstrip("+-")):
            for mark in _ALIKE.get(self.thousands, self.thousands):
                text = text.replace(mark, "")
        return text if self.decimal == "." else text.replace(".", "?").replace(self.decimal, ".")

    def others(self, text: str) -> list[tuple[Written, float]]:
        """Other ways to write numbers in which the text is one, one for each number."""
        if text.startswith(",") or self.read(text) is not None:
            return []
        units = {self.unit, self.unit or _unit_in(text)}
        found: dict[float, Written] = {}
        for decimal, thousands in WAYS:
            for unit in sorted(units):
                way = Written(decimal, thousands, unit)
                number = way.read(text)
                if number is not None and math.isfinite(number[0]):
                    found.setdefault(number[0], way)
        return [(way, number) for number, way in found.items()]

    def told_from(self, now: Written) -> str:
        """The options that say these marks, where others are said now; empty where they do."""
        options = []
        if self[:2] != now[:2]:
            if not self.decimal == now.decimal == ".":
                options.append(f"decimal (--decimal {self.decimal})")
            if self.thousands is not None:
                mark = {"'": '"\'"', " ": "' '"}.get(self.thousands, self.thousands)
                options.append(f"thousands (--thousands {mark})")
            elif now.thousands is not None:
                options.append("no thousands")
        return " and ".join(options)


# The simple ones first: of two that read the same number it is the first that is advised.
WAYS: list[tuple[str, str | None]] = [
    (".", None), (",", None), (".", ","), (",", "."), (".", "'"), (",", "'"), (".", " "),
    (",", " "),
]  # fmt: skip


def check_thousands(value: Any) -> None:
    """InputError where it is nothing that can stand between groups of digits."""
    if value is not None and not (isinstance(value, str) and value in (".", ",", "'", " ")):
        raise InputError(f"thousands: expected {THOUSANDS}, got {shown(value)}")


def check_marks(decimal: str, thousands: str | None) -> None:
    """InputError where one mark would have two meanings."""
    if decimal == thousands:
        other = "," if decimal == "." else "."
        raise InputError(
            f"thousands, decimal: both are {decimal!r}; is the other one decimal "
            f"(--decimal {other})?"
        )


def declared_units(given: Any) -> dict[str, str]:
    """For each column what stands beside its numbers."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InputError(f"units: expected a dict of columns and units, got {shown(given)}")
    return {name: _unit(name, unit) for name, unit in given.items()}


def _unit(name: str, unit: Any) -> str:
    """What stands beside numbers; InputError where it could be a part of one."""
    text = unit.strip() if isinstance(unit, str) else ""
    if not text or any(c.isdigit() or c in "+()" + _MINUS for c in (text[0], text[-1])):
        raise InputError(
            f"units: {name!r}: expected what stands beside the numbers, such as % or EUR, "
            f"got {shown(unit)}"
        )
    return text


def _mark(thousands: str) -> str:
    """A class of characters."""
    return f"[{_ALIKE.get(thousands, thousands)}]"


def _groups(thousands: str) -> str:
    """Groups of digits; an office writes no zero in front of them."""
    mark = _mark(thousands)
    by_three = f"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+"
    if thousands != ",":
        return by_three
    return f"{by_three}|[1-9][0-9]?(?:,[0-9]{{2}})+,[0-9]{{3}}"  # and lakhs


@lru_cache
def _pattern(decimal: str, thousands: str | None) -> re.Pattern[str]:
    point, whole = re.escape(decimal), r"\d++"
    if thousands is not None:
        whole = f"{_groups(thousands)}|{whole}"
    return re.compile(
        rf"((?:{whole})(?:{point}\d*+)?|{point}\d++)(?:[eE]([+-]?\d{{1,9}}))?", re.ASCII
    )


def _unit_in(text: str) -> str:
    """What seems to be a unit beside a number; empty where there is none."""
    found = _PARTS.fullmatch(text.strip())
    if found is None:
        return ""
    before, after = (part.strip(f" ()+{_MINUS}\u00a0\u202f") for part in found.group(1, 3))
    unit = before or after
    if not unit or (before and after) or len(unit) > 5 or _NO_UNIT.match(unit):
        return ""
    sign = any(c in "%\u2030\u00b0" or unicodedata.category(c) == "Sc" for c in unit)
    known = sign or _CODE.fullmatch(unit) or (after and _MEASURE.fullmatch(unit))
    return unit if known else ""
