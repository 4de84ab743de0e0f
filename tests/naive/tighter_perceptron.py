"""The tighter budget perceptron of Weston, Bordes, Bottou (2005), one example at a time."""

import numpy as np

from .budget import mistaken
from .multiclass import mistaken_among_many
from .omkc import errs


def two_classes(expert, t, f, y, weight, seed, tie="margin"):
    """Weston, Bordes, Bottou (2005): the removal that leaves the fewest mistakes on all of them."""
    if not errs(f, y, tie):
        return
    full = expert.full()
    expert.add(t, mistaken(expert, t, f, y, weight) * y)
    if not full:
        return
    n = len(expert.rows)
    costs = []
    for gone in range(n):
        mistakes = 0
        for s in range(n):
            terms = [a * expert.k(r, expert.rows[s]) for r, a in zip(*_lists(expert), strict=True)]
            left = sum(term for i, term in enumerate(terms) if i != gone)
            size = sum(map(abs, terms))
            mistakes += np.sign(expert.alphas[s]) * left <= 1e-12 * size
        costs.append(mistakes)
    gone = min(range(n), key=lambda i: (costs[i], expert.rows[i]))
    row, alpha = expert.rows.pop(), expert.alphas.pop()
    if gone < n - 1:
        expert.replace(gone, row, alpha)


def _lists(expert):
    return expert.rows, expert.alphas


def many_classes(expert, seen, tie="margin"):
    """Weston, Bordes, Bottou (2005): the removal that leaves the fewest mistakes on all of them."""
    if not seen.errs(tie):
        return
    full = expert.full()
    expert.add(seen, mistaken_among_many(expert, seen))
    if not full:
        return
    n = len(expert.rows)
    gram = expert.gram(expert.rows, expert.rows)
    labels = expert.alphas.argmax(axis=1)
    costs = []
    for gone in range(n):
        left = [i for i in range(n) if i != gone]
        mistakes = 0
        for s in range(n):
            terms = expert.alphas[left] * gram[s, left][:, None]
            size = np.abs(expert.alphas * gram[s][:, None]).sum(axis=0)
            own = labels[s]
            mistakes += any(
                terms[:, own].sum() - terms[:, c].sum() <= 1e-12 * (size[own] + size[c])
                for c in range(expert.alphas.shape[1])
                if c != own
            )
        costs.append(mistakes)
    least = min(costs)
    gone = min((i for i in range(n) if costs[i] == least), key=lambda i: expert.rows[i])
    if gone < n - 1:
        expert.replace(gone, expert.rows[-1], expert.alphas[-1])
    expert.rows.pop()
    expert.alphas = expert.alphas[:-1]
