"""Labels: what those of a table may be, how those of other data are spelled, and new ones."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.errors import InputError, cut, printable
from kernbrook.streams import limits
from kernbrook.streams.booleans import all_boolean, as_booleans, spelled_as
from kernbrook.streams.loading import compute, pa
from kernbrook.streams.records import is_number, quoted, without_gaps
from kernbrook.streams.stream import EXACT, Labels, all_whole, has_label
from kernbrook.streams.tables.hints import CODE
from kernbrook.streams.tables.values import (
    ValueProblem,
    Written,
    as_text,
    as_value,
    in_commas,
    plain,
)

# -- those of a table ------------------------------------------------------------------------------

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
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
        numbers = None if self.numbers is None else self.numbers[start : start + rows]
        return self._replace(text=self.text[start : start + rows], numbers=numbers)


def label_cells(
    array: Any, declared: Collection[str], written: Written, typed: bool = True
) -> LabelCells:
    """The labels that an Arrow array holds; ValueProblem where one can be none.

    declared : levels, which are labels whatever they look like
    written : how numbers in text are
    typed : whether the format tells text from numbers
    """
    text, of = without_gaps(as_text(array), declared), plain(array)[1]
    nul = compute.ends_with(text, "\0")  # which NumPy's text does not keep
    long = compute.greater(compute.utf8_length(text), limits.LONGEST_LABEL)
    problems = "that ends with the character NUL", f"of over {limits.LONGEST_LABEL:,} characters"
    for problem, found in zip(problems, (nul, long), strict=True):
        if (row := compute.index(found, True).as_py()) >= 0:
            raise ValueProblem(row, f"a label {problem}")
    is_text = pa.types.is_string(of)
    numbers = _numbers(text, written if is_text else Written())
    kind = "float" if pa.types.is_floating(of) else "whole"
    kind = "text" if is_text else "truth" if pa.types.is_boolean(of) else kind
    return LabelCells(text, numbers, kind if typed and text.null_count < len(text) else "")


def _numbers(text: Any, written: Written) -> NDArray[np.float64] | None:
    """Labels as numbers, None where one is not; ValueProblem where a float does not hold one."""
    if written == Written() and is_number(text[0].as_py() or "0"):  # a cast that fails takes long
        try:
            numbers = text.cast(pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            pass
        else:
            if (np.abs(numbers) < EXACT).sum() == len(text) - text.null_count:
                return np.asarray(numbers)
    found: dict[str | None, float] = {None: math.nan}
    for value in text.drop_null().unique().to_pylist():
        marked = written.bare(value)
        if not is_number(marked):
            return None
        found[value] = float(marked)
    values = text.to_pylist()
    numbers = np.array([found[value] for value in values])
    for row in np.flatnonzero(~(np.abs(numbers) < EXACT)).tolist():
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

    Attributes
    ----------
    missing, present : rows without a label, and with one
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

    def add(self, cells: LabelCells) -> None:
        self.missing += cells.text.null_count
        self.present += len(cells.text) - cells.text.null_count
        self._longest = max(self._longest, _longest(cells))
        self._numeric = self._numeric and cells.numbers is not None
        self._whole = self._whole and _whole_or_missing(cells.numbers)
        texts = cells.text.drop_null()
        if len(texts):
            self._kinds.setdefault(cells.kind, texts[0].as_py())
            if self._kinds.keys() - {"float", "whole"} and len(self._kinds) > 1:
                self._several = list(self._kinds.values())
            self._several = self._several or cells.several
            self._marked = self._marked and (cells.kind == "float" or _all(texts, _POINT))
            self._code = self._code or _first(texts, CODE)
        if not self._boolean and self._distinct is None:
            return
        here = {entry["values"]: entry["counts"] for entry in texts.value_counts().tolist()}
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
        """All rows were met: now the type is known. What has to be said of it, a sentence each."""
        if self._several and not (self._numeric and not self._whole):
            raise InputError(
                f"labels of several kinds, such as {' and '.join(self._several)}: expected text "
                "alone, numbers alone, or true and false alone; write all of them as text"
            )
        notes, typed = list[str](), "text" in self._kinds
        self._boolean = self._boolean and not typed
        if self._numeric and self._whole and (typed or self._code):
            self._numeric = False
            if not typed:
                notes = [f"labels with a 0 before digits, such as {quoted(self._code)}, are text"]
        elif not self._numeric:
            notes = _note_numbers(self._some, self._written)
            if not self._boolean and (pair := two_alike(list(self._some)[:_MOST_COMPARED])):
                alike = " and ".join(map(quoted, pair))
                notes.append(f"labels {alike} are two; write them alike if they are one")
        if self._distinct is None and self._marked:  # as programs write numbers with fractions
            self._whole = False
        self.dtype = np.dtype(np.int64 if self._whole else np.float64)
        if not self._numeric:
            self.dtype = np.dtype(np.bool_ if self._boolean else f"<U{self._longest}")
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
        return notes

    def labels(self, cells: LabelCells) -> Labels | None:
        """(n,) the labels of rows; None where these are not of the type that was found."""
        if cells.text.null_count and not self.missing:
            return None
        if self._numeric:
            if cells.numbers is None:
                return None
            fits = self.present_dtype != np.int64 or _whole_or_missing(cells.numbers)
            return cells.numbers.astype(self.dtype) if fits else None
        labels = cells.text.to_numpy(zero_copy_only=False)
        labelled = labels != None  # noqa: E711
        if self._boolean:
            if not all_boolean(labels[labelled]):
                return None
            labels[labelled] = as_booleans(labels[labelled])
            return labels.astype(self.dtype)
        return labels.astype(self.dtype) if _longest(cells) <= self._longest else None


def _longest(cells: LabelCells) -> int:
    return int(compute.max(compute.utf8_length(cells.text)).as_py() or 0)


def _all(text: Any, pattern: str) -> bool:
    return bool(compute.all(compute.match_substring_regex(text, pattern)).as_py())


def _first(text: Any, pattern: str) -> str:
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


def _whole_or_missing(numbers: NDArray[np.float64] | None) -> bool:
    return numbers is None or all_whole(numbers[~np.isnan(numbers)])


def _note_numbers(labels: Collection[str], now: Written) -> list[str]:
    """What has to be said of labels that are taken as text, and are all numbers, it seems."""
    notes = list[str]()
    for label in labels:
        ways = " or ".join(way.options_beside(now) for way, _ in now.others(label))
        if not ways and now.read(label) is None:
            return []
        if ways:
            such = f"labels such as {quoted(label)}"
            notes.append(f"{such} are taken as text, not as numbers; {ways}")
    return notes[:1]


def or_the_label(column: str) -> str:
    """What to add where text stands in a column of features, and the label was not named."""
    name = cut(shlex.quote(printable(column)), 300)
    return f", or is it the label? --label{'=' if name.startswith('-') else ' '}{name}"


# -- those of other data, as the classes of a model are written ------------------------------------


def as_classes(
    y: NDArray[Any], classes: NDArray[Any], before: int | NDArray[np.int64] = 0
) -> NDArray[Any]:
    """Labels (n,) of other data as the classes (c,) of a model are written; those of no class stay.

    NaN or None is none, and stays. InputError, which names a row after those `before`, or by its
    own number there, where the classes are numbers, or true and false, and a label is none.

    Examples
    --------
    >>> as_classes(np.array([1.0, 2.0, 3.0]), np.array(["01", "2", "x"]))
    array(['01', '2', '3'], dtype='<U2')
    >>> as_classes(np.array(["TRUE", "maybe"]), np.array(["False", "True"]))
    array(['True', 'maybe'], dtype='<U5')
    >>> as_classes(np.array(["TRUE", "false"]), np.array([False, True]))
    array([ True, False])
    """
    labelled = has_label(y)
    if not labelled.all():
        found = np.full(len(y), None if classes.dtype.kind in "UOb" else np.nan)
        found[labelled] = as_classes(y[labelled], classes, before + np.flatnonzero(labelled))
        return found
    y = spelled_as(y, classes)
    if classes.dtype.kind == "b" and y.dtype.kind == "O":
        _refuse(y, [not isinstance(label, bool) for label in y], classes, before)
    if classes.dtype.kind not in "UO":
        numbers = y
        if y.dtype.kind not in "biuf":
            values = [number_of(label) for label in y.tolist()]
            _refuse(y, [number is None for number in values], classes, before)
            numbers = np.array(values, dtype=np.float64)
        kept = numbers.astype(classes.dtype)
        _refuse(y, numbers != kept, classes, before)
        return kept
    if y.dtype.kind in "UO":
        return y
    texts = sorted(map(str, classes), key=lambda text: text == as_value(text))  # these come first
    by_value = {value: text for text in texts if (value := number_of(text)) is not None}
    plain = (by_value.get(value, as_value(str(value))) for value in y.tolist())
    return np.array(list(plain))


def as_numbers(y: NDArray[Any], before: int = 0) -> NDArray[Any]:
    """Labels as numbers, also where they come as text; InputError where one is none."""
    if y.dtype.kind in "biuf":
        return y
    found = [math.nan if label is None else number_of(label) for label in y.tolist()]
    if None in found:
        row = found.index(None)
        problem = f"expected a number as label, found {str(y[row])!r:.40}"
        raise InputError(f"row {before + row + 1}: {problem}")
    return np.array(found, dtype=np.float64)


def _refuse(
    y: NDArray[Any], wrong: Any, classes: NDArray[Any], before: int | NDArray[np.int64]
) -> None:
    """InputError for the first label that is wrong, if there are any."""
    if not np.any(wrong):
        return
    row = int(np.argmax(wrong))
    place = before[row] if isinstance(before, np.ndarray) else before + row
    kind = "true and false" if classes.dtype.kind == "b" else "numbers"
    problem = f"expected a label such as {listed(classes)}, which are {kind}"
    raise InputError(f"row {place + 1}: {problem}, found {str(y[row])!r:.40}")


def near_label(label: Any, known: NDArray[Any]) -> Any:
    """The known label that another seems to be in other writing; None where it is like none.

    Case and blanks, words for yes and no, and one letter of five or more make no other label, but
    for letters by which known labels differ.

    Examples
    --------
    >>> known = np.array(["late", "no", "ontime", "yes"])
    >>> [near_label(label, known) for label in ("Yes ", "0", "on time", "ontme", "cancelled")]
    ['yes', 'no', 'ontime', 'ontime', None]
    >>> near_label(2, np.array([0, 1])), near_label("class2", np.array(["class1"]))
    (None, None)
    >>> near_label("group C", np.array(["group A", "group B"])), near_label("T", np.array(["Y"]))
    (None, None)
    """
    if known.dtype.kind not in "UO":
        return None
    text, texts = _folded(label), {name: _folded(name) for name in known.tolist()}
    for name, other in texts.items():
        if _same(text, other):
            return name
        if _one_letter(text, other) and not any(
            _one_letter(other, third) for third in texts.values()
        ):
            return name
    return None


def two_alike(labels: Collection[str]) -> tuple[str, str] | None:
    """Two labels that differ by case, blanks or words for yes and no alone, if there are any.

    Examples
    --------
    >>> two_alike(["no", "Yes", "yes"]), two_alike(["a", "b"])
    (('Yes', 'yes'), None)
    """
    folded = [(label, _folded(label)) for label in labels]
    for i, (label, text) in enumerate(folded):
        for name, other in folded[:i]:
            if _same(text, other):
                return name, label
    return None


_SAME = ({"yes", "y", "true", "t", "1", "1.0"}, {"no", "n", "false", "f", "0", "0.0"})
_LONG = 5  # letters, from which on one more or less is a slip


def _same(text: str, other: str) -> bool:
    """Whether two folded texts are one, or words for the same; T and Y may be letters."""
    if text == other:
        return True
    letters = len(text) == len(other) == 1 and (text + other).isalpha()
    return not letters and any({text, other} <= words for words in _SAME)


def _folded(label: Any) -> str:
    return "".join(str(label).casefold().split())


def _one_letter(text: str, other: str) -> bool:
    """Whether one letter more, less or in another's place makes one long text of the other."""
    short, long = sorted((text, other), key=len)
    if text == other or len(short) < _LONG or len(long) - len(short) > 1:
        return False
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(short, long, strict=False))
    same, swapped = len(list(alike)), len(short) == len(long)
    changed = long[same] + short[same : same + swapped]
    return changed.isalpha() and long[same + 1 :] == short[same + swapped :]


