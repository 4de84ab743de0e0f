"""What a column of a table becomes: numbers, levels, dates, words; and labels of rows before.

Each kind takes an Arrow array and gives (n, width) float64, NaN where a value is missing.
`encode_value` gives the same bits for one cell as Python has it, mostly without Arrow.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import murmurhash3_32

from kernbrook.checks import shown
from kernbrook.errors import InputError
from kernbrook.plain_values import Count, read_as
from kernbrook.streams.loading import compute, pa
from kernbrook.streams.records import MISSING, quoted, without_gaps
from kernbrook.streams.tables.values import (
    TRUTH,
    LevelCounts,
    ValueProblem,
    Written,
    as_text,
    as_value,
    floats_of,
    in_text,
    is_missing,
    is_numeric,
    levels_in,
    option,
    places,
    plain,
)

Floats = NDArray[np.float64]

_GAPS = frozenset(MISSING)
_WHOLE = 1 << 63  # what is farther from 0 is no number to Arrow


class Column:
    """A column of a table.

    Attributes
    ----------
    column : its name
    kind : "numbers", "levels", of which the last encoded column is that of all others, "hashed",
        "dates" or "words"
    width : columns that it becomes
    seen : what is remembered of its rows; it is replaced, never changed
    note : how its values are read, where they could be read in another way
    """

    kind: str
    width = 1
    seen: Any = None
    note = ""

    def __init__(self, column: str):
        self.column = column

    @property
    def names(self) -> list[str]:
        return [self.column]

    def encode(self, array: Any, learns: bool = True, counts: LevelCounts | None = None) -> Any:
        """(n, width) what an Arrow array becomes.

        learns : whether its rows are learned
        counts : to count the rows of each declared level
        """
        raise NotImplementedError

    def encode_value(self, value: Any, learns: bool = True) -> list[float] | None:
        """The same of a cell; None where only a table of it tells, or refuses it."""
        return list(self.alone(value, learns)[0])

    def alone(self, value: Any, learns: bool = True) -> Any:
        """(1, width) what becomes of a cell of any type, by way of Arrow."""
        return self.encode(pa.array([value], from_pandas=True), learns)


# -- numbers ---------------------------------------------------------------------------------------

_NUMBER = r"^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,9})?|inf(inity)?)$"
_READ = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,9})?")


class Number(Column):
    """Numbers, also where they come as text.

    `seen` says whether they are true and false: a column has these, or numbers.
    """

    kind = "numbers"

    def __init__(self, column: str, written: Written):
        super().__init__(column)
        self.written = written

    def encode(self, array: Any, learns: bool = True, counts: LevelCounts | None = None) -> Floats:
        array, kind = plain(array)
        if pa.types.is_null(kind):
            return np.full((len(array), 1), np.nan)
        if pa.types.is_string(kind):
            values = self._from_text(without_gaps(array), learns)
        elif pa.types.is_duration(kind):  # seconds
            per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
            ticks = array.cast(pa.int64()).cast(pa.float64(), safe=False)
            values = ticks.to_numpy(zero_copy_only=False) / per_second
        elif is_numeric(kind):
            values = floats_of(array).to_numpy(zero_copy_only=False)
            if learns and pa.types.is_floating(kind) and array.null_count < len(array):
                self.seen = bool(self.seen)
        else:
            found = f"a number was expected, found {kind}"
            ways, question = [option("drop", self.column)], ""
            if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
                ways, question = [option("dates", self.column), *ways], "a date? "
            raise ValueProblem(0, found, None, ways, question)
        infinite = np.isinf(values)
        if infinite.any():
            row = int(infinite.argmax())
            cell = array[row].as_py()
            found = quoted(cell.strip()) if isinstance(cell, str) else f"{values[row]}"
            is_code = isinstance(cell, str) and cell.strip()[:1].isdigit()
            ways = [option("categorical", self.column, "=hash:32")] if is_code else []
            raise ValueProblem(row, f"{found} is not finite", None, ways, "a code? ")
        return values[:, None]

    def encode_value(self, value: Any, learns: bool = True) -> list[float] | None:
        is_text = isinstance(value, str)
        if is_missing(value) or (is_text and value in _GAPS):
            return [math.nan]
        if is_text:
            value = self.written.bare(value)
            if self.seen or not _READ.fullmatch(value):
                return None
        elif not isinstance(value, float) and not is_whole(value):
            return super().encode_value(value, learns)
        if learns and not is_whole(value):
            self.seen = bool(self.seen)
        number = float(value)
        return None if math.isinf(number) else [number]

    def _from_text(self, array: Any, learns: bool) -> Floats:
        """(n,) numbers of trimmed text, null where it is missing."""
        numbers, of_truth = self.written.plain(array), False
        try:
            values = numbers.cast(pa.float64()).to_numpy(zero_copy_only=False)
            plainly = not self.seen and np.isnan(values).sum() == array.null_count
        except pa.ArrowInvalid:
            plainly = False
        if not plainly:  # "nan(1)" is a number to Arrow
            truth = compute.is_in(array, pa.array([*TRUTH]))
            of_truth = self._check(array, truth, numbers, learns)
            words = compute.if_else(compute.match_substring_regex(array, "^[tT]"), "1", "0")
            values = compute.if_else(truth, words, numbers).cast(pa.float64())
            values = values.to_numpy(zero_copy_only=False)
        if learns and array.null_count < len(array):
            self.seen = of_truth
        return np.asarray(values)

    def _check(self, array: Any, truth: Any, numbers: Any, learns: bool) -> bool:
        """Whether text is true and false; ValueProblem for the first that is not as expected."""
        is_truth = truth.to_numpy(zero_copy_only=False)
        is_number = compute.match_substring_regex(numbers, _NUMBER, ignore_case=True)
        is_number = is_number.fill_null(False).to_numpy(zero_copy_only=False)
        has_value = array.is_valid().to_numpy(zero_copy_only=False)
        expected = self.seen
        if expected is None and learns and has_value.any():
            expected = bool(is_truth[has_value.argmax()])
        neither = has_value & ~is_truth & ~is_number
        bad = neither if expected is None else neither | (has_value & (is_truth != expected))
        if bad.any():
            row = int(bad.argmax())
            text = array[row].as_py()
            is_other = expected and is_number[row]
            found = f"expected {'true or false, as before' if is_other else 'a number'}, found "
            ways = [] if neither[row] else self.others()
            raise ValueProblem(row, found + quoted(text), text, ways)
        return bool(expected)

    def others(self) -> list[str]:
        return [option(name, self.column) for name in ("categorical", "drop")]


def is_whole(value: Any) -> bool:
    """Whether a cell is an integer of Python that Arrow takes for one, or true or false."""
    return isinstance(value, int) and -_WHOLE <= value < _WHOLE


# -- levels ----------------------------------------------------------------------------------------

_CODE = re.compile(r"[+-]?0\d+", re.ASCII)  # no program writes a number so


class Level(Column):
    """One column of 0 and 1 for each declared level, and one for all others; or levels hashed.

    A cell is the level that has its text, else the one that has its value, see `as_value`. Levels
    are hashed as scikit-learn's FeatureHasher has them: a column and a sign by their hash. Cells
    of one value have one hash.

    levels : each once; or a number of columns to hash to
    decimal : what stands before the fraction of numbers in text
    """

    def __init__(self, column: str, levels: tuple[str, ...] | int, decimal: str = "."):
        super().__init__(column)
        self.levels, self.decimal = () if isinstance(levels, int) else levels, decimal
        self.kind = "hashed" if isinstance(levels, int) else "levels"
        self.width = levels if isinstance(levels, int) else len(levels) + 1

    @property
    def names(self) -> list[str]:
        if self.kind == "hashed":
            return [f"{self.column}#{i}" for i in range(self.width)]
        return [f"{self.column}={level}" for level in (*self.levels, "other")]

    def encode(self, array: Any, learns: bool = True, counts: LevelCounts | None = None) -> Floats:
        found, known = levels_in(array, self.decimal, self.levels)
        spots = [self._spot(*level) for level in known]
        place, values = [spot for spot, _ in spots], [value for _, value in spots]
        rows = np.zeros((len(known) + 1, self.width))
        rows[np.arange(len(known)), place] = values
        rows[-1] = np.nan
        if counts is not None:
            times = np.bincount(found[found >= 0], minlength=len(known))
            others = zip(known, place, strict=True)
            unknown = [text for (text, _), at in others if at == self.width - 1]
            counts.add(np.array(place, dtype=np.int64), times, unknown)
        return rows[found]

    def encode_value(self, value: Any, learns: bool = True) -> list[float] | None:
        level, is_gap = ("", ""), is_missing(value)
        if isinstance(value, str):
            text = value.strip()
            is_gap = text in _GAPS and text not in self.levels
            level = text, in_text(text, self.decimal)
        elif not is_gap and type(value) is not float and not is_whole(value):
            return super().encode_value(value)
        elif not is_gap:
            level = (as_value(str(value)),) * 2
        row = [math.nan if is_gap else 0.0] * self.width
        if not is_gap:
            place, sign = self._spot(*level)
            row[place] = sign
        return row

    def _spot(self, text: str, value: str) -> tuple[int, float]:
        """The column of a level, and what it has there."""
        if self.kind == "levels":
            by_text, by_value = places(self.levels, self.decimal)
            return by_text.get(text, by_value.get(value, self.width - 1)), 1.0
        found = murmurhash3_32(text if _CODE.fullmatch(text) else value)  # 007 as it stands
        return abs(found) % self.width, 1.0 if found >= 0 else -1.0


# -- dates -----------------------------------------------------------------------------------------

ISO = "%Y-%m-%d"
_DAY = 86_400_000_000  # microseconds
_COUNTS = {"%s": 1_000_000, "%Q": 1000}
_FIRST, _MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)
_YEAR_1000 = (datetime(1000, 1, 1) - _FIRST) // _MICROSECOND
_WEEKDAY = 3  # of 1970-01-01, from Monday
_UTC = "UTC"
_UTCS = (_UTC, "+00:00", "Etc/UTC", "GMT", "Z")
_PLAIN = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.(?:\d{3}|\d{6}))?)?)?", re.ASCII)
_BESIDE = re.compile("^[^bBaApz]*%[YymdHIMS]%[YymdHIMS][^bBaApz]*$")
_OFFSET = r":\d\d(\.\d+)?(Z|[+-]\d\d(:?\d\d)?)$"


class Date(Column):
    """Parts of a moment: days since 1970 as they are, cycles by sine and cosine.

    `seen` is the zone whose hours the column has, as its first rows say, in the form of Parquet and
    frames, else UTC; and whether its text has offsets from UTC. Both are None before these rows.

    parts : some of `DATE_PARTS`
    written : the format of text and of numbers; None for text in ISO's form
    zone : the one whose hours it has, where that is known
    """

    kind = "dates"

    def __init__(
        self, column: str, parts: tuple[str, ...], written: str | None, zone: str | None = None
    ):
        super().__init__(column)
        self.parts, self.written, self.seen = parts, written, (zone, None)
        if zone not in (None, *_UTCS) and not _is_zone(zone):
            raise InputError(f"encoder: expected zones of dates, got {shown(zone)}")
        self.width = sum(1 if part == "days" else 2 for part in parts)

    @property
    def names(self) -> list[str]:
        return [
            f"{self.column} {name}"
            for part in self.parts
            for name in ([part] if part == "days" else [f"{part} sin", f"{part} cos"])
        ]

    def encode(self, array: Any, learns: bool = True, counts: LevelCounts | None = None) -> Floats:
        return self._parts(*self._in_zone(array, learns))

    def encode_value(self, value: Any, learns: bool = True) -> list[float] | None:
        if is_missing(value):
            return [math.nan] * self.width
        moment, (zone, zoned) = None, self.seen
        if (zone or _UTC) in _UTCS:
            if isinstance(value, str) and self.written in (None, ISO):
                moment, bare = _plain_moment(value), ":" not in value
                if moment is not None and zoned not in (None, bare):
                    moment = None
                elif moment is not None:
                    self.seen = zone, bare
            elif type(value) is datetime and value.tzinfo is None:
                moment = value
        if learns and zone is None:
            if moment is None:
                return None
            self.seen = _UTC, self.seen[1]
        if moment is None:
            return super().encode_value(value, learns)
        since = (moment - _FIRST) // _MICROSECOND
        values: list[float] = self._parts(np.array([since]), np.array([False]))[0].tolist()
        return values

    def _parts(self, moments: NDArray[np.int64], missing: NDArray[np.bool_]) -> Floats:
        """The columns of moments, in microseconds since 1970."""
        days, rest = np.divmod(moments, _DAY)
        of_day = rest / _DAY
        dates = days.astype("datetime64[D]")
        years = dates.astype("datetime64[Y]")
        first = years.astype(dates.dtype)
        following = (years + np.timedelta64(1, "Y")).astype(dates.dtype)
        cycles = {
            "hour": of_day,
            "weekday": ((days + _WEEKDAY) % 7 + of_day) / 7,
            "yearday": ((dates - first).astype(np.int64) + of_day)
            / (following - first).astype(np.int64),
        }
        columns = []
        for part in self.parts:
            if part == "days":
                columns.append(days + of_day)
            else:
                angle = 2 * np.pi * cycles[part]
                columns += [np.sin(angle), np.cos(angle)]
        values = np.stack(columns, axis=1)
        values[missing] = np.nan
        return values

    def _in_zone(self, array: Any, learns: bool) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """`moments` as clocks of the column's zone show them; what has no zone stays."""
        array, kind = plain(array)
        moments, missing = self.moments(array)
        own_zone = getattr(kind, "tz", None) if pa.types.is_timestamp(kind) else None
        zone, with_offset = self.seen
        if learns and zone is None and not missing.all():
            zone = own_zone or _UTC
            if zone not in _UTCS:
                self.note = self.note or f"its hours are those of {own_zone}, not of UTC"
        zoned = np.full(len(moments), own_zone is not None)
        if pa.types.is_string(kind):
            zoned = self._zoned(without_gaps(array))
            for has_offset in (True, False):
                if (zoned[~missing] == has_offset).any():
                    with_offset = has_offset if with_offset is None else with_offset
                    if with_offset != has_offset:
                        note = "times with an offset from UTC stand beside others, which are taken"
                        self.note = self.note or f"{note} as UTC"
        self.seen = zone, with_offset
        if (zone or _UTC) in _UTCS or not zoned.any():
            return moments, missing
        in_utc = pa.array(moments, pa.timestamp("us", zone))
        local = compute.local_timestamp(in_utc).cast(pa.int64()).to_numpy()
        return np.where(zoned, local, moments), missing

    def _zoned(self, array: Any) -> NDArray[np.bool_]:
        """(n,) where the text of a time says how far it is from UTC, or a date has no time."""
        if self.written is not None and any(code in self.written for code in ("%z", "%s", "%Q")):
            return np.ones(len(array), dtype=bool)
        found = compute.match_substring_regex(array, f"{_OFFSET}|^[^:]*$").fill_null(True)
        return np.asarray(found.to_numpy(zero_copy_only=False))

    def moments(self, array: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Microseconds since 1970, in UTC where they have a zone; and where they are missing."""
        array, kind = plain(array)
        if self.written in _COUNTS and is_numeric(kind):
            moments, bad = _since_1970(array, _COUNTS[self.written])
            missing = array.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
            if (bad & ~missing).any():
                raise ValueProblem(int((bad & ~missing).argmax()), "a moment too far away")
            return moments, missing
        if self.written is not None and is_numeric(kind):
            try:
                array, kind = array.cast(pa.int64()).cast(pa.string()), pa.string()
            except pa.ArrowInvalid:
                raise self._problem(0, f"{kind}", None) from None
        if pa.types.is_string(kind):
            array = without_gaps(array)
            missing = array.is_null().to_numpy(zero_copy_only=False)
            moments, bad = read_dates(array, self.written)
            if (bad & ~missing).any():
                row = int((bad & ~missing).argmax())
                text = array[row].as_py()
                raise self._problem(row, quoted(text), text, True)
            return moments, missing
        if pa.types.is_null(kind):
            array = array.cast(pa.timestamp("us"))
        elif pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            try:  # nanoseconds are cut off, what does not fit is an error
                array = array.cast(pa.timestamp("us"), safe=getattr(kind, "unit", "") != "ns")
            except pa.ArrowInvalid as error:
                raise ValueProblem(0, f"a moment too far away: {error}") from None
        elif pa.types.is_time(kind) and self.parts == ("hour",):
            array = array.cast(pa.time64("us"), safe=False)
        else:
            known: Any = array.drop_null() if pa.types.is_integer(kind) else ()
            raise self._problem(0, f"{kind}", str(known[0].as_py()) if len(known) else None)
        missing = array.is_null().to_numpy(zero_copy_only=False)
        return array.cast(pa.int64()).fill_null(0).to_numpy(), missing

    def _problem(
        self, row: int, found: str, text: str | None, is_text: bool = False
    ) -> ValueProblem:
        expected = "a date such as 2024-01-31 or 2024-01-31T12:00:00" if is_text else "a date"
        if self.written is not None:
            expected = f"a date as {self.written}"
        problem = ValueProblem(row, f"expected {expected}, found {found}", text)
        problem.may_be_label = False
        return problem


def _is_zone(name: str | None) -> bool:
    try:
        compute.local_timestamp(pa.array([0], pa.timestamp("us", name)))
    except pa.ArrowException:
        return False
    return True


def _plain_moment(text: str) -> datetime | None:
    """A date in ISO's form without an offset, as Arrow reads it; None where that has to tell."""
    try:
        return datetime.fromisoformat(text) if _PLAIN.fullmatch(text) else None
    except ValueError:
        return None


def read_dates(array: Any, written: str | None) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(n,) text as microseconds since 1970 in UTC, and (n,) where it is missing or no such date.

    array : of Arrow, trimmed
    written : the format, as `strptime` takes it; None for ISO's, with or without a time
    """
    if written in _COUNTS:
        whole = compute.match_substring_regex(array, r"^[+-]?[0-9]{1,18}$")
        counts = compute.if_else(whole, array, None).cast(pa.int64())
        return _since_1970(counts, _COUNTS[written])
    if written not in (None, ISO):
        return _by_format(array, written)
    array = compute.replace_substring_regex(array, r"(:\d\d\.\d{6})\d+", r"\1")
    zoned, naive = compute.match_substring_regex(array, _OFFSET), pa.timestamp("us")
    without = _cast(compute.if_else(zoned, None, array), naive)
    within = _cast(compute.if_else(zoned, array, None), pa.timestamp("us", _UTC)).cast(naive)
    found = compute.coalesce(without, within)
    bad = np.array(found.is_null().to_numpy(zero_copy_only=False))
    moments = np.array(found.cast(pa.int64()).fill_null(0).to_numpy())
    if found.null_count > array.null_count:  # such as 2024-1-5
        moments[bad], bad[bad] = _by_format(array.filter(pa.array(bad)), ISO)
    return moments, bad


def _since_1970(array: Any, scale: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(n,) numbers as microseconds, and (n,) where they are missing or too large."""
    counts = floats_of(array).to_numpy(zero_copy_only=False)
    bad = ~(np.abs(counts) <= 2**62 // scale)
    if pa.types.is_integer(array.type):  # which may be no floats
        whole = array.cast(pa.int64(), safe=False).fill_null(0).to_numpy()
        return np.where(bad, 0, whole) * scale, bad
    return np.rint(np.where(bad, 0, counts) * scale).astype(np.int64), bad


def _by_format(array: Any, written: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The same of text in a format."""
    if _BESIDE.search(written):  # 20240131: all digits of each number
        length = len(_FIRST.strftime(written))
        array = compute.if_else(compute.equal(compute.utf8_length(array), length), array, None)
    found = compute.strptime(array, format=written, unit="us", error_is_null=True)
    bad = np.array(found.is_null().to_numpy(zero_copy_only=False))
    moments = found.cast(pa.int64()).fill_null(0).to_numpy()
    if "%Y" in written:
        bad |= moments < _YEAR_1000
    if "%d" in written:
        # A day that its month has not is one of the next month to Arrow; in UTC it may be another.
        day = compute.day(found).fill_null(15).to_numpy()
        near = np.flatnonzero((day <= 4) | ((day >= 28) & ("%z" in written)))
        texts = array.take(pa.array(near)).dictionary_encode()
        wrong = np.array([not _has_day(text, written) for text in texts.dictionary.to_pylist()])
        if wrong.any():
            bad[near] |= wrong[texts.indices.to_numpy()]
    return np.where(bad, 0, moments), bad


def _cast(array: Any, kind: Any) -> Any:
    """An Arrow array of text as moments, null where it is none."""
    try:
        return array.cast(kind)
    except pa.ArrowInvalid:
        if len(array) == 1:
            return pa.nulls(1, kind)
        half = len(array) // 2
        return pa.concat_arrays([_cast(array[:half], kind), _cast(array[half:], kind)])


def _has_day(text: str, written: str) -> bool:
    try:
        return datetime.strptime(text, written) is not None
    except ValueError:
        return False


# -- words -----------------------------------------------------------------------------------------

_ALONE = (  # scripts that are written without blanks: each character is a word, and so is each pair
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_JOINERS = "\u200c\u200d"  # within words of Persian and of India
_FACES = r"[:;=]-?[()]|[:;=]-[/|\\dpo]|<3"
_PUNCTUATION = "\u3000-\u303f\ufe00-\ufe0f\ufe10-\ufe6f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff65"


class Words(Column):
    """Words and pairs of words, hashed, as scikit-learn's HashingVectorizer has them.

    Of length 1 in all. Text that is missing has no words. They are sparse: (n, width) CSR.
    """

    kind = "words"

    def __init__(self, column: str, width: int):
        super().__init__(column)
        self.width = width

    @property
    def names(self) -> list[str]:
        return [f"{self.column}#{i}" for i in range(self.width)]

    def encode(self, array: Any, learns: bool = True, counts: LevelCounts | None = None) -> Any:
        texts = as_text(array).fill_null("").to_pylist()
        return _hashing(self.width).transform(texts)


@lru_cache
def _hashing(width: int) -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(
        n_features=width, ngram_range=(1, 2), token_pattern=_word(), preprocessor=_in_one_form
    )


@lru_cache
def _word() -> str:
    """The regular expression of a word.

    Letters and digits that follow each other, with vowel signs and other marks, and with ++ or #
    behind, as in C++; single ones, too, but for those after an apostrophe; each character of
    Chinese, Japanese and others without blanks; each emoji; and faces such as :-).
    """
    points = [i for i in range(0x300, 0x20000) if unicodedata.category(chr(i))[0] == "M"]
    ends = [i for i, after in zip(points, [*points[1:], 0], strict=True) if after != i + 1]
    starts = [
        points[0],
        *(after for i, after in pairwise(points) if after != i + 1),
    ]
    ranges = zip(map(chr, starts), map(chr, ends), strict=True)
    marks = "".join(first if first == last else f"{first}-{last}" for first, last in ranges)
    letter = f"[^\\W{_ALONE}]"
    whole = f"{letter}(?:{letter}|[{marks}{_JOINERS}])+"
    single = f"(?<!\\w['\u2019]){letter}"
    sign = f"(?![\\w\\s{marks}{_JOINERS}{_PUNCTUATION}])[\u2190-\U0010ffff]"  # from arrows on
    return f"(?:{whole}|{single})(?:\\+\\+|#(?!\\w))?|[{_ALONE}][{marks}]*|{_FACES}|{sign}"


def _in_one_form(text: str) -> str:
    return unicodedata.normalize("NFC", text.lower())


# -- what rows before say of rows ------------------------------------------------------------------


def filled_by_last(values: Floats, last: Floats) -> tuple[Floats, Floats]:
    """Rows (n, d) filled by the last values, and what these are (d,) after them."""
    rows = np.vstack([last, values])
    place = np.where(np.isnan(rows), 0, np.arange(len(rows))[:, None])
    filled = np.take_along_axis(rows, np.maximum.accumulate(place, axis=0), axis=0)
    return np.ascontiguousarray(filled[1:]), filled[-1].copy()


def sums_of(
    values: Floats, totals: Floats, counts: NDArray[np.int64]
) -> tuple[Floats, NDArray[np.int64]]:
    """(n + 1, d) the sums and numbers of values before each row, and after the last one.

    They are added one after the other, so that the length of a chunk does not matter.
    """
    has_value = ~np.isnan(values)
    with np.errstate(over="ignore"):
        sums = np.add.accumulate(np.vstack([totals, np.where(has_value, values, 0.0)]))
    return sums, np.add.accumulate(np.vstack([counts, has_value]), dtype=np.int64)


class Lag:
    """Columns of the labels so many rows back.

    One so far back that is not known yet, or is missing, is the last one known at that row; before
    the first row it is the mean of those known so far, 0 where there is none.

    label : what labels become: a number, or their levels
    lags : rows back; none where there are no such columns
    delay : rows that come between a row and its label
    every : labels come after each so many rows, all that there are by then
    rows : met so far
    window : (w, v) the labels of the last rows, NaN where they are missing
    last, totals, counts : (v,) of the rows before the window: the last values, 0 before the first;
        their sums, their numbers
    """

    def __init__(self, label: Column, lags: tuple[int, ...], delay: int, every: int):
        self.label, self.lags, self.delay, self.every = label, lags, delay, every
        self.names = [f"{name} lag {lag}" for lag in lags for name in label.names]
        self.rows, width = 0, label.width
        self.window: Floats = np.empty((0, width))
        self.last, self.totals = np.zeros(width), np.zeros(width)
        self.counts = np.zeros(width, dtype=np.int64)

    @property
    def _reach(self) -> int:
        """Rows back that are looked at."""
        return max(*self.lags, self.delay + self.every)

    def known(self, labels: Any, rows: int) -> Floats:
        """(n, v) what labels become, NaN where they are not known."""
        if labels is None or not self.lags:
            return np.full((rows, self.label.width), np.nan)
        try:
            return np.asarray(self.label.encode(labels))
        except ValueProblem as problem:
            if problem.text is not None:
                problem.declared = ["lags are of numbers; declare the levels of the label, too"]
            raise

    def encode(self, values: Floats) -> Floats:
        """(n, lags x v) what the next rows have, of values (n, v); nothing changes."""
        n, first = len(values), self.rows - len(self.window)  # the row that the window begins with
        rows = np.vstack([self.window, values])
        known = filled_by_last(rows, self.last)[0]
        sums, counts = sums_of(rows, self.totals, self.counts)
        now = np.arange(self.rows, self.rows + n)
        n_known = np.maximum(now - now % self.every - self.delay, 0)  # values, by then
        means = (sums / np.maximum(counts, 1))[np.maximum(n_known - first, 0)]
        found = []
        for lag in self.lags:
            place = np.minimum(now - lag, n_known - 1)
            values_back = known[np.maximum(place - first, 0)]
            found.append(np.where((place < 0)[:, None], means, values_back))
        return np.hstack(found)

    def learn(self, values: Floats) -> None:
        """Rows have come, with values (n, v); no array changes."""
        rows = np.vstack([self.window, values])
        old, self.window = rows[: -self._reach], rows[-self._reach :].copy()
        self.rows += len(values)
        if len(old):
            self.last = filled_by_last(old, self.last)[1]
            sums, counts = sums_of(old, self.totals, self.counts)
            self.totals, self.counts = sums[-1].copy(), counts[-1].copy()

    def describe(self) -> list[dict[str, Any]]:
        window = [None if np.isnan(value) else value for value in self.window.ravel().tolist()]
        rest = {name: getattr(self, name).tolist() for name in _VALUES}
        return [{"rows": self.rows, "window": window, **rest}]

    def restore(self, described: Any) -> None:
        """Go on from there; InputError where it is nothing that `describe` gives."""
        found = read_as(list[_LagState], described, "encoder: lags")
        if len(found) != 1:
            raise InputError(f"encoder: no state of lags: {shown(described)}")
        rows, width = found[0].rows, self.label.width
        sizes = {"window": min(rows, self._reach) * width, **dict.fromkeys(_VALUES, width)}
        for name, size in sizes.items():
            values = getattr(found[0], name)
            if len(values) != size:
                raise InputError(f"encoder: expected {size} numbers as {name} of lags")
            values = [math.nan if value is None else value for value in values]
            setattr(self, name, np.array(values, dtype=int if name == "counts" else float))
        self.rows, self.window = rows, self.window.reshape(-1, width)


@dataclass
class _LagState:
    """The labels that were met, as `Lag` has them."""

    rows: Count
    window: list[float | None]
    last: list[float]
    totals: list[float]
    counts: list[Count]


_VALUES = "last", "totals", "counts"
