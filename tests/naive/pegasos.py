"""Multi-class Pegasos, free or under a budget, one example at a time, every norm computed anew.

Wang, Crammer, Vucetic (2010), Multi-class Pegasos on a budget, algorithm 1. Where the printed
formulas do not do for more than two classes, the text says what stands here instead.
"""

import numpy as np

from . import draws
from .budget import REMOVAL, SMALLEST_DIAGONAL
from .projecting import IN_SPAN, solve
from .weights import weighed

EQUAL = 1e-9  # costs within this share of the least are equal: the oldest support vector goes
ROUNDING = 1e-12  # of the greatest, or of the lightest squared norm: what counts as rounding
SMALLEST = 1e-300  # a kappa below it: the humps are at 0 and 1, and nothing between them
CELLS = 256  # of the grid that brackets the best h


class Model:
    """The expansion: points (n, d), a coefficient per class (n, C), the round each dates from.

    number : of the expert, for its draws
    """

    def __init__(self, kernel, n_features, n_classes, number=0):
        self.kernel, self.number, self.seen = kernel, number, 0
        self.points = np.zeros((0, n_features))
        self.alphas = np.zeros((0, n_classes))
        self.births = np.zeros(0, dtype=int)

    def add(self, point, alpha, birth):
        self.points = np.vstack([self.points, point])
        self.alphas = np.vstack([self.alphas, alpha])
        self.births = np.append(self.births, birth)

    def remove(self, slot):
        """The newest, which is last, moves into the slot that becomes free."""
        for values in (self.points, self.alphas, self.births):
            values[slot] = values[-1]
        self.points, self.alphas, self.births = self.points[:-1], self.alphas[:-1], self.births[:-1]

    def squares(self):
        """||alpha_j||^2 k(x_j, x_j) of each support vector."""
        own = np.array([self.kernel(x[None], x)[0] for x in self.points])
        return (self.alphas**2).sum(axis=1) * own


def gram(kernel, A, B):
    return np.array([kernel(B, a) for a in A]).reshape(len(A), len(B))


def squared_norm(kernel, points, alphas):
    """||w||^2, summed over the classes."""
    return max(float(np.sum(alphas * (gram(kernel, points, points) @ alphas))), 0.0)


def oldest_of_the_least(costs, births, room=0.0):
    """The slot of the least cost; of equal ones, the oldest."""
    costs = np.asarray(costs)
    equal = np.flatnonzero(costs <= costs.min() * (1 + EQUAL) + room)
    return int(equal[np.argmin(np.asarray(births)[equal])])


# The maintenance of section 4. Each takes a model with one support vector too many, the newest
# last, and leaves one fewer.


def remove_random(model, t, seed):
    """Any of them, the newest too."""
    u = draws.uniform(seed, t, REMOVAL * 2**20 + model.number)
    model.remove(int(u * len(model.alphas)))


def remove_smallest(model, t, seed):
    """Section 4.1: the least ||alpha_p||^2 k(x_p, x_p)."""
    model.remove(oldest_of_the_least(model.squares(), model.births))


def shares(kernel, points, x):
    """K^-1 k_x, and the squared distance of k(x, .) from the span of the points' k."""
    square = kernel(x[None], x)[0]
    if not len(points):
        return np.zeros(0), square
    values = kernel(points, x)
    solution = solve(gram(kernel, points, points), values)
    return solution, max(square - solution @ values, 0.0)


def in_span(kernel, points, x):
    return shares(kernel, points, x)[1] <= IN_SPAN * kernel(x[None], x)[0]


def spread(model, p):
    """Equation 16: the projection of a support vector takes its place."""
    stay = [j for j in range(len(model.alphas)) if j != p]
    solution, _ = shares(model.kernel, model.points[stay], model.points[p])
    model.alphas[stay] += np.outer(solution, model.alphas[p])
    model.remove(p)


def project(model, t, seed):
    """Section 4.2: the smallest is projected on the others.

    A newest that lies in the span of the others is projected instead, at no loss.
    """
    p, newest = oldest_of_the_least(model.squares(), model.births), len(model.alphas) - 1
    if in_span(model.kernel, model.points[:newest], model.points[newest]):
        p = newest
    spread(model, p)


def bumps(h, kappa):
    """k(x_m, z) and k(x_n, z) of a Gaussian kernel at z = h x_m + (1 - h) x_n."""
    return kappa ** ((1 - h) ** 2), kappa ** (h * h)


def kept(h, a, b, g, kappa):
    """J(h) = ||u alpha_m + v alpha_n||^2, from a = ||alpha_m||^2, b = ||alpha_n||^2, and g.

    g = alpha_m . alpha_n. What is left of w's two terms by the best coefficients at z.
    """
    u, v = bumps(h, kappa)
    return a * u * u + b * v * v + 2 * g * u * v


def rises(h, a, b, g, kappa):
    """Positive where J rises: J' = -4 ln(kappa) times this."""
    u, v = bumps(h, kappa)
    return a * u * u + g * u * v - h * (a * u * u + 2 * g * u * v + b * v * v)


def root(function, left, right):
    """Where a function that is positive at left and not at right changes sign, by bisection.

    To the last digit, however small the root is: of a coefficient of 1e-60 it is 1e-60.
    """
    while left < (middle := (left + right) / 2) < right:
        if function(middle) > 0:
            left = middle
        else:
            right = middle
    return left


