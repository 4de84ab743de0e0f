"""A second thread beside one expert: kernel values of the next window, while this one is learned.

The learner says which slots it holds as it begins a window. The helper computes their values with
the following one, tile by tile. The learner takes the tiles that are there when it comes, but for
slots that have changed since, and computes the others itself: it never waits, and what it learns
does not depend on the helper.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kernbrook.compiler.borrowing import borrowed
from kernbrook.compiler.compiling import njit
from kernbrook.compiler.links import through
from kernbrook.engine.stores.meetings import meet_points, turn_to
from kernbrook.gram.arrays import Floats, Labels
from kernbrook.numerics.acquire_release import heard, tell
from kernbrook.numerics.plan import Parts
from kernbrook.numerics.values import kernel_rows

TILE = 128  # slots that are handed over together
HELPER = 1  # the helper's group of a meeting; the learner's is 0
PATIENCE = 1 << 22  # times that the helper looks for the next window: some milliseconds
SOON, SELDOM = 4, 64  # blocks after which the slower way is tried again
OPENED = 0
END = -1
OVER = -2


class Ahead(NamedTuple):
    """What the two threads share, for windows of w examples; no slots where nobody helps.

    told : (1,) int, the window to be prepared, or END
    done : (2, tiles) int, the window that a tile is ready for; windows take turns in the rows
    held : (2, 1 + B) int, how many slots are in use as the window before begins; their places
    rows : (2, B, w) the slots' values with the window
    pairs : (channels TILE w) scratch, of the type of pair values
    """

    told: Labels
    done: Labels
    held: Labels
    rows: Floats
    pairs: Floats


def ahead_of(slots: int, channels: int, window: int, kind: Any) -> Ahead:
    """For so many slots; 0 where nobody helps. kind : of pair values."""
    return Ahead(
        np.zeros(1, dtype=np.int64), np.zeros((2, -(-slots // TILE)), dtype=np.int64),
        np.zeros((2, 1 + slots), dtype=np.int64), np.empty((2, slots, window)),
        np.empty(channels * min(TILE, slots) * window, kind),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def work_ahead(ahead, meeting, parts, window, b):
    """What the helper does for a block of b examples, until the learner ends or is too slow."""
    ahead, meeting, parts = borrowed(ahead), borrowed(meeting), borrowed(parts)
    told, done, patience, last = ahead.told, ahead.done, PATIENCE, 0
    points, steps = np.arange(TILE), np.empty((2, window), ahead.pairs.dtype)
    while patience > 0:
        number = heard(told, OPENED)
        lo = number * window
        if number == END or lo >= b:
            return
        if number == last:
            patience -= 1
            continue
        last, patience, hi, turn = number, PATIENCE, min(lo + window, b), number % 2
        through(turn_to, meeting, HELPER, lo, hi)
        filled = ahead.held[turn, 0]
        for tile in range(-(-filled // TILE)):
            if heard(told, OPENED) != number:
                break
            start = tile * TILE
            size = min(TILE, filled - start)
            places = ahead.held[turn, 1 + start : 1 + start + size]
            room = ahead.pairs[: ahead.pairs.shape[0] // (TILE * window) * size * (hi - lo)]
            pairs = room.reshape((-1, size, hi - lo))
            through(meet_points, meeting, HELPER, places, lo, hi, pairs)
            rows = ahead.rows[turn, start : start + size]
            kernel_rows(parts, 0, pairs, points[:size], 0, hi - lo, steps, rows)
            tell(done, turn * done.shape[1] + tile, number)


@njit(cache=True, nogil=True)
def take_over(ahead, number, places, numbers, out):
    """Take the values of window `number` that are ready.

    places : (filled,) of the slots; numbers[place] = OVER where values were taken; out : (w, B)
    """
    turn, w, done = number % 2, np.uintp(out.shape[0]), ahead.done
    for start in range(0, places.shape[0], TILE):
        if number > 0 and heard(done, turn * done.shape[1] + start // TILE) == number:
            for s in range(start, min(start + TILE, places.shape[0], ahead.held[turn, 0])):
                if ahead.held[turn, 1 + s] == places[s]:
                    numbers[places[s]] = OVER
                    for j in range(w):
                        out[j, s] = ahead.rows[turn, s, j]


@njit(cache=True, nogil=True)
def hand_on(ahead, number, places):
    """Say which slots to prepare for window `number`."""
    held = ahead.held[number % 2]
    held[0] = places.shape[0]
    for s in range(places.shape[0]):
        held[1 + s] = places[s]
    tell(ahead.told, OPENED, number)


class Helper(NamedTuple):
    """Works ahead, in a thread of its own.

    what : of the block: `Ahead`, its meeting, kernels and window, and how many examples it has
    """

    what: tuple[Ahead, Labels, Parts, int, int]

    def work(self) -> None:
        """Until the learner ends."""
        work_ahead(*self.what)

    def end(self) -> None:
        """The learner has ended, whatever ended it."""
        self.what[0].told[OPENED] = END


class Paying:
    """Whether a helper pays: blocks with one and without are timed, and the results are the same.

    Of each way the shorter of the last two times counts: a machine is busy now and then. The slower
    way is tried again after `SOON` blocks, then each time after twice as many.
    """

    def __init__(self) -> None:
        self._times: dict[bool, list[float]] = {True: [], False: []}
        self._blocks, self._wait = 0, SOON

    @property
    def _pays(self) -> bool:
        return min(self._times[True], default=0.0) < min(self._times[False], default=0.0)

    def choose(self) -> bool:
        """Whether the next block has a helper."""
        return self._pays != (self._blocks >= self._wait)

    def note(self, helped: bool, seconds: float) -> None:
        """What a block took, for its size."""
        before = self._pays
        self._times[helped] = [*self._times[helped][-1:], seconds]
        if self._pays != before:
            self._blocks, self._wait = 0, SOON
        elif helped != before:
            self._blocks, self._wait = 0, min(2 * self._wait, SELDOM)
        else:
            self._blocks += 1
