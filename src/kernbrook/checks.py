"""Parameters as data: what each may be, said once, and checked here.

A class says it beside the types of its fields, see `parameters`, or in `parameter_ranges`, a dict
from names to the kinds below; a subclass says only what differs. `check` compares an object with
it. Where one parameter depends on another, code does.

Examples
--------
>>> from kernbrook.learners import BPAS
>>> ranges_of(BPAS)["budget"].words
'an integer from 1 to 100,000,000'
>>> check(BPAS(budget=0))
Traceback (most recent call last):
    ...
kernbrook.errors.InputError: BPAS: budget must be an integer from 1 to 100,000,000, got 0
"""

from __future__ import annotations

import datetime
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from inspect import signature
from typing import Any, NamedTuple, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError, cut

T = TypeVar("T")
SMALLEST, LARGEST = 1e-100, 1e100  # sizes of numbers that can be multiplied and divided by
LEARNED = 1e120  # sizes of sums of losses, and of what is learned from scores, are below it
MOST = 10**8  # of what is counted or kept in memory: more than any has room for
COUNTED = 2**62  # rows that can be counted: no stream has so many, and sums stay in 64 bits
HEAVIEST = 1000.0  # how many rows a row counts as, at most
_MOMENTS = datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64
_OF_MOMENTS = re.compile(r"date|time|duration|period", re.IGNORECASE)  # types of columns


def is_number(value: Any) -> bool:
    """As Python has it: True is one."""
    numbers = isinstance(value, (int, float, np.integer, np.floating))
    return numbers and not isinstance(value, np.timedelta64)  # which NumPy counts among them


def is_whole(value: Any) -> bool:
    """As Python has it: True is, 2.0 is not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, np.timedelta64)


def check_count(name: str, value: Any, least: int) -> None:
    """InputError unless a value is an integer, and large enough."""
    if not is_whole(value) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: expected an integer from {least}, got {shown(value)}")


def each_name(given: str | Iterable[str]) -> list[str]:
    """Names one by one, or out of a text with commas.

    Examples
    --------
    >>> each_name("spa, bpas"), each_name(["spa"]), each_name("")
    (['spa', 'bpas'], ['spa'], [])
    """
    if not isinstance(given, str):
        return list(given)
    return [name for part in given.split(",") if (name := part.strip())]


def shown(value: Any) -> str:
    """What an error says was found: its repr in one line, cut short.

    Examples
    --------
    >>> print(shown("3"), shown(np.arange(4.0).reshape(2, 2)))
    '3' array([[0., 1.], [2., 3.]])
    """
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # integers of thousands of digits have none
        text = f"a value of type {type(value).__name__}"
    return cut(text)


def refusal(owner: Any, name: str, wanted: str) -> InputError:
    """The error for a parameter that must `wanted`.

    Examples
    --------
    >>> from kernbrook.learners import BPAS
    >>> refusal(BPAS(budget=0), "budget", "be an integer from 1")
    InputError('BPAS: budget must be an integer from 1, got 0')
    """
    return _refused(type(owner), name, wanted, getattr(owner, name))


def _refused(kind: type, name: str, wanted: str, value: Any) -> InputError:
    return InputError(f"{kind.__name__}: {name} must {wanted}, got {shown(value)}")


def counted(name: str, before: int, more: int) -> int:
    """The sum of two numbers of rows; InputError where nobody can have counted so far."""
    if before + more > COUNTED:
        raise InputError(f"{name}: {before} rows and {more} more are too many to count")
    return before + more


_places: ContextVar[tuple[Sequence[int], ...]] = ContextVar("places", default=())


@contextmanager
def placed(places: Sequence[int]) -> Iterator[None]:
    """Some rows of a chunk are worked on by themselves; places : of these in the caller's chunk."""
    before = _places.set((places, *_places.get()))
    try:
        yield
    finally:
        _places.reset(before)


def row_of_chunk(i: Any) -> str:
    """Row i of what is worked on, in words, as who gave the chunk counts its rows from 0.

    Examples
    --------
    >>> with placed([4, 7]):
    ...     row_of_chunk(1)
    'row 7 of the chunk'
    """
    row = int(i)
    for places in _places.get():
        row = places[row]
    return f"row {row} of the chunk"


def ask_for(numbers: int, owner: str) -> NDArray[np.float64]:
    """(numbers,) with anything in it; InputError, which says how much, where there is no room.

    Examples
    --------
    >>> ask_for(10**16, "Ahpatron()")
    Traceback (most recent call last):
        ...
    kernbrook.errors.InputError: Ahpatron() takes 80,000,000.0 GB, and there is not so much
    """
    try:
        return np.empty(numbers)
    except (MemoryError, ValueError):  # of more than there are addresses
        size = f"{8e-9 * numbers:,.1f} GB"
        raise InputError(f"{owner} takes {size}, and there is not so much") from None


