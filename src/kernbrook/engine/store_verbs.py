"""Verbs that stores implement in compiled code; see `verbs`."""

from kernbrook.compiler.compiling import Verb


@Verb
def parts_of(member):
    """The number of parts into which a store falls; each part learns apart from the others.

    Called before a block: threads share the parts. By default 1.
    """
    return 1


@Verb
def part(member, i, board):
    """Part i of a store, as `score` and `learn` take it; by default the store's whole form.

    Called for each example, so it makes views and no copies.
    """
    return member


@Verb
def stretch(member):
    """How many examples one part of a store may meet before the others do; by default any number.

    Called before a block.
    """
    return 1 << 30


@Verb
def arrive(member, first, last, t):
    """Prepare parts first..last-1 of a store for example t and those after it. Nothing by default.

    Called before these parts score example t; examples come one after the other, from 0 on.
    """


@Verb
def score(part, t, board):
    """Score example t.

    Called before the label is known, and for predictions. Nothing changes but the board's row t,
    for the part's own experts: `scores`, `sizes`, and where there are some `variances` and `known`.
    """
    raise NotImplementedError


@Verb
def learn(part, t, updates, clock, board):
    """Learn from the label of example t, which `score` has met before.

    Called for each label that is looked at. Only what the part holds changes.

    updates : (e,) bool, which experts may learn
    board : only read; `importance[t]` is the weight of the example, and 0 teaches nothing
    """
    raise NotImplementedError


@Verb
def sound(member, i):
    """Whether what part i of a store has learned is finite; by default it is.

    Called after a row that is learned by itself: else the row is undone.
    """
    return True
