"""Experts with a score for each class, two classes or more, one example at a time.

f^(c)(x) = sum_j alpha_j^(c) k(x_j, x). Where a binary rule has y f(x), these have the margin
f^(y)(x) - f^(r)(x), r the best class but y; where it adds y k(x, .), they add
Phi(x, y) - Phi(x, r),
k(x, .) for y and -k(x, .) for r, whose squared length is 2 k(x, x): Crammer, Singer (2003),
Ultraconservative online algorithms; Crammer et al. (2006), section 8. The rules themselves, with
their papers: `omkc`, `passive_aggressive`, `budget`, `projecting`, `om2`.
"""

from typing import NamedTuple

import numpy as np

from . import draws, pegasos
from .budget import ADMISSION, REMOVAL, SMALLEST_DIAGONAL, damage, greatest_phi
from .kernels import Values
from .omkc import zero_or
from .passive_aggressive import pa_step
from .projecting import IN_SPAN, solve
from .weights import weighed


def winner(totals, sizes, order):
    """The first of the classes, in the order given, whose total is the greatest to rounding."""
    most = max(totals[c] for c in order)
    best = next(c for c in order if totals[c] == most)
    return next(c for c in order if most - totals[c] <= 1e-12 * (sizes[best] + sizes[c]))


class Seen(NamedTuple):
    """What an expert makes of an example whose class is y: the round t, its weight, the draws."""

    y: int
    r: int  # the best class but y
    margin: float  # f^(y) - f^(r)
    loss: float  # max(0, 1 - margin)
    wrong: bool  # another class is predicted
    t: int
    weight: float
    seed: int

    def errs(self, tie):
        return self.margin <= 0 if tie == "margin" else self.wrong


def see(terms, y, order, t=0, weight=1.0, seed=0):
    """terms : (n, C) of the scores; order : the classes, those that win ties first."""
    totals, sizes = terms.sum(axis=0), np.abs(terms).sum(axis=0)
    scores = np.where(np.abs(totals) <= 1e-12 * sizes, 0.0, totals)  # each as by zero_or
    r = winner(scores, sizes, [c for c in order if c != y])
    margin = zero_or(np.concatenate([terms[:, y], -terms[:, r]]))
    loss = max(0.0, zero_or(np.concatenate([[1.0], terms[:, r], -terms[:, y]])))
    wrong = winner(scores, sizes, order) != y
    return scores, sizes, Seen(y, r, margin, loss, wrong, t, weight, seed)


class Expert:
    """One kernel's support vectors, in order: row numbers and (n, C) coefficients."""

    def __init__(self, number, kernel, X, C, budget=None):
        self.number, self.values, self.budget = number, Values(kernel, X), budget
        self.rows, self.alphas = [], np.zeros((0, C))
        self.mistakes, self.damage = 0, 0.0  # M and Q of the Forgetron

    def k(self, i, j):
        return float(self.values[j][i])

    def gram(self, rows, others):
        values = [self.values[row][others] for row in rows]
        return np.array(values).reshape(len(rows), len(others))

    def terms(self, t):
        return self.alphas * self.gram([t], self.rows).T

    def full(self):
        return len(self.rows) == self.budget

    def difference(self, seen):
        """Phi(x, y) - Phi(x, r): (C,)."""
        change = np.zeros(self.alphas.shape[1])
        change[seen.y], change[seen.r] = 1.0, -1.0
        return change

    def add(self, seen, step):
        self.rows.append(seen.t)
        self.alphas = np.vstack([self.alphas, step * self.difference(seen)])

    def replace(self, slot, t, alpha):
        self.rows[slot], self.alphas[slot] = t, alpha

    def drawn_slot(self, seen):
        u = draws.uniform(seen.seed, seen.t, REMOVAL * 2**20 + self.number)
        return int(u * self.budget)

    def squared_norm(self):
        """|f|^2, summed over the classes."""
        return max(float(np.sum(self.alphas * (self.gram(self.rows, self.rows) @ self.alphas))), 0)


def mistaken_among_many(expert, seen):
    """The step of a mistake: 1, and for more than one example in a row until it is none."""
    own = 2.0 * expert.k(seen.t, seen.t)
    return weighed(seen.weight, 1.0, own - seen.margin, own)


def perceptron(expert, seen, tie="margin"):
    """RBP with a budget: a random support vector goes first."""
    if not seen.errs(tie):
        return
    step = mistaken_among_many(expert, seen)
    if expert.full():
        expert.replace(expert.drawn_slot(seen), seen.t, step * expert.difference(seen))
    else:
        expert.add(seen, step)


