"""Experts that hold at most B support vectors each, one example at a time.

RBP: Cavallanti, Cesa-Bianchi, Gentile (2007), Tracking the best hyperplane with a simple budget
perceptron, algorithm 3. Forgetron: Dekel, Shalev-Shwartz, Singer (2008), The Forgetron, figure 5
and section 6 (self-tuned). BOGD: Zhao, Wang, Wu, Jin, Hoi (2012), Fast bounded online gradient
descent, algorithm 1. BPA-S: Wang, Vucetic (2010), Online passive-aggressive algorithms on a
budget, section 3.1. Their combination: Lu, Hoi, Sahoo, Zhao (2015), and Hoi et al. (2013).
"""

import numpy as np

from . import draws
from .kernels import Values
from .omkc import errs
from .weights import weighed

ADMISSION, REMOVAL = 2, 3
SMALLEST_DIAGONAL = 1e-12


class Expert:
    """One kernel's support vectors: the slots in order, each (row number, coefficient)."""

    def __init__(self, number, kernel, X, budget):
        self.number, self.values, self.budget = number, Values(kernel, X), budget
        self.rows, self.alphas = [], []
        self.mistakes, self.damage = 0, 0.0  # M and Q of the Forgetron

    def k(self, i, j):
        return float(self.values[j][i])

    def terms(self, t):
        if not self.rows:
            return np.zeros(0)
        return np.array(self.alphas) * self.values[t][self.rows]

    def shrink(self, factor):
        self.alphas = [factor * alpha for alpha in self.alphas]

    def full(self):
        return len(self.rows) == self.budget

    def add(self, t, alpha):
        self.rows.append(t)
        self.alphas.append(alpha)

    def replace(self, slot, t, alpha):
        self.rows[slot], self.alphas[slot] = t, alpha


def drawn_slot(expert, seed, round_):
    """Any of the slots, uniformly."""
    u = draws.uniform(seed, round_, REMOVAL * 2**20 + expert.number)
    return int(u * expert.budget)


def mistaken(expert, t, f, y, weight):
    """The step of a mistake: 1, and for more than one example in a row until it is none."""
    own = expert.k(t, t)
    return weighed(weight, 1.0, own - y * f, own)


def rbp(expert, t, f, y, weight, seed, tie="margin"):
    """Algorithm 3: a mistake is added; when full, a random support vector goes first."""
    if not errs(f, y, tie):
        return
    step = mistaken(expert, t, f, y, weight)
    if expert.full():
        expert.replace(drawn_slot(expert, seed, t), t, step * y)
    else:
        expert.add(t, step * y)


def damage(s, mu, phi):
    """Psi of the Forgetron: what shrinking by phi and then removing s costs."""
    return (s * phi) ** 2 + 2 * s * phi * (1 - phi * mu)


def greatest_phi(s, mu, room):
    """The largest phi in (0, 1] with Psi(phi) <= room, among 1 and the roots of Psi = room."""
    quadratic = s * s - 2 * s * mu
    candidates = [1.0]
    discriminant = s * s + quadratic * room
    if discriminant >= 0:
        # Roots of quadratic phi^2 + 2 s phi - room, the stable way.
        larger = s + np.sqrt(discriminant)
        candidates.append(room / larger)
        if quadratic != 0:
            candidates.append(-larger / quadratic)
    slack = 1e-12 * (1 + abs(room))
    allowed = [phi for phi in candidates if 0 < phi <= 1 and damage(s, mu, phi) <= room + slack]
    return max(allowed)


def forgetron(expert, t, f, y, weight, seed, tie="margin"):
    """Figure 5 with the phi of section 6: shrink all, then remove the oldest."""
    if not errs(f, y, tie):
        return
    step = mistaken(expert, t, f, y, weight)
    expert.mistakes += 1
    if not expert.full():
        expert.add(t, step * y)
        return
    slot = expert.rows.index(min(expert.rows))
    oldest, alpha = expert.rows[slot], expert.alphas[slot]
    after = sum(a * expert.k(r, oldest) for r, a in zip(expert.rows, expert.alphas, strict=True))
    after += step * y * expert.k(t, oldest)
    s, mu = abs(alpha), np.sign(alpha) * after
    # Q <= 15/32 (M - 1) held before, but for the rounding of huge terms.
    room = max(15 / 32 * expert.mistakes - expert.damage, 15 / 32)
    phi = greatest_phi(s, mu, room)
    expert.damage += damage(s, mu, phi)
    expert.shrink(phi)
    expert.replace(slot, t, phi * step * y)


