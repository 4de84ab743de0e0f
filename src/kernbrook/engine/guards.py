"""Checks of what verbs of others give, before compiled code goes on with it and trusts it.

Each guard is of one verb. It is given an implementation of somebody else, and gives the same that
raises InputError where the answer is nothing that can be gone on with: a slot that is not there, a
factor that does not shrink, weights below 0, NaN. Ours are not looked at again.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kernbrook.compiler.checking import page_of
from kernbrook.compiler.compiling import Verb, njit
from kernbrook.compiler.links import mark_of, write_word
from kernbrook.engine import verbs
from kernbrook.engine.stores import in_place
from kernbrook.engine.verbs import Change
from kernbrook.errors import InputError
from kernbrook.numerics.vectors import fill_with, greatest_of
from kernbrook.numerics.zero import finite


@njit(cache=True, nogil=True)
def all_weights(numbers):
    """Whether all of a vector's are finite, and from 0."""
    sound = True
    for i in range(numbers.shape[0]):
        sound &= 0.0 <= numbers[i] < np.inf
    return sound


# -- one for each verb: of the implementation, and of how a message begins and ends ---------------


def _expand(body: Any, who: str, see: str) -> Any:
    factor_told = f"{who}: the factor must be in (0, 1], 1.0 where nothing shrinks; {see}"
    change_told = f"{who}: NaN or infinity in `change`; {see}"

    def checked(rule, seen, scores, sizes, change):
        factor = body(rule, seen, scores, sizes, change)
        if not 0.0 < factor <= 1.0:
            raise InputError(factor_told)
        if not finite(change):
            raise InputError(change_told)
        return factor

    return checked


def _fit_in(body: Any, who: str, see: str) -> Any:
    slot_message = (
        f"{who}: Change.slot must be -1, or a slot in use, or the next one while one is free; {see}"
    )
    step_message = f"{who}: NaN or infinity in the Change; {see}"
    filled_message = f"{who}: `slots.filled` must stay from 0 to the number of slots; {see}"

    def checked(rule, slots, seen, rows):
        change = body(rule, slots, seen, rows)
        filled, room = slots.filled[0], slots.alpha.shape[1]
        if not 0 <= filled <= room:
            raise InputError(filled_message)
        if change.slot < -1 or change.slot > filled or change.slot >= room:
            raise InputError(slot_message)
        if not abs(change.kept) + abs(change.step) < np.inf:
            raise InputError(step_message)
        return Change(change.slot, float(change.kept), float(change.step))

    return checked


def _keep_within(body: Any, who: str, see: str) -> Any:
    message = f"{who}: `slots.filled` must stay from 0 to the number of slots; {see}"

    def checked(rule, slots, seen, rows, points, t):
        body(rule, slots, seen, rows, points, t)
        if not 0 <= slots.filled[0] <= slots.alpha.shape[1]:
            raise InputError(message)

    return checked


def _predict(body: Any, who: str, see: str) -> Any:
    message = f"{who}: the variance must be a finite number from 0, 0.0 where there is none; {see}"

    def checked(rule, held, z, t, out):
        variance = body(rule, held, z, t, out)
        if not 0.0 <= variance < np.inf:
            raise InputError(message)
        return variance

    return checked


def _weigh_all(body: Any, who: str, see: str) -> Any:
    message = f"{who}: weights must be finite, from 0, and one of them above 0; {see}"

    def checked(combiner, progress, weights):
        body(combiner, progress, weights)
        if not (all_weights(weights) and greatest_of(weights) > 0.0):
            raise InputError(message)

    return checked


def _update(body: Any, who: str, see: str) -> Any:
    place = "`progress.log_weights`, whose greatest must be finite"
    message = f"{who}: NaN or infinity in {place}; {see}"
    lift_message = f"{who}: the greatest of `progress.log_weights` must be 0; call `lift`; {see}"
    state_message = f"{who}: NaN or infinity in `progress.state`; {see}"

    def checked(combiner, rounds, progress):
        body(combiner, rounds, progress)
        greatest = greatest_of(progress.log_weights)
        if not abs(greatest) < np.inf:
            raise InputError(message)
        if greatest != 0.0:
            raise InputError(lift_message)
        if not finite(progress.state):
            raise InputError(state_message)

    return checked


def _correct(body: Any, who: str, see: str) -> Any:
    message = f"{who}: NaN or infinity in `decision`; {see}"

    def checked(combiner, progress, loss, scores, decision):
        body(combiner, progress, loss, scores, decision)
        if not finite(decision):
            raise InputError(message)

    return checked


def _select(body: Any, who: str, see: str) -> Any:
    message = f"{who}: `votes` of experts in use must be finite, and from 0; {see}"

    def checked(selection, progress, weights, votes, updates):
        body(selection, progress, weights, votes, updates)
        for e in range(votes.shape[0]):
            if progress.used[e] and not 0.0 <= votes[e] < np.inf:
                raise InputError(message)

    return checked


def _expect(body: Any, who: str, see: str) -> Any:
    message = f"{who}: `votes` must be finite, and from 0; {see}"

    def checked(selection, progress, weights, votes):
        alone = body(selection, progress, weights, votes)
        if not all_weights(votes):
            raise InputError(message)
        return alone

    return checked


def _lead_on(body: Any, who: str, see: str) -> Any:
    message = f"{who}: `weights` must be finite, and from 0; {see}"

    def checked(selection, progress, weights):
        body(selection, progress, weights)
        if not all_weights(weights):
            raise InputError(message)

    return checked


def _wants(body: Any, who: str, see: str) -> Any:
    message = f"{who}: the variance must be a finite number from 0, 0.0 where there is none; {see}"

    def checked(policy, progress, opinions):
        asked, variance = body(policy, progress, opinions)
        if not 0.0 <= variance < np.inf:
            raise InputError(message)
        return asked, float(variance)

    return checked


def _note(body: Any, who: str, see: str) -> Any:
    message = f"{who}: NaN or infinity in `progress.asking`; {see}"

    def checked(policy, progress, number):
        body(policy, progress, number)
        if not finite(progress.asking):
            raise InputError(message)

    return checked


# -- learners without kernels ----------------------------------------------------------------------


def _say(body: Any, who: str, see: str) -> Any:
    message = f"{who}: NaN in `out`, or not all of it written; {see}"
    mark = mark_of(who)

    def checked(form, x, out):
        fill_with(out, np.nan)
        write_word(mark, 1)
        body(form, x, out)
        write_word(mark, 0)
        for c in range(out.shape[0]):
            if np.isnan(out[c]):
                raise InputError(message)

    return checked


def _follow(body: Any, who: str, see: str) -> Any:
    mark = mark_of(who)

    def checked(form, x, scores, label, target, weight, number, seed):
        write_word(mark, 1)
        body(form, x, scores, label, target, weight, number, seed)
        write_word(mark, 0)

    return checked


def _guard(make: Callable[[Any, str, str], Any], verb: Verb, body: Any, kind: type) -> Any:
    return make(body, verb.of_whom(kind), page_of(verb))


for _verb, _make in (
    (verbs.expand, _expand), (verbs.fit_in, _fit_in), (verbs.keep_within, _keep_within),
    (verbs.predict, _predict), (verbs.weigh_all, _weigh_all), (verbs.update, _update),
    (verbs.correct, _correct), (verbs.select, _select), (verbs.expect, _expect),
    (verbs.lead_on, _lead_on), (verbs.wants, _wants), (verbs.note_round, _note),
    (verbs.note_error, _note), (in_place.say, _say), (in_place.follow, _follow),
):  # fmt: skip
    _verb.guard = partial(_guard, _make)