def passive_aggressive(expert, seen, variant="PA-I", aggressiveness=1.0):
    """The length of what is added stands for ||x||: 2 k(x, x)."""
    square = 2.0 * expert.k(seen.t, seen.t)
    if seen.loss > 0 and square > SMALLEST_DIAGONAL:
        step = pa_step(variant, aggressiveness, seen.loss, square)
        expert.add(seen, weighed(seen.weight, step, seen.loss, square))


def forgetron(expert, seen, tie="margin"):
    """On vectors of length 1: what is added, and so f, is measured in units of sqrt(2)."""
    if not seen.errs(tie):
        return
    step = mistaken_among_many(expert, seen)
    expert.mistakes += 1
    if not expert.full():
        expert.add(seen, step)
        return
    slot = expert.rows.index(min(expert.rows))
    oldest, alpha = expert.rows[slot], expert.alphas[slot]
    new = step * expert.difference(seen)
    after = expert.terms(oldest).sum(axis=0) + new * expert.k(seen.t, oldest)
    length = np.sqrt(alpha @ alpha)
    s, mu = length / np.sqrt(2), (alpha / length) @ after / np.sqrt(2)
    room = max(15 / 32 * expert.mistakes - expert.damage, 15 / 32)
    phi = greatest_phi(s, mu, room)
    expert.damage += damage(s, mu, phi)
    expert.alphas = phi * expert.alphas
    expert.replace(slot, seen.t, phi * new)


def bogd(expert, seen, step=0.1, regularization=0.01, uniform=False):
    """The gradient of the loss is Phi(x, r) - Phi(x, y). Upkeep as in `budget.bogd`."""
    if seen.loss <= 0:
        return
    new = weighed(seen.weight, step, seen.loss, 2 * expert.k(seen.t, seen.t))
    expert.alphas = (1 - step * regularization) * expert.alphas
    if not expert.full():
        expert.add(seen, new)
        return
    slot = expert.drawn_slot(seen) if uniform else expert.rows.index(min(expert.rows))
    if uniform and expert.budget > 1:
        expert.alphas = expert.budget / (expert.budget - 1) * expert.alphas
    expert.replace(slot, seen.t, new * expert.difference(seen))


def bpas_objective(alpha, own, between, square, beta, margin, difference, cap):
    """Half the squared length of the change, and cap times the loss after it.

    alpha k(x_r, .) gives way to beta k(x_t, .); the loss is that between two classes.
    """
    moved = alpha @ alpha * own - 2 * alpha @ beta * between + beta @ beta * square
    after = margin + difference @ (beta * square - alpha * between)
    return moved / 2 + cap * max(0.0, 1 - after)


def bpas_coefficients(alpha, own, between, square, margin, difference, cap):
    """The best beta, (C,), and its objective.

    What alpha k(x_r, .) leaves on x_t, and a multiple of the difference: the one at which the loss
    is 0, or cap, from where on it takes more length than it is worth.
    """
    step = min(cap, (1 - margin) / (2 * square))
    beta = alpha * between / square + step * difference
    # Where the loss is 0, its rounding is not: no part of what removals are compared by.
    price = cap if step == cap else 0.0
    return beta, bpas_objective(alpha, own, between, square, beta, margin, difference, price)


def first_of_the_least(expert, seen, costs, scale=0.0):
    """The oldest of the slots of least cost."""
    equal = [i for i, cost in enumerate(costs) if cost <= min(costs) + 1e-13 * abs(min(costs))]
    return min(equal, key=lambda i: expert.rows[i])


def bpas(expert, seen, aggressiveness=0.1, choose=first_of_the_least):
    """BPA-S: the removal and the new coefficients of the least objective.

    choose : the slot that goes, from the objectives of all removals and the greatest of their
        terms; a test may follow the compiled choice where rounding decides
    """
    square = expert.k(seen.t, seen.t)
    if seen.loss <= 0 or square <= SMALLEST_DIAGONAL:
        return
    given = square, seen.margin, expert.difference(seen), seen.weight * aggressiveness
    if not expert.full():
        nothing = np.zeros(expert.alphas.shape[1])
        beta, _ = bpas_coefficients(nothing, 0.0, 0.0, *given)
        expert.add(seen, beta[seen.y])
        return
    trials = [
        bpas_coefficients(alpha, expert.k(row, row), expert.k(row, seen.t), *given)
        for row, alpha in zip(expert.rows, expert.alphas, strict=True)
    ]
    scale = max(
        max(alpha @ alpha * expert.k(row, row), beta @ beta * square)
        for row, alpha, (beta, _) in zip(expert.rows, expert.alphas, trials, strict=True)
    )
    slot = choose(expert, seen, [cost for _, cost in trials], scale)
    expert.replace(slot, seen.t, trials[slot][0])


