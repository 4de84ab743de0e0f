"""The machine round by round: any experts, combiner, selection and label policy.

An expert has `see(t)`, its scores and the sizes of the terms behind them, (c,) each; `learn(t,
label, weight, number, seed)`, number counting labels from 1; and for classes `errs(t, label)` where
it counts its mistakes by a rule of its own.
"""

from typing import NamedTuple

import numpy as np

from . import budget, draws, multiclass, policies, subsets
from .combiners import Hedge
from .omkc import errs, sign, zero_or

CLOSE = 1e-12


class Result(NamedTuple):
    predictions: np.ndarray  # (T,) numbers, or numbers of classes
    asked: np.ndarray  # (T,) bool
    weights: np.ndarray  # (e,) at the end, summing to 1
    losses: np.ndarray  # (e,) mistakes or squared errors so far
    experts: list
    used: np.ndarray  # (e,) bool, who took part in the last vote; of the adaptive, in the next


class Binary:
    """An expert of `budget` or `projecting`, by its step; classes 0 and 1 are y = -1 and +1."""

    def __init__(self, number, kernel, X, step, slots=10_000, tie="label"):
        self.expert = budget.Expert(number, kernel, X, slots)
        self.step, self.tie = step, tie

    def see(self, t):
        terms = self.expert.terms(t)
        return np.array([zero_or(terms)]), np.array([np.abs(terms).sum()])

    def errs(self, t, label):
        return errs(self.see(t)[0][0], 2 * label - 1, self.tie)

    def learn(self, t, label, weight, number, seed):
        if weight > 0:
            self.step(self.expert, t, self.see(t)[0][0], 2 * label - 1, weight, seed)


class Multi:
    """An expert of `multiclass`, by its step; `half` for two classes that share one score."""

    def __init__(self, expert, C, step, tie="label", half=False):
        self.expert, self.C, self.step, self.tie, self.half = expert, C, step, tie, half
        self.order = [1, 0] if C == 2 else range(C)

    def see(self, t):
        terms = self.expert.terms(t)
        scores = np.array([zero_or(own) for own in terms.T])
        sizes = np.abs(terms).sum(axis=0)
        return (scores[1:], sizes[1:]) if self.half else (scores, sizes)

    def seen(self, t, label, weight=1.0, seed=0):
        return multiclass.see(self.expert.terms(t), label, self.order, t, weight, seed)[2]

    def errs(self, t, label):
        return self.seen(t, label).errs(self.tie)

    def learn(self, t, label, weight, number, seed):
        if weight > 0:
            self.step(self.expert, self.seen(t, label, weight, seed))


def margin_of(scores, sizes, label):
    """How far the label is ahead of the best other class; two classes with one score: y f."""
    if len(scores) == 1:
        return scores[0] if label == 1 else -scores[0]
    others = [c for c in range(len(scores)) if c != label]
    rival = multiclass.winner(scores, sizes, others)
    ahead = scores[label] - scores[rival]
    return 0.0 if abs(ahead) <= CLOSE * (sizes[label] + sizes[rival]) else ahead


def loss_of(loss, scores, sizes, label, mistake, decision):
    """What the combiner learns from."""
    if loss == "linearized":
        return 2 * (decision[0] - label) * scores[0]
    if loss in ("squared", "absolute"):
        error = abs(scores[0] - label)
        return error if loss == "absolute" else error**2
    if loss == "mistakes":
        return float(mistake)
    if loss == "hinge":
        return max(0.0, 1 - margin_of(scores, sizes, label))
    if len(scores) == 1:
        return np.logaddexp(0.0, -margin_of(scores, sizes, label))
    return np.logaddexp.reduce(scores) - scores[label]


def opinion_of(loss, scores, sizes):
    """What an expert's vote says, (c,)."""
    if loss == "mistakes" and len(scores) == 1:
        return np.array([sign(scores[0])])
    if loss == "mistakes":
        return np.eye(len(scores))[multiclass.winner(scores, sizes, range(len(scores)))]
    return np.clip(scores, -1, 1) if loss == "hinge" else scores


def vote(loss, weights, current, sizes):
    """(c,) the combined vote, over the sum of its weights."""
    loud = sizes
    if loss == "mistakes":
        current = [opinion_of(loss, *own) for own in zip(current, sizes, strict=True)]
        loud = np.abs(current)
    total, behind = weights @ np.array(current), weights @ np.array(loud)
    if not weights.any():
        return np.zeros_like(total)
    if len(total) == 1:
        total[np.abs(total) <= CLOSE * behind] = 0.0
    else:
        total[multiclass.winner(total, behind, range(len(total)))] = total.max()
    return total / weights.sum()


