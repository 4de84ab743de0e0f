"""The sequential pass of experts that learn in a space of explicit features."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook._jit.ada_raker import ADA_RAKER, ada_raker
from kernbrook._jit.asking import ALL, ASKED
from kernbrook._jit.classes import log_loss, margin_of
from kernbrook._jit.combining import (
    ABSOLUTE,
    HINGE,
    LINEARIZED,
    MISTAKES,
    SQUARED,
    update_weights,
)
from kernbrook._jit.compiling import njit
from kernbrook._jit.feature_learning import (
    RIDGE,
    forgetting_now,
    gradient_step,
    loss_gradient,
    product,
    ridge_gain,
    ridge_step,
    sign_of,
)
from kernbrook._jit.rounds import asks, finish_round, select, vote

PREDICT, LEARN = 1, 2  # what `expert_steps` does, as flags


class Table(NamedTuple):
    """Where each expert's part of the arrays is, (e,) int each; fixed during a run.

    features : first of its features in the pool's; dim : how many, d
    theta : first of its (c, d) coefficients
    extra, rows : first of its (rows, d) further numbers: P of Ridge, sums of AdaGrad
    """

    features: NDArray[np.int64]
    dim: NDArray[np.int64]
    theta: NDArray[np.int64]
    extra: NDArray[np.int64]
    rows: NDArray[np.int64]


class Memory(NamedTuple):
    """What the experts have learned, one after the other as `Table` says; changed in place."""

    theta: NDArray[np.float64]
    extra: NDArray[np.float64]


@njit(cache=True, nogil=True)
def expert_steps(
    what, machine, table, memory, features, experts, rounds, labels, importance, learned,
    outputs, variances, gains,
):  # fmt: skip
    """Some experts predict some examples of a block, or learn from them, or both in turn.

    Parameters
    ----------
    what : PREDICT, LEARN or their sum; 0 where a label passes without being learned from
    features : the block's, kernel after kernel: (b, d) each, row after row
    experts, rounds : (2,) each, the first and the one after the last
    labels : (b,) targets, or numbers of classes
    importance : (b,) weights of the examples
    learned : labels seen before the first of the rounds
    outputs : (e, b, c) scores before the label was seen; variances : (e, b) of Ridge, or 0
    gains : (e, d) what Ridge keeps between predicting and learning
    """
    b, c = outputs.shape[1], outputs.shape[2]
    regression = machine.loss >= SQUARED
    gradient, sizes = np.empty(c), np.zeros(c)
    for e in range(experts[0], experts[1]):
        d, at, more = table.dim[e], table.theta[e], table.extra[e]
        z = features[table.features[e] * b : (table.features[e] + d) * b].reshape((b, d))
        theta = memory.theta[at : at + c * d].reshape((c, d))
        extra = memory.extra[more : more + table.rows[e] * d].reshape((table.rows[e], d))
        ridge = machine.learner[e] == RIDGE
        parameters, own = machine.learner_parameters[e], outputs[e]
        restart = 0 if ridge else int(parameters[5])
        for t in range(rounds[0], rounds[1]):
            if what & PREDICT:
                beyond = 1.0
                if ridge:
                    variances[e, t] = ridge_gain(extra, z, t, gains, e)
                    beyond += variances[e, t] / forgetting_now(parameters, extra)
                for k in range(c):
                    own[t, k] = product(theta, k, z, t) / beyond
            if what == PREDICT:
                continue
            learns, weight = what & LEARN and importance[t] > 0.0, importance[t]
            if learns and ridge:
                for k in range(c):
                    target = labels[t] if regression else sign_of(c, k, int(labels[t]))
                    gradient[k] = target - product(theta, k, z, t)
                ridge_step(parameters, theta, extra, gains, e, variances[e, t], gradient, weight)
                continue
            number = learned + t - rounds[0] + 1
            if restart > 0:
                number = (number - 1) % restart + 1
            if learns:
                loss, epsilon = parameters[0], parameters[1]
                loss_gradient(loss, epsilon, own[t], sizes, labels[t], regression, gradient)
                gradient_step(parameters, theta, extra, z, t, gradient, weight, number)
            if number == restart:
                theta[:] = 0.0
                extra[:] = 0.0


@njit(cache=True, nogil=True)
def expert_losses(machine, progress, current, sizes, decision, label, weight, losses):
    """The losses that the combiner learns from; `progress` counts mistakes or squared errors.

    current, sizes : (e, c) the experts' scores; decision : (c,) the combined one
    """
    total, loss = progress.losses, machine.loss
    for e in range(current.shape[0]):
        if loss >= SQUARED:
            error = abs(current[e, 0] - label)
            total[e] += weight * error * error
            if loss == LINEARIZED:
                losses[e] = weight * 2.0 * (decision[0] - label) * current[e, 0]
            else:
                losses[e] = weight * (error if loss == ABSOLUTE else error * error)
            continue
        margin, _, _, wrong = margin_of(current[e], sizes[e], int(label))
        total[e] += weight * wrong
        if loss == MISTAKES:
            losses[e] = weight * wrong
        elif loss == HINGE:
            losses[e] = weight * max(0.0, 1.0 - margin)
        else:
            losses[e] = weight * log_loss(current[e], int(label), margin)


@njit(cache=True, nogil=True)
def feature_rounds(
    machine, progress, table, memory, features, labels, importance, alone, outputs, variances,
    gains, decisions, asked,
):  # fmt: skip
    """One block of rounds: predict, vote, ask, weigh and learn.

    Parameters
    ----------
    machine, progress : what the run does and what it has learned
    labels : (b,) float, targets or numbers of classes; NaN where the label cannot be had
    alone : whether `expert_steps` has predicted and learned already: nothing is left to ask
    decisions : (b, c) out, the combined vote before the label was seen
    asked : (b,) bool out, whose label was looked at
    others : as for `expert_steps`
    """
    n_experts, b, c = outputs.shape
    votes_of, losses = np.empty(n_experts), np.empty(n_experts)
    updates = np.empty(n_experts, dtype=np.bool_)
    counted = np.ones(n_experts, dtype=np.bool_)
    current, sizes = np.empty((n_experts, c)), np.zeros((n_experts, c))
    certain = np.empty(n_experts)
    counters = progress.counters
    # Not constants for the compiler, which would make a version of `expert_steps` for each.
    first, predict, learn = np.int64(0), np.int64(PREDICT), np.int64(LEARN)
    for t in range(b):
        select(machine, progress, votes_of, updates)
        if not alone:
            expert_steps(
                predict, machine, table, memory, features, (first, n_experts), (t, t + 1), labels,
                importance, counters[ASKED], outputs, variances, gains,
            )  # fmt: skip
        for e in range(n_experts):
            certain[e] = variances[e, t]
            for k in range(c):
                current[e, k] = outputs[e, t, k]
        vote(machine, progress, votes_of, current, sizes, decisions[t])
        asked[t] = labels[t] == labels[t]
        if machine.policy != ALL:
            asked[t] = asks(machine, progress, votes_of, current, sizes, certain, asked[t])
        if not asked[t]:
            finish_round(machine, progress, asked[t], decisions[t], labels[t])
            continue
        expert_losses(
            machine, progress, current, sizes, decisions[t], labels[t], importance[t], losses
        )
        for e in range(n_experts):
            counted[e] = updates[e] or machine.loss != MISTAKES
            if not alone:
                what = learn if updates[e] else first
                expert_steps(
                    what, machine, table, memory, features, (e, e + 1), (t, t + 1), labels,
                    importance, counters[ASKED], outputs, variances, gains,
                )  # fmt: skip
        if machine.combiner == ADA_RAKER:
            ada_raker(
                machine.combiner_parameters, machine.loss, progress.log_weights, progress.state,
                losses, current, decisions[t], labels[t], importance[t], counters[ASKED],
            )  # fmt: skip
        else:
            update_weights(
                machine.combiner, machine.combiner_parameters, progress.log_weights, losses,
                counted, progress.state,
            )  # fmt: skip
        finish_round(machine, progress, asked[t], decisions[t], labels[t])
