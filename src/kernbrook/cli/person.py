"""A person at a terminal: what of a question is shown, on the page too, and what is understood."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from kernbrook.errors import InputError, UnknownNameError, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from kernbrook.evaluation.answers import Answer, Question
    from kernbrook.evaluation.labelling import Labelling
    from kernbrook.streams import Stream


KNOWN = 10  # rows from which on it is said what is usual
WHOLE = 1e15  # whole numbers below it are shown with all their digits
MISSING = "missing"
LONG = 1e6  # from here on means are shown in powers of ten


class Cell(NamedTuple):
    """A column of a row."""

    name: str
    value: str
    usual: str  # "" where that is not known
    away: float  # deviations from the mean, of the farthest of what the value became


class Shown(NamedTuple):
    """What of a row a person is shown."""

    text: str | None  # of the column that was named, and of columns of words
    image: str | None
    cells: list[Cell]  # columns of the table, or features of other data
    left: int  # how many of these are left out


class ShownRows:
    """The rows as their table has them: text and image, and the columns that are learned from.

    text, image : names of columns, or None; columns of words are texts, too
    """

    def __init__(self, stream: Stream, text: str | None, image: str | None):
        from kernbrook.evaluation.raw_rows import RawRows, number_columns

        self.stream, records = stream, stream.records()
        self.texts, self.image = [] if text is None else [text], image
        self._raw = None if records is None else RawRows(records)
        for name in (text, image):
            if name is not None and (self._raw is None or name not in self._raw.columns):
                raise UnknownNameError("column", name, self._raw.columns if self._raw else ())
        encoder = stream.encoder
        self._features = stream.feature_names
        self._columns = stream.feature_names if encoder is None else encoder.sources()
        self._plain = number_columns(stream)
        if encoder is not None:
            self.texts += [*encoder.declarations().words]

    def of(self, question: Question, first: int, most: int, letters: int) -> Shown:
        """What is shown of a question's row: so many columns, and letters of the text, at most.

        Where there are more columns than `first`, the most unusual ones come first.
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
        import numpy as np

        known = isinstance(question.x, np.ndarray) and question.row >= KNOWN
        places, values = question.entries()
        means, spread = question.means[places], question.deviations[places]
        away = np.zeros(len(places))
        with np.errstate(invalid="ignore", over="ignore"):
            np.divide(np.abs(values - means), spread, out=away, where=spread > 0)
        found: dict[str, Cell] = {}
        numbers = np.stack([values, means, spread, away], axis=1).tolist()
        for j, (value, mean, deviation, far) in zip(places.tolist(), numbers, strict=True):
            name = f"feature {j + 1}" if self._columns is None else self._columns[j]
            before = found.get(name)
            if name in self.texts or name == self.image:
                continue
            if self._columns is None or name in self._plain:
                if before is None:  # else it says that a value is missing
                    note = usual(mean, deviation) if known else ""
                    shown = MISSING if name in row and is_gap(row[name]) else number(value)
                    found[name] = Cell(name, shown, note, far)
                continue
            _, _, note, farthest = before or Cell(name, "", "", far)
            if known and value == 1 and self._features and self._features[j].startswith(f"{name}="):
                note = "in all rows" if mean == 1 else f"in {percent(mean)} of rows"
            found[name] = Cell(name, _text(row.get(name)) or MISSING, note, max(far, farthest))
        return list(found.values())


def is_gap(value: Any) -> bool:
    """Whether a value of a table is missing, as `TableEncoder` sees it."""
    from kernbrook.streams.records import MISSING as GAPS

    return value is None or (isinstance(value, str) and value.strip() in GAPS)


