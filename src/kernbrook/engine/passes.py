"""Committees, which decide and learn from labels, and the compiled passes that they call."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbrook.compiler.links import ROOM, links_to, naming, new_links
from kernbrook.engine import committee as votes
from kernbrook.engine import rounds as played
from kernbrook.engine.progress import (
    ASKED,
    CHOSEN,
    PROGRESS,
    ROUND,
    SEED,
    WEIGHED,
    Board,
    CommitteeRules,
    Progress,
    check_progress,
    empty_board,
)
from kernbrook.engine.rounds import StorePass, score_parts, scratch_of
from kernbrook.engine.stores.base import Setting
from kernbrook.engine.uniting import Apart, Weighing, weigh_together
from kernbrook.engine.verbs import select, update, wants
from kernbrook.gram.arrays import Flags, Floats, Ints, within

_play_rounds, run_pass = naming(played.play_rounds), naming(played.run_pass)
_decide, _would_ask = naming(votes.decide), naming(votes.would_ask)


class Committee:
    """The combiner, the selection and the label policy, which decide and learn from labels.

    A committee never changes: its progress is given. A model has one for the next row, and perhaps
    one for rows farther ahead.

    Parameters
    ----------
    choices : what it does
    combiner : with `state_size`, how many numbers it keeps

    Attributes
    ----------
    inputs : how many numbers a calibration takes for each score: the leaning of the experts, and
        their vote too if the combiner corrects votes
    """

    def __init__(self, choices: CommitteeRules, combiner: Any, setting: Setting):
        self.choices, self.combiner = choices, combiner
        self.scores, self.numbers = setting.scores, setting.regression
        self.n_experts = len(choices.terms.strict)
        self.inputs = 2 if getattr(combiner, "corrects_votes", False) else 1

    @property
    def links(self) -> tuple[Ints, Ints, Ints]:
        """To the rules of the combiner, the selection and the policy."""
        return (
            links_to(update, (self.choices.combiner,))[0],
            links_to(select, (self.choices.selection,))[0],
            links_to(wants, (self.choices.policy,))[0],
        )

    def board(self, labels: Any, importance: Any) -> Board:
        """For as many examples as these are."""
        return empty_board(
            len(labels), self.n_experts, self.scores, labels, importance, self.numbers, self.inputs
        )

    def decide(self, progress: Progress, board: Board) -> Floats:
        """(n, c) decisions; `board.leanings` too."""
        decisions, room = np.zeros((len(board.labels), self.scores)), np.empty(ROOM, dtype=np.int64)
        _decide(self.links, self.choices.terms, progress, board, decisions, room)
        return decisions

    def would_ask(self, progress: Progress, board: Board) -> Flags:
        """(n,) bool: is the label of each example wanted, if it came next? `progress` changes."""
        asked, room = np.empty(len(board.labels), dtype=bool), np.empty(ROOM, dtype=np.int64)
        _would_ask(self.links, self.choices.terms, progress, board, asked, room)
        return asked

    def judge(
        self, progress: Progress, board: Board, always: bool, members: Sequence[Any] = ()
    ) -> tuple[Floats, Flags]:
        """Decide on each example, and learn from its label. `progress` changes.

        always : whether every label that is there is looked at, whatever the policy
        members : compiled forms of stores that score and learn in turn; none where the board is
            filled in
        Gives (n, c) decisions, each before its label was seen, and (n,) bool, whose was looked at.
        """
        n = len(board.labels)
        decisions, asked = np.zeros((n, self.scores)), np.zeros(n, dtype=bool)
        passes = [StorePass(member, board) for member in members]
        links, terms = new_links(score_parts, passes), self.choices.terms._replace(given=always)
        scratch = scratch_of(self.n_experts)
        _play_rounds(self.links, terms, progress, links, board, decisions, asked, scratch)
        return decisions, asked

    def weights(self, progress: Progress) -> Floats:
        """(e,) weights of the experts, summing to 1."""
        weights = np.empty(self.n_experts)
        votes.weigh_experts(self.choices.combiner, self.choices.selection, progress, weights)
        return weights / weights.sum()

    def begun(self, seed: int) -> Progress:
        """Progress before the first example."""
        size = self.combiner.state_size(self.n_experts)
        progress: Progress = PROGRESS.begun(expert=self.n_experts, state=size)
        progress.counters[SEED], progress.counters[CHOSEN] = seed, -1
        return progress

    def restored(self, like: Progress, arrays: Mapping[str, NDArray[Any]]) -> Progress:
        """Progress with these arrays; InputError where it can be none of this committee."""
        with within("progress."):
            progress = PROGRESS.restored(like, arrays)
        check_progress(progress)
        return progress

    def merged(self, apart: Apart, seed: int) -> Progress:
        """The progress that stands for those of several such committees."""
        counters, each = apart.each[-1].counters.copy(), [ROUND, ASKED, WEIGHED]
        counters[each] = apart.of("counters").added()[each]
        counters[SEED] = seed
        weighing = apart.over(lambda state: Weighing(state.log_weights, state.state))
        log_weights, state = weigh_together(self.choices.combiner, weighing)
        taken = {"used": apart.each[0].used.copy(), "counters": counters}
        return Progress(log_weights=log_weights, state=state, **taken, **PROGRESS.merged(apart))
