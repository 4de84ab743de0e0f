"""What of a question is shown to a person, in the terminal and on the page alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from kernbrook.errors import UnknownNameError

if TYPE_CHECKING:
    from kernbrook.evaluation.sessions.answers import Question
    from kernbrook.evaluation.sessions.labelling import Labelling
    from kernbrook.streams import Stream

KNOWN = 10  # rows from which on it is said what is usual
WHOLE = 1e15  # whole numbers below it are shown with all their digits
MISSING = "missing"
LONG = 1e6  # from here on means are shown in powers of ten


class Cell(NamedTuple):
    """A column of a row.

    Attributes
    ----------
    name, value : as text
    usual : what is usual, as text; "" where that is not known
    away : how unusual the value is: deviations from the mean, of the farthest that it became
    """

    name: str
    value: str
    usual: str
    away: float


class Shown(NamedTuple):
    """What of a row a person is shown.

    Attributes
    ----------
    text : of the column that was named, and of columns of words; None where there is none
    image : of the column that was named; None where there is none
    cells : columns of the table, or features of other data
    left : how many of these are left out
    """

    text: str | None
    image: str | None
    cells: list[Cell]
    left: int


class Rows:
    """The rows as their table has them: text and image, and the columns that are learned from.

    Parameters
    ----------
    stream : the rows
    text, image : names of columns, or None; columns of words are texts, too
    """

    def __init__(self, stream: Stream, text: str | None, image: str | None):
        from kernbrook.evaluation.raw_rows import RawRows

        records = stream.records()
        self.texts, self.image = [] if text is None else [text], image
        self._raw = None if records is None else RawRows(records)
        for name in (text, image):
            if name is not None and (self._raw is None or name not in self._raw.columns):
                raise UnknownNameError("column", name, self._raw.columns if self._raw else ())
        encoder = stream.encoder
        self._features = stream.feature_names
        self._columns = stream.feature_names if encoder is None else encoder.sources()
        self._plain = set(self._columns or ())  # whose values are numbers
        if encoder is not None:
            place_of = encoder.encoded.place_of
            self._plain = {name for name in self._plain if place_of(name) is not None}
            self.texts += [words.column for words in encoder.encoded.words]

    def of(self, question: Question, first: int, most: int, letters: int) -> Shown:
        """What is shown of a question's row.

        Parameters
        ----------
        question : of a row
        first : where there are more columns, the most unusual ones come first
        most, letters : columns, and letters of the text, at most
        """
        row = {} if self._raw is None else self._raw.row(question.row)
        texts = [_cut(_text(row.get(name)), letters) for name in self.texts]
        text = "\n".join(texts) if texts else None
        image = None if self.image is None else _text(row[self.image])
        cells = self._cells(question, row)
        if len(cells) > first:
            cells.sort(key=lambda cell: -cell.away)
        return Shown(text, image, cells[:most], max(len(cells) - most, 0))

    def _cells(self, question: Question, row: dict[str, Any]) -> list[Cell]:
        """Each column of a row once, in their order."""
        import numpy as np

        known = isinstance(question.x, np.ndarray) and question.row >= KNOWN
        places, values = question.entries()
        means, spread = question.means[places], question.deviations[places]
        away = np.zeros(len(places))
        with np.errstate(invalid="ignore", over="ignore"):
            np.divide(np.abs(values - means), spread, out=away, where=spread > 0)
        found: dict[str, Cell] = {}
        for j, value, mean, deviation, far in zip(
            places.tolist(), values.tolist(), means.tolist(), spread.tolist(), away.tolist(),
            strict=True,
        ):  # fmt: skip
            name = f"feature {j + 1}" if self._columns is None else self._columns[j]
            before = found.get(name)
            if name in self.texts or name == self.image:
                continue
            if self._columns is None or name in self._plain:
                if before is None:  # else it says that a value is missing
                    said = usual(mean, deviation) if known else ""
                    shown = MISSING if name in row and is_gap(row[name]) else number(value)
                    found[name] = Cell(name, shown, said, far)
                continue
            said = "" if before is None else before.usual
            if known and value == 1 and self._features and self._features[j].startswith(f"{name}="):
                said = "in all rows" if mean == 1 else f"in {percent(mean)} of rows"
            far = far if before is None else max(far, before.away)
            found[name] = Cell(name, _text(row.get(name)) or MISSING, said, far)
        return list(found.values())


def is_gap(value: Any) -> bool:
    """Whether a value of a table is missing, as `TableEncoder` sees it."""
    from kernbrook.streams.records import MISSING as GAPS

    return value is None or (isinstance(value, str) and value.strip() in GAPS)


def number(value: float) -> str:
    """A number that a person reads.

    Examples
    --------
    >>> [number(value) for value in (20240131.0, 0.1 + 0.2, 1e20, -0.0)]
    ['20240131', '0.3', '1e+20', '0']
    """
    whole = math.isfinite(value) and value == int(value) and abs(value) < WHOLE
    return f"{int(value)}" if whole else f"{value:.6g}"


def about(value: float) -> str:
    """A number of which four digits are enough.

    Examples
    --------
    >>> [about(value) for value in (0.0712061, 12345.678, -3.0, 0.0)]
    ['0.07121', '12346', '-3', '0']
    """
    if value == 0 or not math.isfinite(value):
        return number(value)
    return number(round(value, max(3 - math.floor(math.log10(abs(value))), 0)))


def usual(mean: float, deviation: float) -> str:
    """A mean with its deviation, which has two digits; the mean ends where the deviation does.

    Examples
    --------
    >>> usual(0.09091, 0.3785), usual(1234.5, 96.4), usual(7.0, 0.0), usual(3.2e9, 4.6e8)
    ('0.09 ± 0.38', '1234 ± 96', 'always 7', '3.2e+09 ± 4.6e+08')
    """
    if deviation == 0:
        return f"always {number(mean)}"
    if not (math.isfinite(mean) and 0 < deviation < math.inf):
        return ""
    if max(abs(mean), deviation) >= LONG or deviation < 1e-6:
        return f"{mean:.2g} ± {deviation:.2g}"
    digits = 1 - math.floor(math.log10(deviation))
    mean, deviation = round(mean, digits) + 0.0, round(deviation, digits)
    return f"{mean:.{max(digits, 0)}f} ± {deviation:.{max(digits, 0)}f}"


def percent(chance: float) -> str:
    """A probability in per cent, which is never said to be sure.

    Examples
    --------
    >>> [percent(chance) for chance in (0.7203, 0.9999, 0.002)]
    ['72 %', 'over 99 %', 'under 1 %']
    """
    if chance > 0.99:
        return "over 99 %"
    return "under 1 %" if chance < 0.01 else f"{100 * chance:.0f} %"


def expected(question: Question, state: Labelling, classes: list[Any] | None) -> str:
    """What the model expects, how sure it is, and how far to trust it; no classes of numbers."""
    if question.predicted is None:
        return "the model has no label yet"
    if classes is None or question.chances is None:
        told = f"the model expects {about(question.predicted)}"
        if state.judged == 0:
            return told
        off = math.sqrt(state.loss / state.judged)
        return f"{told}; off by {off:.3g} on {state.judged:,} so far (root mean square)"
    chance = question.chances[classes.index(question.predicted)]
    told = f"the model is {percent(chance)} sure of {question.predicted}"
    if state.judged == 0:
        return told
    return f"{told}; right on {state.judged - state.loss:,} of {state.judged:,} so far"


def place(row: int, rows: int | None) -> str:
    """Where a row is."""
    return f"row {row:,}" + (f" of {rows:,}" if rows else "")


def _cut(text: str, letters: int) -> str:
    """The beginning of a text, and how much is left out."""
    rest = len(text) - letters
    return text if rest <= 0 else f"{text[:letters]}… ({rest:,} more letters)"


def _text(value: Any) -> str:
    return "" if value is None else f"{value}"
