"""The passes over a block, whose errors name the verb, and links to what passes call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernbrook.compiler.links import linked, naming, new_links
from kernbrook.engine import committee as votes
from kernbrook.engine import rounds as played
from kernbrook.engine.progress import Board, Choices
from kernbrook.engine.rounds import Met, go_through, score_some
from kernbrook.engine.verbs import select, update, wants
from kernbrook.gram.arrays import Labels


def committee(choices: Choices) -> tuple[Labels, Labels, Labels]:
    """Links to the rules of a combiner, a selection and a policy."""
    return (
        linked(update, (choices.combiner,))[0],
        linked(select, (choices.selection,))[0],
        linked(wants, (choices.policy,))[0],
    )


def stores(members: Sequence[Any], board: Board, alone: bool) -> tuple[Labels, Any]:
    """Links to stores' compiled forms, and what must outlive these.

    alone : for `learner_pass`, else for `rounds`
    """
    verb = go_through if alone else score_some
    met = [Met(member, board) for member in members]
    return new_links(verb, met), met


rounds, learner_pass = naming(played.rounds), naming(played.learner_pass)
decide, would_ask = naming(votes.decide), naming(votes.would_ask)
