"""A person at a terminal: shown what a model asks, and understood in few letters."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from kernbrook.cli.questions import Rows, expected, percent, place
from kernbrook.errors import InputError, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from kernbrook.evaluation.sessions.answers import Answer, Question
    from kernbrook.evaluation.sessions.labelling import Labelling
    from kernbrook.streams import Stream

LINES = 12  # of columns, at most
CLASSES = 9  # listed with their probabilities, at most
LETTERS = 5_000  # of a text, at most


class Person:
    """Questions on standard error, answers on standard input.

    Attributes
    ----------
    shows : whether what goes on meanwhile can be shown
    """

    def __init__(
        self,
        console: Console,
        stream: Stream,
        rows: Rows,
        classes: NDArray[Any] | None,
    ):
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="replace")
        self.console, self.shows = console, console.is_terminal
        self._n_rows, self._rows = stream.n_rows, rows
        self._classes: list[Any] | None = None if classes is None else classes.tolist()
        self._array = classes
        self._text = classes is not None and classes.dtype.kind in "UO"
        self._numbered = self._text and not any(map(_like_number, self._classes or []))
        starts = {str(name)[:1].casefold() for name in self._classes or []}
        words = [word if word[0] in starts else f"{word[0]} {word}" for word in _WORDS]
        what = "number" if classes is None else "label"
        self._prompt = f"{what} ({', '.join(words)}, ? help): "
        self._shown = 0.0  # when the line about rows passed by was last written; 0 for none

    def ask(self, question: Question, state: Labelling) -> Any:
        """The label that a person gives, or None for a skip; Quit where they stop, or Undo."""
        from kernbrook.evaluation.training import Quit, Undo

        self.clear()
        self._say("")
        self._say(self._title(question, state), "bold")
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
        """The labelling is over; who has called says the rest."""
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

    def _title(self, question: Question, state: Labelling) -> str:
        where = place(question.row, self._n_rows)
        parts = [where, f"asked {state.asked:,} of {state.rows:,}"]
        return "   ".join([*parts, f"spared {state.saved:,}"])

    def _example(self, question: Question) -> list[str]:
        """The row in a few lines."""
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
        """What the model expects, and how far to trust it."""
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
        whole = [one for one in meant if str(one[1]).casefold() == typed]
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


def _like_number(name: Any) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
