"""Labels of tables: what they may be, and what is said where one is not."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError, printable
from kernbrook.streams import limits
from kernbrook.streams.booleans import all_boolean, as_booleans
from kernbrook.streams.records import is_number, quoted, without_gaps
from kernbrook.streams.stream import Labels
from kernbrook.streams.tables.column_kinds import as_text, is_text
from kernbrook.streams.tables.column_problems import ValueProblem
from kernbrook.streams.tables.label_spelling import two_alike
from kernbrook.streams.tables.written_numbers import Written

_EXACT_INTEGERS = 2.0**53
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
CODE = r"^[+-]?0[0-9]+$"  # no program writes a number so
_POINT = r"\.[0-9]*$"
_MOST_COMPARED = 100  # labels
_MANY_KINDS = 20  # of whole numbers: more may be counts


class LabelCells(NamedTuple):
    """The labels of some rows: as Arrow text, and as numbers where all of them are.

    One that is missing is null, and NaN.

    kind : of the values: "text", "truth", "float" or "whole"; empty where all are missing, and
        where the format has text alone
    several : a value of each kind, where there were several before they became text
    """

    text: Any
    numbers: NDArray[np.float64] | None
    kind: str = ""
    several: Sequence[str] = ()

    def part(self, start: int, rows: int) -> LabelCells:
        """So many of them from one on."""
        numbers = None if self.numbers is None else self.numbers[start : start + rows]
        return self._replace(text=self.text[start : start + rows], numbers=numbers)


def label_cells(
    array: Any, declared: Collection[str], written: Written, typed: bool = True
) -> LabelCells:
    """The labels that an Arrow array holds.

    Parameters
    ----------
    array : of text, numbers or booleans
    declared : levels, which are labels whatever they look like
    written : how numbers in text are
    typed : whether the format tells text from numbers

    Raises
    ------
    ValueProblem
        One is long, ends with NUL, is infinite, or an integer that a float does not hold.
    """
    from pyarrow import compute

    text = without_gaps(as_text(array), declared)
    if compute.any(nul := compute.ends_with(text, "\0")).as_py():  # NumPy's text does not keep it
        problem = "a label that ends with the character NUL"
        raise ValueProblem(compute.index(nul, True).as_py(), problem)
    lengths = compute.utf8_length(text)
    if (compute.max(lengths).as_py() or 0) > limits.LONGEST_LABEL:
        long = compute.greater(lengths, limits.LONGEST_LABEL)
        problem = f"a label of over {limits.LONGEST_LABEL:,} characters"
        raise ValueProblem(compute.index(long, True).as_py(), problem)
    numbers = _numbers(text, written if is_text(array) else Written())
    return LabelCells(text, numbers, _kind(array) if typed and text.null_count < len(text) else "")


def _kind(array: Any) -> str:
    """Of the values of an Arrow array, as `LabelCells` has it."""
    import pyarrow as pa

    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if is_text(array):
        return "text"
    if pa.types.is_boolean(kind):
        return "truth"
    return "float" if pa.types.is_floating(kind) else "whole"


def _numbers(text: Any, written: Written) -> NDArray[np.float64] | None:
    """Labels as numbers, None where one is not; ValueProblem where a float does not hold one."""
    import pyarrow as pa

    if written == Written() and is_number(text[0].as_py() or "0"):  # a cast that fails takes long
        try:
            numbers = text.cast(pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            pass
        else:
            if (np.abs(numbers) < _EXACT_INTEGERS).sum() == len(text) - text.null_count:
                return np.asarray(numbers)
    found: dict[str | None, float] = {None: math.nan}
    for value in text.drop_null().unique().to_pylist():
        marked = written.bare(value)
        if not is_number(marked):
            return None
        found[value] = float(marked)
    values = text.to_pylist()
    numbers = np.array([found[value] for value in values])
    for row in np.flatnonzero(~(np.abs(numbers) < _EXACT_INTEGERS)).tolist():
        if values[row] is None:
            continue
        if not math.isfinite(numbers[row]):
            raise ValueProblem(row, f"{quoted(values[row])} is not finite")
        bare = written.bare(values[row])
        if _INTEGER.fullmatch(bare) and int(bare) != float(numbers[row]):
            raise ValueProblem(
                row,
                f"a 64-bit float does not hold {values[row]}: write numbers with a decimal point, "
                "and labels with a letter",
            )
    return numbers


class LabelType:
    """What all labels of a table are, from a reading of them.

    int64 where all are integers, float64 where all are numbers, bool where all are true and false,
    else text. Text of a format that tells text from numbers stays text, unless it has a fraction;
    so do digits after a 0, such as 007. Where some are missing, numbers are float64, and NaN there,
    and all others are an array of objects, and None there.

    Parameters
    ----------
    written : how numbers in text are

    Attributes
    ----------
    missing : rows without a label
    present : rows with one
    dtype, present_dtype : of all labels, and of those that are there
    classes : the labels, each once and sorted; None where they are very many
    seem_counts : whether they are whole numbers as counts have them: many, that follow each other
    """

    def __init__(self, written: Written):
        self._written = written
        self.missing = self.present = 0
        self._longest = 0
        self._numeric = self._whole = self._boolean = self._marked = True
        self._kinds = dict[str, str]()  # the first label of each
        self._several: Sequence[str] = ()
        self._code = ""  # the first one
        self._distinct: Counter[str] | None = Counter()
        self._some: Collection[str] = ()  # of the labels, where there are many
        self._numbers: set[float] = set()
        self.dtype: np.dtype[Any] = np.dtype(np.int64)
        self.present_dtype = self.dtype
        self.classes: Labels | None = None
        self.seem_counts = False

    def meet(self, cells: LabelCells) -> None:
        """Take in the labels of more rows."""
        self.missing += cells.text.null_count
        self.present += len(cells.text) - cells.text.null_count
        self._longest = max(self._longest, _longest(cells))
        if cells.numbers is None:
            self._numeric = False
        else:
            self._whole = self._whole and _whole_or_missing(cells.numbers)
        there = cells.text.drop_null()
        if len(there):
            self._kinds.setdefault(cells.kind, there[0].as_py())
            if self._kinds.keys() - {"float", "whole"} and len(self._kinds) > 1:
                self._several = list(self._kinds.values())
            self._several = self._several or cells.several
            self._marked = self._marked and (cells.kind == "float" or _all(there, _POINT))
            self._code = self._code or _first(there, CODE)
        if not self._boolean and self._distinct is None:
            return
        here = {one["values"]: one["counts"] for one in there.value_counts().tolist()}
        self._boolean = self._boolean and all_boolean(here)
        if self._distinct is None:
            return
        self._distinct.update(here)
        self._some = self._distinct
        if cells.numbers is not None:
            self._numbers.update(cells.numbers[~np.isnan(cells.numbers)].tolist())
        if len(self._distinct) > limits.MOST_CLASSES:
            self._distinct = None

    def finish(self) -> list[str]:
        """All rows were met: now the type is known. What has to be said of it, a sentence each.

        Raises
        ------
        InputError
            They are of several kinds.
        """
        if self._several and not (self._numeric and not self._whole):
            raise InputError(
                f"labels of several kinds, such as {' and '.join(self._several)}: expected text "
                "alone, numbers alone, or true and false alone; write all of them as text"
            )
        told, typed = list[str](), "text" in self._kinds
        self._boolean = self._boolean and not typed
        if self._numeric and self._whole and (typed or self._code):
            self._numeric = False
            if not typed:
                told = [f"labels with a 0 before digits, such as {quoted(self._code)}, are text"]
        elif not self._numeric:
            told = _told_of(self._some, self._written)
            if not self._boolean and (pair := two_alike(list(self._some)[:_MOST_COMPARED])):
                one, other = map(quoted, pair)
                told.append(f"labels {one} and {other} are two; write them alike if they are one")
        if self._distinct is None and self._marked:  # as programs write numbers with fractions
            self._whole = False
        self.dtype = self._dtype()
        if self._distinct is not None:
            found = self._numbers if self._numeric else self._distinct
            classes = np.array(sorted(found))
            self.classes = np.unique(as_booleans(classes)) if self._boolean else classes
            self.classes = self.classes.astype(self.dtype)
            self.seem_counts = self.dtype == np.int64 and _may_count(
                self.classes, self._distinct, self._marked
            )
        self.present_dtype = self.dtype
        if self.missing:
            self.dtype = np.dtype(np.float64 if self._numeric else object)
        return told

    def _dtype(self) -> np.dtype[Any]:
        if self._numeric:
            return np.dtype(np.int64 if self._whole else np.float64)
        return np.dtype(np.bool_ if self._boolean else f"<U{self._longest}")

    def labels(self, cells: LabelCells) -> Labels | None:
        """(n,) the labels of rows; None where these are not of the type that was found."""
        if cells.text.null_count and not self.missing:
            return None
        if self._numeric:
            if cells.numbers is None:
                return None
            if self.present_dtype == np.int64 and not _whole_or_missing(cells.numbers):
                return None
            return cells.numbers.astype(self.dtype)
        labels = cells.text.to_numpy(zero_copy_only=False)
        there = labels != None  # noqa: E711
        if self._boolean:
            if not all_boolean(labels[there]):
                return None
            labels[there] = as_booleans(labels[there])
            return labels.astype(self.dtype)
        return labels.astype(self.dtype) if _longest(cells) <= self._longest else None


def _longest(cells: LabelCells) -> int:
    from pyarrow import compute

    return int(compute.max(compute.utf8_length(cells.text)).as_py() or 0)


def _all(text: Any, pattern: str) -> bool:
    """Whether all text of an Arrow array is of a pattern."""
    from pyarrow import compute

    return bool(compute.all(compute.match_substring_regex(text, pattern)).as_py())


def _first(text: Any, pattern: str) -> str:
    """The first text of an Arrow array that is of a pattern; empty where none is."""
    from pyarrow import compute

    place = compute.index(compute.match_substring_regex(text, pattern), True).as_py()
    return "" if place < 0 else str(text[place].as_py())


def _may_count(classes: Labels, times: Mapping[str, int], marked: bool) -> bool:
    """Whether many whole numbers seem to be counts.

    They have a point, most of very many came once, or they are half of a range and one came once.
    """
    several, once = len(classes), sum(count == 1 for count in times.values())
    if several <= _MANY_KINDS:
        return False
    rare = several > 2 * _MANY_KINDS and 2 * once >= several
    whole_range = 2 * several >= int(classes[-1]) - int(classes[0]) + 1
    return marked or rare or (once > 0 and whole_range)


def _whole_or_missing(numbers: NDArray[np.float64]) -> bool:
    return all_whole(numbers[~np.isnan(numbers)])


def all_whole(numbers: NDArray[np.float64]) -> bool:
    """Whether all are integers that a float holds."""
    return bool(((numbers == np.rint(numbers)) & (np.abs(numbers) <= _EXACT_INTEGERS)).all())


def _told_of(labels: Collection[str], now: Written) -> list[str]:
    """What has to be said of labels that are taken as text, and are all numbers, it seems."""
    helps, odd = list[str](), ""
    for label in labels:
        ways = [way for way, _ in now.others(label) if not any(map(str.isalpha, way.unit))]
        if not ways and now.read(label) is None:
            return []
        if ways and not odd:
            odd, helps = label, [way.told_from(now) for way in ways if not way.unit]
    if not odd:
        return []
    ways_out = " or ".join(helps) or "write them as plain numbers, if they are numbers"
    return [f"labels such as {quoted(odd)} are taken as text, not as numbers; {ways_out}"]


def or_the_label(column: str) -> str:
    """What to add where text stands in a column of features, and the label was not named."""
    name = f"{shlex.quote(printable(column)):.1000}"
    return f", or is it the label? --label{'=' if name.startswith('-') else ' '}{name}"