def number(value: float) -> str:
    """A number that a person reads.

    Examples
    --------
    >>> [number(value) for value in (20240131.0, 0.1 + 0.2, 1e20, -0.0, math.nan)]
    ['20240131', '0.3', '1e+20', '0', 'nan']
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
    >>> usual(0.09091, 0.3785), usual(103.8, 114.8), usual(-0.001, 0.996), usual(7.0, 0.0)
    ('0.09 ± 0.38', '100 ± 110', '0.00 ± 1.00', 'always 7')
    >>> usual(3.2e9, 4.6e8), usual(0.0, 3e-9), usual(0.0, math.inf), usual(math.nan, 1.0)
    ('3.2e+09 ± 4.6e+08', '0 ± 3e-09', '', '')
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
    judged = state.judged
    if classes is None:
        text = f"the model expects {about(question.predicted)}"
        off = math.sqrt(state.loss / max(judged, 1))
        so_far = f"off by {off:.3g} on {judged:,} so far (root mean square)"
    else:
        text = f"the model expects {question.predicted}"
        if question.chances is not None:
            chance = question.chances[classes.index(question.predicted)]
            text = f"the model is {percent(chance)} sure of {question.predicted}"
        so_far = f"right on {judged - state.loss:,} of {judged:,} so far"
    return f"{text}; {so_far}" if judged else text


def place(row: int, rows: int | None) -> str:
    """Where a row is."""
    return f"row {row:,}" + (f" of {rows:,}" if rows else "")


def _cut(text: str, letters: int) -> str:
    """The beginning of a text, and how much is left out."""
    rest = len(text) - letters
    return text if rest <= 0 else f"{text[:letters]}… ({rest:,} more letters)"


def _text(value: Any) -> str:
    return "" if value is None else f"{value}"


LINES = 12  # of columns, at most
CLASSES = 9  # listed with their probabilities, at most
LETTERS = 5_000  # of a text, at most


class Person:
    """Questions on standard error, answers on standard input."""

    def __init__(self, console: Console, rows: ShownRows, classes: NDArray[Any] | None):
        from kernbrook.streams.tables.labels import number_of

        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="replace")
        self.console = console
        self.shows = console.is_terminal  # what goes on meanwhile
        self._n_rows, self._rows = rows.stream.n_rows, rows
        self._classes: list[Any] | None = None if classes is None else classes.tolist()
        self._array = classes
        self._text = classes is not None and classes.dtype.kind in "UO"
        self._numbered = self._text and all(number_of(name) is None for name in self._classes or ())
        starts = {str(name)[:1].casefold() for name in self._classes or []}
        words = [word if word[0] in starts else f"{word[0]} {word}" for word in _WORDS]
        kind = "number" if classes is None else "label"
        self._prompt = f"{kind} ({', '.join(words)}, ? help): "
        self._shown = 0.0  # when the line about rows passed by was last written; 0 for none

    def ask(self, question: Question, state: Labelling) -> Any:
        """The label that a person gives, or None for a skip; Quit where they stop, or Undo."""
        from kernbrook.evaluation.training import Quit, Undo

        self.clear()
        self._say("")
        where = place(question.row, self._n_rows)
        asked = f"asked {state.asked:,} of {state.rows:,}   spared {state.saved:,}"
        self._say(f"{where}   {asked}", "bold")
        for line in (*self._example(question), "", *self._belief(question, state)):
            self._say(line)
        self._say(f"why it asks: {question.why}")
        while True:
            text = self._typed(self._prompt)
            if not text:
                raise Quit
            try:
                word, label = self._understood(text.strip())
            except InputError as error:
                self._say(f"{error}", "red")
                continue
            if word == "quit":
                raise Quit
            if word == "undo" and state.last is not None:
                self._say(f"taken back: {_answered(state.last)}")
                raise Undo
            if word == "undo":
                self._say("there is no answer to take back", "red")
                continue
            if word != "help":
                return label
            for line in self._help():
                self._say(line)

    def end(self, state: Labelling) -> None:
        """Ask whether that was all; Undo where it was not."""
        from kernbrook.evaluation.training import Undo

        self.clear()
        self._say("")
        assert state.last is not None
        self._say(f"no row is left; the last answer: {_answered(state.last)}", "bold")
        while typed := self._typed("Enter finishes, u takes the answer back: ").strip().casefold():
            if "undo".startswith(typed):
                raise Undo
            if "quit".startswith(typed):
                return

    def _typed(self, prompt: str) -> str:
        """A line, "" at the end of the input."""
        self.console.print(prompt, end="", markup=False, emoji=False, style="bold")
        text = sys.stdin.readline()
        if not sys.stdin.isatty():
            self._say(text.rstrip("\n"))
        return text

    def passing(self, state: Labelling) -> None:
        """Show in a terminal that rows are passed by, a few times a second."""
        if self.console.is_terminal and time.monotonic() - self._shown > 0.2:
            self._show(f"{place(state.rows_read, self._n_rows)}, {state.saved:,} labels spared")

    def compiling(self, line: str) -> None:
        """Show in a terminal how far compiling is; "" where it has stopped."""
        self._show(line) if line else self.clear()

    def _show(self, line: str) -> None:
        self._shown = time.monotonic()
        self.console.file.write(f"\r{line}\x1b[K")
        self.console.file.flush()

    def close(self, summary: list[tuple[str, str]], finished: bool, asked_for: bool = True) -> None:
        self.clear()

    def clear(self) -> None:
        if self._shown:
            self.console.file.write("\r\x1b[K")
            self._shown = 0.0

    def _say(self, line: str, style: str = "") -> None:
        """A line; in a terminal as many as it takes, which end between words."""
        from rich.text import Text

        line = printable(line)
        indent = " " * (len(line) - len(line.lstrip(" ")))
        lines = [line]
        if self.console.is_terminal and line.strip():
            room = max(self.console.width - len(indent), 1)
            wrapped = Text(line.lstrip(" ")).wrap(self.console, room)
            lines = [f"{indent}{part.plain.rstrip()}" for part in wrapped]
        for part in lines:
            self.console.print(part, markup=False, emoji=False, style=style, soft_wrap=True)

    def _example(self, question: Question) -> list[str]:
        text, image, found, left = self._rows.of(question, LINES, LINES, LETTERS)
        lines = [f"  {line}" for line in (text or "").splitlines()]
        lines += [f"  {image}"] if image else []
        shown = [
            (_short(cell.name), _short(cell.value), f"{'usual ' * ('±' in cell.usual)}{cell.usual}")
            for cell in found
        ]
        name, value = (max((len(cell[i]) for cell in shown), default=0) for i in (0, 1))
        lines += [f"  {cell[0]:{name}}  {cell[1]:>{value}}   {cell[2]}".rstrip() for cell in shown]
        if left:
            others = "other nonzero ones" if hasattr(question.x, "indices") else "others"
            lines.append(f"  and {left:,} {others}, less unusual")
        return lines if shown or text else [*lines, "  all features are 0"]

    def _belief(self, question: Question, state: Labelling) -> list[str]:
        lines = [expected(question, state, self._classes)]
        if self._classes is None:
            return lines
        chances = None if question.chances is None else question.chances.tolist()
        order = list(range(len(self._classes)))
        if chances is not None and len(order) > CLASSES:
            order.sort(key=lambda k: -chances[k])
        names = [self._listed(k) for k in order[:CLASSES]]
        width = max(map(len, names))
        for k, name in zip(order, names, strict=False):
            lines.append(name if chances is None else f"{name:{width}}   {percent(chances[k]):>9}")
        if rest := len(self._classes) - len(names):
            lines.append(f"  and {rest} others, see ?")
        return lines

    def _listed(self, k: int) -> str:
        assert self._classes is not None
        return f"  {k + 1:2}  {self._classes[k]}" if self._numbered else f"  {self._classes[k]}"

    def _help(self) -> list[str]:
        if self._classes is None:
            return ["Type the number.", *_WORDS.values()]
        how = "as it stands here"
        if self._text:
            how = "its beginning, or its number here" if self._numbered else "or its beginning"
        names = [self._listed(k) for k in range(len(self._classes))]
        return [f"Type the label, {how}:", *names, *_WORDS.values()]

    def _understood(self, text: str) -> tuple[str, Any]:
        """A word and a label: ("label", it), or ("skip", None), or another word and None."""
        from kernbrook.evaluation.classes import as_label

        if text in ("", "?"):
            return "help", None
        try:
            return "label", as_label(text, self._array)
        except InputError as error:
            unknown = error
        classes = self._classes if self._classes is not None and self._text else []
        if self._numbered and text.isdecimal() and 0 < int(text) <= len(classes):
            return "label", classes[int(text) - 1]
        typed = text.casefold()
        meant = [("label", name) for name in classes if str(name).casefold().startswith(typed)]
        whole = [pair for pair in meant if str(pair[1]).casefold() == typed]
        meant += [(word, None) for word in (*_WORDS, "help") if word.startswith(typed)]
        meant = whole if len(whole) == 1 else meant
        if len(meant) > 1:
            could = ", ".join(word if label is None else str(label) for word, label in meant)
            raise InputError(f"{text!r} could be {could}: type more of it")
        if not meant:
            raise unknown
        return meant[0]


_WORDS = {
    "skip": "skip: pass on without a label",
    "undo": "undo: take back the last answer",
    "quit": "quit: stop; the same command goes on",
}


def _answered(answer: Answer) -> str:
    label = "skipped" if answer.label is None else answer.label
    return f"row {answer.row:,} {label}"


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
