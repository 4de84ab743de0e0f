"""The last label, as an expert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.engine.progress import Board, Progress
from kernbrook.engine.store_verbs import learn, score
from kernbrook.engine.stores.base import Prepared, Setting, Spread, Store
from kernbrook.engine.stores.in_rows import InRows, Row, in_rows, read
from kernbrook.engine.uniting import Apart
from kernbrook.errors import InputError, NonFiniteError
from kernbrook.gram.arrays import Flags, Floats, Labels, check_array
from kernbrook.gram.rows import Rows
from kernbrook.learners.without_kernel import WithoutKernel


class LastLabel(WithoutKernel):
    """One expert that says the last label again: a forecast that is hard to beat on some streams.

    Of two classes its score is 1 or -1, of more 1 for the class and 0 for others, of numbers the
    label itself; before the first label 0. It has no kernel.

    Examples
    --------
    >>> import kernbrook as kb
    >>> model = kb.OnlineMKRegressor(learner=kb.LastLabel(), center=False)
    >>> model.learn([[0.0], [0.0], [0.0]], [5.0, 6.0, 7.0])[0]
    array([0., 5., 6.])
    """

    n_experts = 1

    def make_store(self, first: int, setting: Setting) -> Store:
        """Where the label is kept: the expert has the number `first`."""
        return LastLabels(first, setting)


class Last(NamedTuple):
    """The state, and the compiled form.

    label : (1,) the last, a number or that of the class; NaN before the first
    expert : (1,) number of the expert
    """

    label: Floats
    expert: Labels


@score.of(Last)
def _score(part, t, board):
    label, expert, classes = part.label[0], part.expert[0], board.scores.shape[2]
    for c in range(classes):
        value = 0.0
        if label == label:
            if board.numbers:
                value = label
            elif classes == 1:
                value = 1.0 if label == 1.0 else -1.0
            elif label == c:
                value = 1.0
        board.scores[t, expert, c] = value
        board.sizes[t, expert, c] = abs(value)


@learn.of(Last)
def _learn(part, t, updates, clock, board):
    if updates[part.expert[0]] and board.importance[t] > 0.0:
        part.label[0] = board.labels[t]


class LastLabels(Store):
    """Of one expert; it stands alone."""

    def __init__(self, first: int, setting: Setting):
        self.setting, self.experts, self.block_rows = setting, np.array([first]), 4096

    def begin(self) -> Last:
        return Last(np.full(1, np.nan), self.experts)

    def prepare(self, state: Last, rows: Rows, progress: Progress, raw: Any) -> Prepared:
        after = Last(state.label.copy(), state.expert)

        def finish(board: Board, asked: Flags) -> Last:
            return after

        return Prepared((after,), 1, finish)

    def reading(self, state: Last, rows: Rows, raw: Any) -> Prepared:
        return self.prepare(state, rows, None, raw)  # type: ignore[arg-type]

    def arrays(self, state: Last) -> dict[str, NDArray[Any]]:
        return {"label": state.label}

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> Last:
        return Last(check_array("label", arrays.get("label"), (1,), np.float64), self.experts)

    def check(self, state: Last, progress: Progress) -> None:
        label, classes = state.label[0], max(self.setting.scores, 2)
        known = abs(label) < 1e150 if self.setting.regression else label in range(classes)
        if not (np.isnan(label) or known):
            raise InputError(f"label: expected one that there is, got {label:g}")

    def with_classes(
        self, arrays: Mapping[str, NDArray[Any]], spread: Spread
    ) -> dict[str, NDArray[Any]]:
        label = arrays["label"][0]
        if np.isnan(label):
            return dict(arrays)
        if len(spread.coefficients) == 1:
            place = int(np.argmax(spread.coefficients[0] * (1.0 if label == 1.0 else -1.0)))
        else:
            place = int(np.argmax(spread.origin == label))
        return {"label": np.array([float(place)])}

    def merged(self, apart: Apart) -> Last:
        known = [one.label for one in apart.each if not np.isnan(one.label[0])]
        return Last((known or [apart.before.label])[-1].copy(), self.experts)

    def overflow(self, expert: int) -> NonFiniteError:
        return NonFiniteError("LastLabel: a label is not finite")


class LastInRows(InRows):
    """The same, row by row: the state is all compiled forms at once."""

    def __init__(self, store: LastLabels, state: Last):
        self.expert = state.expert

    def changing(self, state: Last) -> list[Floats]:
        return [state.label]

    def use(self, arrays: Sequence[NDArray[Any]]) -> None:
        self.state = Last(arrays[0], self.expert)

    def forms(self, row: Row, kept: list[Any]) -> tuple[Last, Last]:
        return self.state, self.state


@in_rows.register(LastLabels)
def _in_rows(store: LastLabels) -> type[InRows]:
    return LastInRows


@read.of(Last)
def _read(store, board):
    score(store, 0, board)