def real(values: Any, name: str = "X") -> Any:
    """An array, a list or a frame as it is; NumPy's masked values as NaN.

    InputError where it holds moments or durations: NumPy would make nanoseconds or days of them.

    Examples
    --------
    >>> real(np.ma.array([1, 2], mask=[False, True]))
    array([ 1., nan])
    """
    if type(values) is np.ndarray and values.dtype.kind in "biufc":
        return values
    if hasattr(values, "tocsr"):
        return values
    if hasattr(values, "columns"):
        _check_columns(values, name)
        return values
    if isinstance(values, np.ma.MaskedArray):
        kind: Any = np.float64 if values.dtype.kind in "biuf" else object
        mask = np.ma.getmaskarray(values)
        values = np.where(mask, np.nan, values.data.astype(kind)) if mask.any() else values.data
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):  # said where it is taken as numbers
        return values
    odd = f"{array.dtype}" if array.dtype.kind in "mM" else None
    if array.dtype.kind == "O":
        odd = next((type(item).__name__ for item in array.flat if isinstance(item, _MOMENTS)), None)
    if odd is not None:
        raise _moments(name, odd)
    return values


def _check_columns(frame: Any, name: str) -> None:
    """InputError where a column of a frame has moments."""
    types = frame.schema.types if hasattr(frame, "column_names") else getattr(frame, "dtypes", ())
    names = getattr(frame, "column_names", frame.columns)
    for column, kind in zip(names, types, strict=False):
        kind = getattr(getattr(kind, "categories", None), "dtype", kind)  # of pandas
        if _OF_MOMENTS.match(str(getattr(kind, "value_type", kind))):  # of pyarrow's dictionaries
            raise _moments(f"{name}: column {shown(column)}", f"{kind}")


def _moments(subject: str, kind: str) -> InputError:
    way = "; kb.TableEncoder(dates=[...]) makes numbers of a table's moments"
    way = way if subject[0] in "Xx" else ""
    return InputError(f"{subject}: expected numbers, found {kind}{way}")


# -- what a parameter may be: `words` says it, `wanted(value)` what a value is not, or "" ----------


class Number(NamedTuple):
    """A finite number between two ends, each of them only where `ends`, such as "(]", has it.

    any_size : whether also below 1e-100 or above 1e100
    """

    least: float = -math.inf
    most: float = math.inf
    ends: str = "[]"
    any_size: bool = False

    @property
    def words(self) -> str:
        if self.most < math.inf:
            return f"a number in {self.ends[0]}{self.least:g}, {self.most:g}{self.ends[1]}"
        if self.least == 0:
            return "a positive number" if self.ends[0] == "(" else "a non-negative number"
        return f"a number from {self.least:g}" if self.least > -math.inf else "a finite number"

    def wanted(self, value: Any) -> str:
        value = value.item() if isinstance(value, np.generic) else value  # float32 has no 1e100
        if not is_number(value) or isinstance(value, bool) or not abs(value) < math.inf:
            return self.words
        low = self.least < value or (self.least == value and self.ends[0] == "[")
        high = value < self.most or (value == self.most and self.ends[1] == "]")
        if not (low and high):
            return self.words
        if self.any_size:
            return "" if abs(value) <= sys.float_info.max else self.words
        sized = value == 0 or SMALLEST <= abs(value) <= LARGEST
        return "" if sized else f"of a size from {SMALLEST:g} to {LARGEST:g}"


class Whole(NamedTuple):
    """An integer from least to most; no bool."""

    least: int = 1
    most: int = MOST

    @property
    def words(self) -> str:
        return f"an integer from {self.least} to {self.most:,}"

    def wanted(self, value: Any) -> str:
        fits = is_whole(value) and not isinstance(value, bool)
        return "" if fits and self.least <= value <= self.most else self.words


class OneOf(NamedTuple):
    """One of some names or numbers."""

    known: tuple[Any, ...]

    @property
    def words(self) -> str:
        if len(self.known) > 2 and isinstance(self.known[0], str):
            return f"one of {', '.join(self.known)}"
        *first, last = map(repr, self.known)
        return f"{', '.join(first)} or {last}"

    def wanted(self, value: Any) -> str:
        plain = isinstance(value, str) or is_number(value)
        return "" if plain and value in self.known else self.words