def summit(value, slope, low, high):
    """The argument in [low, high] of the greatest value, the least of equal ones.

    Every hump that a fine grid sees, by the sign of the slope: a search by values, such as golden
    section, ends at 1e-8, half the digits, where they are flat.
    """
    grid = np.linspace(low, high, CELLS + 1)
    up = slope(grid) > 0
    tops = [root(slope, grid[i], grid[i + 1]) for i in np.flatnonzero(up[:-1] & ~up[1:])]
    tops = np.array([low] * (not up[0]) + tops + [high] * int(up[-1]))
    values = value(tops)
    room = ROUNDING * np.abs(values).max()
    return float(tops[np.argmax(values >= values.max() - room)])


def best_h(a, b, g, kappa, low=0.0, high=1.0):
    """The h in [low, high] of the greatest J."""
    pair = a, b, g, kappa
    return summit(lambda h: kept(h, *pair), lambda h: rises(h, *pair), low, high)


def lost(h, a, b, g, kappa):
    """||alpha_m k_m + alpha_n k_n - alpha_z k_z||^2 = a + b + 2 kappa g - J(h), without the
    cancellation."""
    L = -np.log(max(kappa, 5e-324))
    own = -a * np.expm1(-2 * L * (1 - h) ** 2) - b * np.expm1(-2 * L * h * h)
    return max(own - 2 * g * kappa * np.expm1(2 * L * h * (1 - h)), 0.0)


def best_merge(light, heavy, kappa):
    """h of a pair with ||alpha_m|| <= ||alpha_n||, and its degradation.

    J(h) - J(1 - h) = (b - a) (v^2 - u^2), so that h <= 1/2 is at least as good where a <= b; equal
    norms give two equal humps, and the one at n stands.
    """
    a, b, g = light @ light, heavy @ heavy, light @ heavy
    if b == 0:
        return 0.0, 0.0
    h = best_h(a / b, 1.0, g / b, kappa, 0.0, 0.5)
    return h, b * lost(h, a / b, 1.0, g / b, kappa)


def printed_merge(light, heavy, kappa):
    """As `best_merge`, where h in [0, 1] is the best of equation 21 as printed.

    It weighs each class with alpha_m / (alpha_m + alpha_n); a class whose sum is 0 has no weight.
    """
    total = light + heavy
    counted = np.abs(total) > EQUAL * np.maximum(np.abs(light), np.abs(heavy))
    first = np.sum(light[counted] / total[counted])
    second = np.sum(heavy[counted] / total[counted])

    def value(h):
        u, v = bumps(h, kappa)
        return first * u + second * v

    def slope(h):
        u, v = bumps(h, kappa)
        return first * (1 - h) * u - second * h * v

    if kappa < SMALLEST:
        h = float(first > second * (1 + ROUNDING))
    else:
        h = summit(value, slope, 0.0, 1.0)
    a, b, g = light @ light, heavy @ heavy, light @ heavy
    return h, lost(h, a, b, g, kappa)


def merge(model, t, seed, search=best_merge):
    """Section 4.3: the smallest with the partner of the least degradation; equations 20 and 22."""
    m = oldest_of_the_least(model.squares(), model.births)
    partners = [j for j in range(len(model.alphas)) if j != m]
    kappas = model.kernel(model.points[partners], model.points[m])
    found = [
        search(model.alphas[m], model.alphas[n], kappa)
        for n, kappa in zip(partners, kappas, strict=True)
    ]
    room = ROUNDING * (model.alphas[m] @ model.alphas[m])
    i = oldest_of_the_least([loss for _, loss in found], model.births[partners], room)
    n, h, kappa = partners[i], found[i][0], kappas[i]
    u, v = bumps(h, kappa)
    model.points[n] = h * model.points[m] + (1 - h) * model.points[n]
    light, heavy = u * model.alphas[m], v * model.alphas[n]
    total = light + heavy  # 0 where the terms cancel: the printed rule would weigh what is left
    sizes = np.abs(light) + np.abs(heavy)
    model.alphas[n] = np.where(np.abs(total) <= ROUNDING * sizes, 0.0, total)
    model.births[n] = min(model.births[m], model.births[n])
    model.remove(m)


def learn(model, x, seen, upkeep=None, budget=None, regularization=1e-4, ball=True):
    """One round of algorithm 1, from what was seen of x: the rival and the loss.

    ball : project on ||w|| <= 1 / sqrt(lambda), line 8
    """
    model.seen += 1
    model.alphas *= 1 - 1 / model.seen
    if seen.loss > 0 and model.kernel(x[None], x)[0] > SMALLEST_DIAGONAL:
        alpha = np.zeros(model.alphas.shape[1])
        lacks, own = 1 - (1 - 1 / model.seen) * (1 - seen.loss), model.kernel(x[None], x)[0]
        alpha[seen.y] = weighed(seen.weight, 1 / (regularization * model.seen), lacks, 2 * own)
        alpha[seen.r] = -alpha[seen.y]
        model.add(x, alpha, seen.t)
        if upkeep is not None and len(model.alphas) > budget:
            upkeep(model, seen.t, seen.seed)
        elif upkeep is project and in_span(model.kernel, model.points[:-1], x):
            spread(model, len(model.alphas) - 1)
    norm = np.sqrt(squared_norm(model.kernel, model.points, model.alphas))
    factor = min(1.0, 1 / (np.sqrt(regularization) * norm)) if norm > 0 and ball else 1.0
    model.alphas *= factor