def listed(labels: NDArray[Any]) -> str:
    """The first labels, for a message.

    Examples
    --------
    >>> listed(np.arange(12))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...'
    """
    first = [cut(str(label)) for label in labels[:10].tolist()]
    return ", ".join([*first, *["..."] * (len(labels) > 10)])


def number_of(value: Any) -> float | None:
    """A number or the text of one; whole ones stay whole, since not all are floats."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if isinstance(value, (int, str)) and number.is_integer():
        with suppress(ValueError):  # "1e3"
            return int(value)
    return number if math.isfinite(number) else None


# -- those that a model does not know --------------------------------------------------------------

_TOLD = 5


def new_labels(
    y: NDArray[Any], known: NDArray[Any], before: int, named: Sequence[Any] | None
) -> tuple[NDArray[Any], dict[Any, int]]:
    """Labels as the known classes are written, and the first row of each that is new, from 1.

    InputError where a new label is none of those named, or nobody named it and it seems to be a
    known one; or as `as_classes`.

    named : all labels that may come, where somebody has named them

    Examples
    --------
    >>> new_labels(np.array(["maybe", "yes", "maybe"]), np.array(["no", "yes"]), 10, None)[1]
    {'maybe': 11}
    """
    y = as_classes(y, known, before)
    found: dict[Any, int] = {}
    for row in np.flatnonzero(has_label(y) & ~np.isin(y, known)).tolist():
        label = y[[row]].tolist()[0]
        if label not in found:
            found[label] = before + row + 1
            _check(label, found[label], known, named)
    return y, found


def _check(label: Any, row: int, known: NDArray[Any], named: Sequence[Any] | None) -> None:
    """InputError where a new label is none of those named, or seems to be a known one."""
    if named is not None and label in named:
        return
    where, ways = f"row {row:,}: the label {label!r:.40}", _ways(known, label)
    if named is not None:
        raise InputError(f"{where} is none of {listed(np.array(named))}, which were named; {ways}")
    near = near_label(label, known)
    if near is not None:
        raise InputError(f"{where} is new; is it {near!r:.40}? Write it so in the data, or {ways}")


def _ways(known: NDArray[Any], label: Any) -> str:
    if len(known) > 10:
        return f"name all labels and {label!r:.40} in classes (--classes) to learn it as one more"
    named = ",".join(in_commas(str(name)) for name in [*known, label])
    return f"classes (--classes {cut(shlex.quote(named), 1000)}) learns it as one more"


def check_some_known(found: Sequence[Any], known: NDArray[Any], name: str) -> None:
    """InputError where there are labels in data, and the model knows none of them."""
    if len(found) and not np.isin(np.array(found), known).any():
        raise InputError(
            f"{name}: expected labels such as {listed(known)}, found {listed(np.array(found))} "
            "alone; write them so in the data, or name all of both in classes (--classes)"
        )


def note_new_labels(labels: Mapping[Any, int]) -> list[str]:
    """Labels that the model did not know before, and their first rows, in a sentence.

    Examples
    --------
    >>> note_new_labels({"maybe": 11})
    ['new labels, and the first row of each, from 1: maybe (row 11)']
    """
    if not labels:
        return []
    some = [f"{cut(str(label))} (row {row:,})" for label, row in list(labels.items())[:_TOLD]]
    more = ", ..." if len(labels) > _TOLD else ""
    return [f"new labels, and the first row of each, from 1: {', '.join(some)}{more}"]