class Flag(NamedTuple):
    """True or False; no number."""

    words: str = "True or False"

    def wanted(self, value: Any) -> str:
        return "" if isinstance(value, (bool, np.bool_)) else self.words


class Seed(NamedTuple):
    """What scikit-learn takes for a `random_state`."""

    words: str = f"None, an integer from 0 to {2**32 - 1:,} or a RandomState"

    def wanted(self, value: Any) -> str:
        if value is None or value is np.random or isinstance(value, np.random.RandomState):
            return ""
        fits = is_whole(value) and not isinstance(value, bool)
        return "" if fits and 0 <= value < 2**32 else self.words


class Part(NamedTuple):
    """An object with this `choice`, whose own parameters `check` looks at, too."""

    choice: str
    words: str

    def wanted(self, value: Any) -> str:
        fits = not isinstance(value, type) and getattr(value, "choice", None) == self.choice
        return "" if fits else self.words


class Or(NamedTuple):
    """One of some values, or what another kind has."""

    values: tuple[Any, ...]
    kind: Any

    @property
    def words(self) -> str:
        return f"{', '.join(map(repr, self.values))} or {self.kind.words}"

    def wanted(self, value: Any) -> str:
        plain = value is None or isinstance(value, (str, float))
        if plain and value in self.values:
            return ""
        wanted: str = self.kind.wanted(value)
        return self.words if wanted and wanted == self.kind.words else wanted


class Other(NamedTuple):
    """What code checks: a function given here, which raises InputError, or what the class does."""

    words: str
    function: Callable[[Any], Any] | None = None

    def wanted(self, value: Any) -> str:
        if self.function is not None:
            self.function(value)
        return ""


class Such(NamedTuple):
    """What passes a test."""

    words: str
    passes: Callable[[Any], bool]

    def wanted(self, value: Any) -> str:
        return "" if self.passes(value) else self.words


class Several(NamedTuple):
    """What another kind has, or a list of such; see `each_of`."""

    kind: Any

    @property
    def words(self) -> str:
        return f"{self.kind.words}, or a list of these"

    def wanted(self, value: Any) -> str:
        found = each_of(value)
        fits = len(found) > 0 and not any(self.kind.wanted(item) for item in found)
        return "" if fits else self.words


def each_of(value: Any) -> list[Any]:
    """The values of a parameter that may be one or a list."""
    several = isinstance(value, Sequence) and not isinstance(value, str)
    return list(value) if several else [value]


POSITIVE, NON_NEGATIVE = Number(0, ends="(]"), Number(0)


def or_none(kind: Any) -> Or:
    """None, or what the kind has."""
    return Or((None,), kind)


# -- the check -------------------------------------------------------------------------------------


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def parameters(kind: type[T]) -> type[T]:
    """A class whose parameters are its fields; what each may be stands beside its type.

    `step: Annotated[float, POSITIVE] = 0.1`, as `parameter_ranges` says it elsewhere. The signature
    has the type alone.
    """
    scope, hints, ranges = vars(sys.modules[kind.__module__]), kind.__annotations__, {}
    for name, hint in hints.items():
        if isinstance(hint, str) and "Annotated[" in hint:
            hint = eval(hint, scope)
        if hasattr(hint, "__metadata__"):
            hints[name], ranges[name] = hint.__origin__, hint.__metadata__[0]
    kind.parameter_ranges = ranges  # type: ignore[attr-defined]
    return dataclass(eq=False, repr=False)(kind)


@cache
def _ranges_by_name(kind: type) -> dict[str, Any]:
    ranges: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        ranges |= vars(base).get("parameter_ranges", {})
    return ranges


@cache
def ranges_of(kind: type) -> dict[str, Any]:
    """What the parameters of a class may be, by name and in order, as far as it says so."""
    known = _ranges_by_name(kind)
    return {k: known[k] for k in signature(kind).parameters if k in known} if known else {}


def check(owner: Any) -> None:
    """Raise InputError unless all parameters of an object, and of its parts, are as classes say.

    Models and encoders within it check themselves.
    """
    kind: Any = type(owner)
    values = {name: getattr(owner, name) for name in ranges_of(kind)}
    check_values(kind, values)
    for value in values.values():
        for part in value if isinstance(value, (list, tuple)) else (value,):
            if hasattr(part, "choice") and hasattr(type(part), "parameter_ranges"):
                check(part)


def check_values(kind: type, values: Mapping[str, Any]) -> None:
    """The same for some values of a class, before there is an object."""
    ranges = _ranges_by_name(kind)
    for name, value in values.items():
        if wanted := ranges[name].wanted(value):
            raise _refused(kind, name, f"be {wanted}", value)
