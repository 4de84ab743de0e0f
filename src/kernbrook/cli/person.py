"""A person at a terminal: shown what a model asks, and understood in few letters."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Any

from kernbrook.errors import InputError, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from kernbrook.evaluation.labelling import Labelling, Question
    from kernbrook.evaluation.sources import Source
    from kernbrook.streams import Stream

LINES = 12  # of features, at most
CLASSES = 9  # listed with their votes, at most


class Person:
    """Questions on standard error, answers on standard input."""

    def __init__(
        self, console: Console, stream: Stream, source: Source, classes: NDArray[Any] | None
    ):
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="replace")
        self.console = console
        self._rows = stream.n_rows
        self._names = source.features
        self._classes: list[Any] | None = None if classes is None else classes.tolist()
        self._array = classes
        self._text = classes is not None and classes.dtype.kind in "UO"
        self._numbered = self._text and not any(map(_like_number, self._classes or []))
        starts = {str(name)[:1].casefold() for name in self._classes or []}
        skip, end = ("skip" if "s" in starts else "s skip"), ("quit" if "q" in starts else "q quit")
        what = "number" if classes is None else "label"
        self._prompt = f"{what} ({skip}, {end}, ? help): "
        self._shown = 0.0  # when the line about rows passed by was last written; 0 for none

    def ask(self, question: Question, state: Labelling) -> Any:
        """The label that a person gives, or None for a skip; Quit where they stop."""
        from kernbrook.evaluation.sessions import Quit

        self.clear()
        self._say("")
        self._say(self._title(question, state), "bold")
        for line in (*_features(question, self._names), "", *self._belief(question, state)):
            self._say(line)
        while True:
            self.console.print(self._prompt, end="", markup=False, emoji=False, style="bold")
            text = sys.stdin.readline()
            if not sys.stdin.isatty():
                self._say(text.rstrip("\n"))
            if not text:
                raise Quit
            try:
                word, label = self._understood(text.strip())
            except InputError as error:
                self._say(f"{error}", "red")
                continue
            if word == "quit":
                raise Quit
            if word != "help":
                return label
            for line in self._help():
                self._say(line)

    def passing(self, state: Labelling) -> None:
        """Show in a terminal that rows are passed by, a few times a second."""
        if self.console.is_terminal and time.monotonic() - self._shown > 0.2:
            self._show(f"{self._place(state.rows_read)}, {state.saved:,} saved")

    def compiling(self, line: str) -> None:
        """Show in a terminal how far compiling is; "" where it has stopped."""
        self._show(line) if line else self.clear()

    def _show(self, line: str) -> None:
        self._shown = time.monotonic()
        self.console.file.write(f"\r{line}\x1b[K")
        self.console.file.flush()

    def clear(self) -> None:
        if self._shown:
            self.console.file.write("\r\x1b[K")
            self._shown = 0.0

    def _say(self, line: str, style: str = "") -> None:
        self.console.print(printable(line), markup=False, emoji=False, style=style, soft_wrap=True)

    def _place(self, row: int) -> str:
        return f"row {row:,}" + (f" of {self._rows:,}" if self._rows else "")

    def _title(self, question: Question, state: Labelling) -> str:
        parts = [self._place(question.row), f"asked {state.asked:,} of {state.rows:,}"]
        return "   ".join([*parts, f"saved {state.saved:,}"])

    def _belief(self, question: Question, state: Labelling) -> list[str]:
        """What the model expects, and how far to trust it."""
        import numpy as np

        if self._classes is None:
            if question.predicted is None:
                return ["the model has no label yet"]
            return [f"the model expects {question.predicted:.6g}{_record(state, numbers=True)}"]
        order: list[int] = list(range(len(self._classes)))
        if question.votes is not None:
            told = f"the model expects {question.predicted}{_record(state, numbers=False)}"
            if len(order) > CLASSES:
                order = np.argsort(-question.votes, kind="stable")[:CLASSES].tolist()
        else:
            told = "the model has no label yet"
        lines = [told]
        votes = None if question.votes is None else question.votes.tolist()
        names = [self._listed(k) for k in order[:CLASSES]]
        width = max(map(len, names))
        for k, name in zip(order, names, strict=False):
            lines.append(name if votes is None else f"{name:{width}}   vote {votes[k]:7.3g}")
        if rest := len(self._classes) - len(names):
            lines.append(f"  and {rest} others, see ?")
        return lines

    def _listed(self, k: int) -> str:
        assert self._classes is not None
        return f"  {k + 1:2}  {self._classes[k]}" if self._numbered else f"  {self._classes[k]}"

    def _help(self) -> list[str]:
        if self._classes is None:
            return ["Type the number.", *_WORDS]
        how = "as it stands here"
        if self._text:
            how = "its beginning, or its number here" if self._numbered else "or its beginning"
        names = [self._listed(k) for k in range(len(self._classes))]
        return [f"Type the label, {how}:", *names, *_WORDS]

    def _understood(self, text: str) -> tuple[str, Any]:
        """A word and a label: ("label", it), ("skip", None), ("quit", None) or ("help", None)."""
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
        meant += [(word, None) for word in ("skip", "quit", "help") if word.startswith(typed)]
        meant = whole if len(whole) == 1 else meant
        if len(meant) > 1:
            could = ", ".join(word if label is None else str(label) for word, label in meant)
            raise InputError(f"{text!r} could be {could}: type more of it")
        if not meant:
            raise unknown
        return meant[0]


_WORDS = ("skip: pass on without a label", "quit: stop; the same command goes on")


def _record(state: Labelling, numbers: bool) -> str:
    """How good the model was on the labels given so far."""
    if state.judged == 0:
        return ""
    if numbers:
        off = math.sqrt(state.loss / state.judged)
        return f"; off by {off:.3g} on {state.judged:,} so far (root mean square)"
    return f"; right on {state.judged - state.loss:,} of {state.judged:,} so far"


def _features(question: Question, names: list[str] | None) -> list[str]:
    """The row in a few lines: all features that are there, or the most unusual ones."""
    import numpy as np

    dense = isinstance(question.x, np.ndarray)
    places, values = question.entries()
    left = 0
    if len(places) > LINES:
        spread = question.deviations[places]
        away = np.abs(values - question.means[places])
        unusual = np.divide(away, spread, out=np.zeros_like(away), where=spread > 0)
        first = np.argsort(-unusual, kind="stable")[: LINES - 1]
        left = len(places) - len(first)
        places, values = places[first], values[first]
    cells = [
        (_short(f"feature {j + 1}" if names is None else names[j]), f"{value:.6g}")
        for j, value in zip(places.tolist(), values.tolist(), strict=True)
    ]
    widths = [max((len(cell[i]) for cell in cells), default=0) for i in (0, 1)]
    lines = []
    for (name, value), j in zip(cells, places.tolist(), strict=True):
        line = f"  {name:{widths[0]}}  {value:>{widths[1]}}"
        if dense and question.row >= 10:
            line += f"   usual {question.means[j]:.4g} ± {question.deviations[j]:.4g}"
        lines.append(line)
    if left:
        lines.append(f"  and {left:,} {'others' if dense else 'other nonzero ones'}, less unusual")
    return lines or ["  all features are 0"]


def _like_number(name: Any) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