def run(
    labels,
    experts,
    combiner,
    loss,
    numbers=False,
    policy=policies.everything,
    ratio=None,
    update="all",
    vote_of="all",
    smoothing=0.01,
    spread=True,
    weighted=True,
    seed=0,
    importance=None,
    cap=np.inf,
    rows=None,
):
    """
    Parameters
    ----------
    labels : (T,) numbers or classes; None where a label cannot be had
    combiner : with `weights()` and `learn(losses)`
    loss : "mistakes", "hinge", "logistic", "squared", "absolute" or "linearized"
    numbers : whether labels are numbers
    ratio : of the adaptive selection; None: all experts, or drawn ones
    rows : (T, d) or None; the combiner does not learn from a row that an expert holds one equal to
    """
    T, m = len(labels), len(experts)
    importance, mean = np.ones(T) if importance is None else np.array(importance, float), 0.0
    predictions, asked = [], np.zeros(T, dtype=bool)
    losses, count, skipped, weighed = np.zeros(m), 0, 0, 0
    subset = used = np.ones(m, dtype=bool)
    for t in range(T):
        q = np.asarray(combiner.weights(), dtype=float)
        q = q / q.max()
        p = (1 - smoothing) * q + smoothing / (m if spread else 1)
        updated, used = np.ones(m, dtype=bool), subset
        for i in range(m):
            if update == "drawn":
                updated[i] = draws.bernoulli(seed, t, draws.UPDATE, i, p[i])
        if vote_of == "drawn" and update == "drawn":
            used = updated
        elif vote_of == "drawn":
            used = np.array(
                [draws.bernoulli(seed, t, draws.VOTE, i, p[i]) for i in range(m)], dtype=bool
            )
        seen = [expert.see(t) for expert in experts]
        current, sizes = ([own[k] for own in seen] for k in (0, 1))
        weights = np.where(used, q if weighted else 1.0, 0.0)
        decision = vote(loss, weights, current, sizes)
        if numbers:
            predictions.append(decision[0])
        elif len(decision) == 1:
            predictions.append(int(decision[0] >= 0))
        else:
            predictions.append(int(np.argmax(decision)))

        known = policies.Known(
            q, weights, used, [opinion_of(loss, *own) for own in seen], count, skipped, seed, t
        )
        wanted = policy(known)
        if labels[t] is None or not (wanted or count == 0):
            skipped += 1
            continue
        asked[t], count, skipped = True, count + 1, 0
        if importance[t] == 0:
            continue
        weighed += 1
        mean += (importance[t] - mean) / min(weighed, 1000)
        importance[t] /= mean
        if hasattr(policy, "note"):
            error = predictions[t] - labels[t] if numbers else predictions[t] != labels[t]
            policy.note(count, float(error) ** 2)

        suffered = np.zeros(m)
        for i, expert in enumerate(experts):
            mistake = False
            if numbers:
                losses[i] += importance[t] * (current[i][0] - labels[t]) ** 2
            else:
                mistake = wrong_class(expert, t, current[i], sizes[i], labels[t])
                losses[i] += importance[t] * mistake
            own = loss_of(loss, current[i], sizes[i], labels[t], mistake, decision)
            suffered[i] = min(importance[t] * own, cap)
            if loss == "mistakes" and isinstance(combiner, Hedge) and not updated[i]:
                suffered[i] = 0.0  # a discount goes with an update
        held = {row for expert in experts for row in rows_of(expert)}
        for i, expert in enumerate(experts):
            if updated[i]:
                expert.learn(t, labels[t], importance[t], weighed, seed)
            if hasattr(expert, "forget"):
                expert.forget(np.flatnonzero(asked & (importance > 0)))
        if rows is None or not any(np.array_equal(rows[row], rows[t]) for row in held):
            combiner.learn(suffered)
        if ratio is not None:
            subset = subsets.draw(np.asarray(combiner.weights(), dtype=float), ratio, seed, t)
    weights = np.asarray(combiner.weights(), dtype=float)
    return Result(
        np.array(predictions), asked, weights / weights.sum(), losses, experts,
        used if ratio is None else subset,
    )  # fmt: skip


def rows_of(expert):
    """Numbers of the rows that an expert holds; none of one on features."""
    own = getattr(expert, "expert", expert)
    return own.model.births if hasattr(own, "model") else getattr(own, "rows", [])


def wrong_class(expert, t, scores, sizes, label):
    """Whether the expert's mistake counts."""
    if hasattr(expert, "errs"):
        return expert.errs(t, label)
    if len(scores) == 1:
        return (scores[0] >= 0) != (label == 1)
    return multiclass.winner(scores, sizes, range(len(scores))) != label