def sparse_pa(expert, seen, step=0.1, cap=1.0, divisor=3.0, unit_diagonal=False):
    """Lu et al. (2015), algorithm 1; when full, with the upkeep of BPA-S."""
    square = expert.k(seen.t, seen.t)
    length = 2.0 * (1.0 if unit_diagonal else square)
    if seen.loss <= 0 or (length if expert.budget is None else square) <= SMALLEST_DIAGONAL:
        return
    rho = min(cap, seen.loss) / divisor
    if draws.uniform(seen.seed, seen.t, ADMISSION * 2**20 + expert.number) >= rho:
        return
    tau = weighed(seen.weight, min(step / rho, seen.loss / length), seen.loss, length)
    if not expert.full():
        expert.add(seen, tau)
        return
    between = expert.gram([seen.t], expert.rows)[0]
    own = np.array([expert.k(row, row) for row in expert.rows])
    costs = (expert.alphas**2).sum(axis=1) * (own - between**2 / square)
    slot = first_of_the_least(expert, seen, costs)
    left = expert.alphas[slot] * between[slot] / square
    expert.replace(slot, seen.t, left + tau * expert.difference(seen))


def projectron(expert, seen, tie="margin", threshold=0.3, margin_errors=False):
    """The projection of Phi(x, y) - Phi(x, r) is that of k(x, .), for y and r.

    Its squared length is 2 |P|^2, and its distance from what it projects, beside the length of
    that, is that of k(x, .).
    """
    square = expert.k(seen.t, seen.t)
    if square <= SMALLEST_DIAGONAL or not (seen.errs(tie) or (margin_errors and seen.loss > 0)):
        return
    shares, inside = np.zeros(0), 0.0
    if expert.rows:
        values = expert.gram([seen.t], expert.rows)[0]
        shares = solve(expert.gram(expert.rows, expert.rows), values)
        inside = shares @ values
    distance = max(square - inside, 0.0) / square
    step = seen.weight
    if seen.errs(tie):
        step = mistaken_among_many(expert, seen)
        if distance > max(threshold**2, IN_SPAN) and not expert.full():
            expert.add(seen, step)
            return
    else:
        slack = threshold * seen.loss - np.sqrt(distance)
        if slack <= 0 or inside <= 0:
            return
        step = min(step, seen.loss / (2 * inside), 2 * slack / threshold / (2 * inside))
    for i, row in enumerate(expert.rows):
        for c, part in enumerate(step * expert.difference(seen)):
            size = abs(expert.alphas[i, c]) + abs(part) * np.sqrt(square / expert.k(row, row))
            total = expert.alphas[i, c] + part * shares[i]
            expert.alphas[i, c] = 0.0 if abs(total) <= 1e-12 * size else total


def ahpatron(expert, seen, margin=0.5, radius=None, ridge=0.0005):
    """|f| and the |coefficient| of a support vector are summed over the classes."""
    if seen.margin >= margin or expert.k(seen.t, seen.t) <= SMALLEST_DIAGONAL:
        return
    radius = np.sqrt(expert.budget) / 2 if radius is None else radius
    if expert.full():
        before, alphas, rows = expert.squared_norm(), expert.alphas, np.array(expert.rows)
        by_size = np.argsort(-(alphas**2).sum(axis=1), kind="stable")
        stay = np.sort(by_size[: len(rows) // 2])
        go = np.setdiff1d(np.arange(len(rows)), stay)
        expert.rows, expert.alphas = list(rows[stay]), alphas[stay]
        if len(stay):
            K = expert.gram(rows[stay], rows[stay])
            K += ridge * np.diag(np.diag(K))
            right = expert.gram(rows[stay], rows[go]) @ alphas[go]
            expert.alphas = alphas[stay] + np.array([solve(K, column) for column in right.T]).T
            after = expert.squared_norm()
            expert.alphas = (np.sqrt(before / after) if after > 0 else 1.0) * expert.alphas
    first = radius / np.sqrt(4 * expert.budget)
    square = 2 * expert.k(seen.t, seen.t)
    expert.add(seen, weighed(seen.weight, first, margin - seen.margin, square))
    norm = np.sqrt(expert.squared_norm())
    if norm > radius:
        expert.alphas = radius / norm * expert.alphas


class PegasosExpert:
    """`pegasos.Model`, whose support vectors may be no rows."""

    def __init__(self, number, kernel, X, C, budget=None):
        self.X, self.budget = X, budget
        self.model = pegasos.Model(kernel, X.shape[1], C, number)

    def terms(self, t):
        return self.model.alphas * self.model.kernel(self.model.points, self.X[t])[:, None]


def pegasos_round(expert, seen, upkeeps, **settings):
    """upkeeps : of each expert."""
    upkeep, x = upkeeps[expert.model.number], expert.X[seen.t]
    pegasos.learn(expert.model, x, seen, upkeep, expert.budget, **settings)