def bogd(expert, t, f, y, weight, seed, step=0.1, regularization=0.01, uniform=False):
    """Algorithm 1, with uniform sampling; else the oldest goes, and nothing is rescaled."""
    if 1 - y * f <= 0:
        return
    new = weighed(weight, step, 1 - y * f, expert.k(t, t)) * y
    expert.shrink(1 - step * regularization)
    if not expert.full():
        expert.add(t, new)
        return
    if not uniform:
        expert.replace(expert.rows.index(min(expert.rows)), t, new)
        return
    slot = drawn_slot(expert, seed, t)
    if expert.budget > 1:
        expert.shrink(expert.budget / (expert.budget - 1))
    expert.replace(slot, t, new)


def best_coefficient(alpha, own, between, square, f, y, cap):
    """The beta of the least objective where alpha k(x_r, .) gives way to beta k(x_t, .), and it.

    1/2 ||beta k_t - alpha k_r||^2 + cap max(0, 1 - y f_new(x_t)) is a parabola on either side of
    the kink: least at the vertex of one of them, or at the kink.
    """

    def distance(beta):
        return (alpha * alpha * own - 2 * alpha * beta * between + beta * beta * square) / 2

    def objective(beta):
        return distance(beta) + cap * max(0.0, 1 - y * (f - alpha * between + beta * square))

    vertex = alpha * between / square
    kink = (y - f + alpha * between) / square  # the loss is 0 there
    trials = [(objective(beta), beta) for beta in (vertex, vertex + cap * y)]
    least, beta = min([*trials, (distance(kink), kink)])
    return beta, least


def first_of_the_least(expert, t, loss, costs, scale):
    """The first slot of the least cost; None where there is no loss."""
    if loss <= 0:
        return None
    if not expert.full():
        return len(expert.rows)
    return next(i for i, cost in enumerate(costs) if cost <= min(costs) * (1 + 1e-13))


def bpas(expert, t, f, y, weight, seed, aggressiveness=0.1, choose=first_of_the_least):
    """BPA-S: the removal and the new coefficient of the least objective.

    choose : the slot for the example, from its loss, the objectives of all removals and the
        greatest of their terms; a test may follow the compiled choice where rounding decides
    """
    square = expert.k(t, t)
    if square <= SMALLEST_DIAGONAL:
        return
    cap = weight * aggressiveness
    trials, scale = [], 0.0
    if expert.full():
        for r, alpha in zip(expert.rows, expert.alphas, strict=True):
            own = expert.k(r, r)
            trials.append(best_coefficient(alpha, own, expert.k(r, t), square, f, y, cap))
            scale = max(scale, alpha * alpha * own, trials[-1][0] ** 2 * square)
    slot = choose(expert, t, 1 - y * f, [cost for _, cost in trials], scale)
    if slot is None:
        return
    if expert.full():
        expert.replace(slot, t, trials[slot][0])
    else:
        expert.add(t, best_coefficient(0.0, 0.0, 0.0, square, f, y, cap)[0])


def least_loss_of_norm(expert, t, square):
    """The slot of the least alpha_r^2 (k_rr - k_rt^2 / k_tt), the oldest of equals; k_rt."""
    costs, between = [], []
    for r, alpha in zip(expert.rows, expert.alphas, strict=True):
        between.append(expert.k(r, t))
        costs.append(alpha * alpha * (expert.k(r, r) - between[-1] / square * between[-1]))
    equal = [i for i, cost in enumerate(costs) if cost == min(costs)]
    slot = min(equal, key=lambda i: expert.rows[i])
    return slot, between[slot]


def sparse_pa(expert, t, f, y, weight, seed, step=0.1, cap=1.0, divisor=3.0, unit_diagonal=False):
    """Lu et al. (2015), algorithm 1; when full, with the upkeep of BPA-S."""
    loss, square = max(0.0, 1 - y * f), expert.k(t, t)
    if loss <= 0 or square <= SMALLEST_DIAGONAL:
        return
    rho = min(cap, loss) / divisor
    if draws.uniform(seed, t, ADMISSION * 2**20 + expert.number) >= rho:
        return
    own = 1.0 if unit_diagonal else square
    tau = weighed(weight, min(step / rho, loss / own), loss, own)
    if not expert.full():
        expert.add(t, tau * y)
        return
    slot, between = least_loss_of_norm(expert, t, square)
    expert.replace(slot, t, expert.alphas[slot] * (between / square) + tau * y)
