"""What of a question is shown to a person, in the terminal and on the page alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kernbrook.evaluation.answers import Question
    from kernbrook.evaluation.labelling import Labelling
    from kernbrook.streams import Stream


class Cell(NamedTuple):
    """A feature: its name and value, and what is usual, "" where that is not known; all as text."""

    name: str
    value: str
    usual: str


class Aside:
    """The text, and the name of an image, that stand beside the features of each row.

    Parameters
    ----------
    stream : the rows
    text, image : names of columns that the stream has set aside, or None
    """

    def __init__(self, stream: Stream, text: str | None, image: str | None):
        self.text, self.image = text, image
        self._stream: Any = stream
        self._rows: Iterator[list[str]] = iter(())
        self._row = math.inf  # the last that was read

    def of(self, row: int) -> tuple[str | None, str | None]:
        """The text and the image's name of a row, from 1; None where there is no such column."""
        if self.text is None and self.image is None:
            return None, None
        if row < self._row:
            self._rows, self._row = self._stream.rows_aside(), 0
        while self._row < row:
            self._values = dict(zip(self._stream.aside, next(self._rows), strict=True))
            self._row += 1
        texts = [None if name is None else self._values[name] for name in (self.text, self.image)]
        return texts[0], texts[1]


def cells(question: Question, names: list[str] | None, most: int) -> tuple[list[Cell], int]:
    """All features that the row has, or the most unusual ones; and how many are left out."""
    import numpy as np

    dense = isinstance(question.x, np.ndarray)
    places, values = question.entries()
    left = 0
    if len(places) > most:
        spread = question.deviations[places]
        away = np.abs(values - question.means[places])
        unusual = np.divide(away, spread, out=np.zeros_like(away), where=spread > 0)
        first = np.argsort(-unusual, kind="stable")[: most - 1]
        left = len(places) - len(first)
        places, values = places[first], values[first]
    shown = []
    for j, value in zip(places.tolist(), values.tolist(), strict=True):
        usual = ""
        if dense and question.row >= 10:
            usual = f"{question.means[j]:.4g} ± {question.deviations[j]:.4g}"
        name = f"feature {j + 1}" if names is None else names[j]
        shown.append(Cell(name, f"{value:.6g}", usual))
    return shown, left


def expected(question: Question, state: Labelling, numbers: bool) -> str:
    """What the model expects, and how far to trust it."""
    if question.predicted is None:
        return "the model has no label yet"
    predicted = f"{question.predicted:.6g}" if numbers else question.predicted
    told = f"the model expects {predicted}"
    if state.judged == 0:
        return told
    if numbers:
        off = math.sqrt(state.loss / state.judged)
        return f"{told}; off by {off:.3g} on {state.judged:,} so far (root mean square)"
    return f"{told}; right on {state.judged - state.loss:,} of {state.judged:,} so far"


def place(row: int, rows: int | None) -> str:
    return f"row {row:,}" + (f" of {rows:,}" if rows else "")
