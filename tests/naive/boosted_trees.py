"""Boosted trees on the last rows, one tree at a time, on lists of rows and tree nodes.

Gradients and their gain: Friedman (2001), and Chen and Guestrin (2016), equation 7. The best leaf
is cut first, as in Ke et al. (2017). Bins are those of the sample in `cells`, but twice as many.
"""

import numpy as np

from .cells import OneSum, Sample, single

BINS = 64
BETTER = 1 + 1e-9  # of equal cuts the first one is taken


class Row:
    """What is kept of a row; leaves : of all trees, those in which it lies."""

    def __init__(self, values, bins, label, weight, total, leaves):
        self.values, self.bins, self.label, self.weight = values, bins, label, single(weight)
        self.total, self.leaves = total, leaves


class Leaf:
    """Without children until it is cut."""

    def __init__(self, weights):
        self.weights, self.children, self.feature, self.cut = weights, None, None, None

    def find(self, values):
        if self.children is None:
            return self
        return self.children[int(values[self.feature] > self.cut)].find(values)


class BoostedTrees(OneSum):
    """The expert; parameters as of the learner."""

    def __init__(self, d, C, seed, n, leaves, window, step, work):
        super().__init__(C, seed)
        self.leaves, self.window, self.step, self.work = leaves, window, step, work
        self.sample, self.usual_bins = Sample(d, seed, BINS), [0] * d
        self.trees = [self.bare() for _ in range(n)]
        self.rows, self.gone = [], 0  # all rows so far; how many of these are forgotten
        self.credit = self.turn = self.fits = 0

    def bare(self):
        return Leaf(np.zeros(self.c, single))

    def raw(self, values):
        """The sum of the weights, and the leaves."""
        leaves, total = [tree.find(values) for tree in self.trees], np.zeros(self.c)
        for leaf in leaves:
            total += leaf.weights
        return total, leaves

    def scores(self, x):
        total, _ = self.raw(self.sample.place(x)[0])
        return self.offset + self.unit * total if self.C is None else total

    def latest(self):
        """The rows that count, the last one first."""
        return self.rows[max(self.gone, len(self.rows) - self.window) :][::-1]

    def learn(self, x, label, weight=1.0):
        (values, bins, _), scores = self.sample.place(x), self.scores(x)
        total, leaves = self.raw(values)
        self.number += 1
        if self.C is None:
            label = min(max(label, -1e150), 1e150)
            self.fresh = total  # which is in other units, too, where these change
            self.residual(scores[0], label)
            total = self.fresh
        else:
            own = self.gradient(scores, label)[label if self.c > 1 else 0]
            if self.follow_error(abs(own)):
                self.alarms += 1
                self.gone = max(self.gone, len(self.rows) - 300)
                self.trees = [self.bare() for _ in self.trees]
                self.credit, total, leaves = 0, np.zeros(self.c), list(self.trees)
                for row in self.rows:
                    row.total, row.leaves = np.zeros(self.c), list(self.trees)
        self.rows.append(Row(values, bins, label, min(weight, 1e6), total, leaves))
        if self.sample.add(values, self.number):
            shares = [np.diff(own.shares).astype(single) for own in self.sample.features]
            self.usual_bins = [int(np.argmax(own)) for own in shares]
            for row in self.rows:
                row.bins = [
                    own.bin_and_rank(value)[0]
                    for own, value in zip(self.sample.features, row.values, strict=True)
                ]
        self.pay()

    def pay(self):
        ring = self.rows[-self.window :]
        codes = sum(int(np.sum(np.array(row.bins) != self.usual_bins)) for row in ring)
        more = min(max(4096 // len(self.rows), 1), 8)
        self.credit += self.work * more if len(self.rows) >= 16 else 0
        price = len(self.latest()) * (codes // len(ring) + 8) * (self.c + 1) // 2
        if len(self.rows) >= 16 and self.credit >= price:
            self.credit = 0
            self.fit(self.turn)
            self.turn, self.fits = (self.turn + 1) % len(self.trees), self.fits + 1

    def multiply(self, ratio):
        """Weights in other units."""
        for node in (node for tree in self.trees for node in every(tree)):
            node.weights = node.weights * ratio
        for row in self.rows:
            row.total = row.total * float(ratio)
        self.fresh = self.fresh * float(ratio)

    def slopes_of(self, row):
        if self.C is not None:
            return self.gradient(row.total, row.label) * float(row.weight)
        residual, most = row.total[0], 20 * self.size
        if self.unit > 0:
            residual -= (row.label - self.offset) / self.unit
        return np.array([min(max(residual, -most), most), 1.0]) * float(row.weight)

    def fit(self, g):
        """The tree g goes, and another follows what the rest leaves."""
        rows = self.latest()
        for row in rows:
            row.total = row.total - row.leaves[g].weights
        slopes = np.array([self.slopes_of(row) for row in rows])
        self.trees[g] = root = self.bare()
        held = {root: np.arange(len(rows))}  # rows of each leaf
        best = {root: self.best_cut(rows, slopes, held[root])}
        while len(held) < self.leaves:
            leaf, most = None, 1e-3
            for other, (gain, _, _) in best.items():
                if gain > BETTER * most:
                    leaf, most = other, gain
            if leaf is None:
                break
            _, leaf.feature, place = best.pop(leaf)
            leaf.cut = self.sample.features[leaf.feature].between[place]
            leaf.children = [self.bare(), self.bare()]
            own = held.pop(leaf)
            above = np.array([rows[i].bins[leaf.feature] > place for i in own])
            for child, part in zip(leaf.children, (own[~above], own[above]), strict=True):
                held[child] = part
                best[child] = self.best_cut(rows, slopes, part)
        most = 20 * self.size if self.C is None else 4.0
        for leaf, own in held.items():
            sums = slopes[own].sum(axis=0)
            wanted = np.clip(-sums[:-1] / (sums[-1] + 1), -most, most)
            leaf.weights = (self.step * wanted).astype(single)
            for i in own:
                rows[i].leaves[g], rows[i].total = leaf, rows[i].total + leaf.weights

    def best_cut(self, rows, slopes, own):
        """The greatest gain, its feature, and the last bin of the first side."""
        every, best = slopes[own].sum(axis=0), (0.0, None, None)
        least = 20.0 if self.C is None else 1.5
        if every[-1] < 2 * least:
            return best

        def part(sums):
            return (sums[:-1] ** 2).sum() / (sums[-1] + 1)

        for j, feature in enumerate(self.sample.features):
            bins = np.array([rows[i].bins[j] for i in own])
            for b in range(len(feature.between)):
                left = slopes[own[bins <= b]].sum(axis=0)
                right = every - left
                if left[-1] >= least and right[-1] >= least:
                    gain = part(left) + part(right) - part(every)
                    if gain > BETTER * best[0]:
                        best = gain, j, b
        return best


def every(node):
    """The node and all below it."""
    yield node
    for child in node.children or ():
        yield from every(child)
