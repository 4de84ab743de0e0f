"""Steps on the cells of partitions, one example at a time, on dicts, lists and tree nodes.

Random binning: Rahimi and Recht (2007), section 4. Trees cut by sums of gradients and curvatures:
Chen and Guestrin (2016), equation 7, with rows counted as in Oza and Russell (2001). A sample of
the rows: Vitter (1985), algorithm R. Steps: AdaGrad of Duchi, Hazan, Singer (2011), made implicit
as in Kulis and Bartlett (2010). Weights and what trees collect are kept in single precision.
"""

import math
from collections import defaultdict

import numpy as np

from .draws import BITS, mix, uniform

COPIES, INPUTS, SAMPLE, GRIDS = (purpose * 2**20 for purpose in (6, 7, 8, 9))
BINS, KEPT, EDGES_AT = 32, 1024, [2**k for k in range(4, 13)]
single = np.float32


def plus(a, b):
    """In single precision, the sum being found in double."""
    return single(float(a) + b)


# -- ranks and bins --------------------------------------------------------------------------------


class Feature:
    """Its least value, the edges between its bins, its greatest; and the shares of rows there."""

    def __init__(self, values, bins):
        different, counts = np.unique(values, return_counts=True)
        below, n = np.cumsum(counts)[:-1].tolist(), len(values)
        edges, shares, filled = [], [], 0
        ends = bins // 16
        even = bins - 2 * ends
        firsts = [-(-n * i // even) for i in range(1, even)]  # counts at which a bin may begin
        firsts += [-(-n // (even << k)) for k in range(1, ends + 1)]
        firsts += [n - n // (even << k) for k in range(1, ends + 1)]
        for lower, upper, count in zip(different[:-1], different[1:], below, strict=True):
            if len(different) <= bins:
                edge = min(lower + (upper - lower) * single(0.5), upper)
            elif (begun := sum(count >= first for first in firsts)) > filled:
                edge, filled = lower, begun
            else:
                continue
            edges.append(edge)
            shares.append(single(count / n))
        self.between = edges
        self.edges = [different[0], *edges, different[-1]]
        self.shares = [single(0), *shares, single(1)]

    def bits(self):
        """The entropy of the bin."""
        shares = np.diff([float(share) for share in self.shares])
        return float(-(shares * np.log2(shares)).sum()) if self.between else 0.0

    def bin_and_rank(self, value):
        if not self.between:
            return 0, single(0)
        b = sum(value > edge for edge in self.between)
        (low, high), (first, last) = self.edges[b : b + 2], self.shares[b : b + 2]
        share = (value - low) / (high - low) if high > low else single(0)
        return b, first + min(max(share, single(0)), single(1)) * (last - first)


class Sample:
    """Rows, of which each so far is as likely to be there as any other."""

    def __init__(self, d, seed, bins=BINS):
        self.rows, self.met, self.seed, self.bins = [], 0, seed, bins
        self.features = [None] * d

    def place(self, x):
        """Values, numbers of bins, and ranks."""
        values = np.clip(x, -1e30, 1e30).astype(single)
        found = [
            (0, single(0)) if own is None else own.bin_and_rank(value)
            for own, value in zip(self.features, values, strict=True)
        ]
        return values, [b for b, _ in found], [rank for _, rank in found]

    def add(self, values, number):
        """Whether the edges have moved."""
        self.met += 1
        if self.met <= KEPT:
            self.rows.append(values)
        elif (at := int(uniform(self.seed, number, SAMPLE) * self.met)) < KEPT:
            self.rows[at] = values
        if self.met not in EDGES_AT:
            return False
        self.features = [Feature(column, self.bins) for column in np.array(self.rows).T]
        return True


# -- grids -----------------------------------------------------------------------------------------


def to_32_bits(number):
    """As a signed integer of 32 bits has it."""
    return (number + 2**31) % 2**32 - 2**31


def cells_of(grids, ranks, count):
    """The cell of each grid, by a hash of the bins of its inputs."""
    cells = []
    for g, salt in enumerate(grids.salt.tolist()):
        key = salt
        for k in range(grids.first[g], grids.first[g + 1]):
            b = int(ranks[grids.inputs[k]] * grids.inverse[k] + grids.shift[k])
            key += b * int(grids.factor[k])
        hashed = mix((to_32_bits(key) % 2**32) * 0x9E3779B97F4A7C15 & BITS) >> 32
        cells.append(hashed * count >> 32)
    return cells


def drawn_again(grids, features, seed, number):
    """The inputs of grids that cut some of d: of keys -log(1 - draw) / bits the least ones."""
    inputs, d = grids.inputs.copy(), len(features)
    for g in range(len(grids.salt)):
        own = slice(grids.first[g], grids.first[g + 1])
        if own.stop - own.start < d:
            keys = [
                -math.log(1 - uniform(seed, number, GRIDS + g * d + j)) / max(one.bits(), 0.05)
                for j, one in enumerate(features)
            ]
            inputs[own] = np.argsort(keys)[: own.stop - own.start]
    return grids._replace(inputs=inputs)


# -- trees -----------------------------------------------------------------------------------------


class Node:
    """A leaf with weights, or a cut with two children."""

    def __init__(self, weights, square, wait=1e9):
        self.weights, self.square, self.wait = list(weights), single(square), single(wait)
        self.children, self.feature, self.cut, self.collected = None, None, None, None

    def leaf(self, values):
        if self.children is None:
            return self
        return self.children[int(values[self.feature] > self.cut)].leaf(values)

    def every(self):
        """The node and all below it, the first child first."""
        yield self
        for child in self.children or ():
            yield from child.every()


class Collected:
    """Sums of gradients and curvatures by bin of some features, and how many rows.

    features : by number, what is known of each
    """

    def __init__(self, features, c):
        self.sums = {
            j: np.zeros((len(own.between) + 1, c + 1), single) for j, own in features.items()
        }
        self.rows, self.due = single(0), single(150)
        self.members = []  # the rows, (number, bins, slopes), as often as they counted

    def add(self, times, row):
        """Take a row that counts so often."""
        _, bins, slopes = row
        self.rows = plus(self.rows, times)
        for feature, own in self.sums.items():
            own[bins[feature]] = [
                plus(a, times * float(b)) for a, b in zip(own[bins[feature]], slopes, strict=True)
            ]
        self.members = [*self.members, *[row] * int(times)][:256]


def copies(draw):
    """0, 1, 2 or 3 by Poisson's law of mean 1."""
    below = np.cumsum([math.exp(-1) / math.factorial(k) for k in range(3)])
    return float(sum(draw >= below))


class Forest:
    def __init__(self, n, nodes, m, slots, d, c, seed):
        self.c, self.d, self.m, self.seed = c, d, m, seed
        self.roots = [self.root() for _ in range(n)]
        self.pairs, self.slots = nodes // 2, slots  # that are free
        self.done = [(single(0), single(0))] * n
        self.cuts = self.given_up = self.restarts = 0

    def root(self):
        return Node([single(0)] * self.c, 0)

    def note(self, g, added):
        """What the weights of a tree have added to the loss, with a memory of 200 labels."""
        first, second = self.done[g]
        self.done[g] = (
            plus(first, (added - float(first)) * 0.005),
            plus(second, (added**2 - float(second)) * 0.005),
        )

    def grow(self, g, leaf, bins, features, slopes, number):
        """features : what is known of each, for the edges"""
        if leaf.collected is None:
            leaf.wait = plus(leaf.wait, slopes[-1])
            if leaf.wait <= 5 or self.pairs == 0 or self.slots == 0:
                return
            self.slots -= 1
            leaf.collected, leaf.wait = self.collecting(g, features, number), single(0)
        held, times = leaf.collected, copies(uniform(self.seed, number, COPIES + g))
        if times == 0:
            return
        held.add(times, (number, bins, slopes))
        if held.rows >= held.due:
            self.look(leaf, features, number)

    def collecting(self, g, features, number):
        """On m features at most, of 128 bins together, of those that have more than one."""
        chosen, left = {}, min(128, self.d * BINS)
        for j in self.shuffled(g, number):
            own = features[j]
            if own is not None and own.between and len(own.between) + 1 <= left:
                chosen[j], left = own, left - len(own.between) - 1
            if len(chosen) == self.m:
                break
        return Collected(chosen, self.c)

    def shuffled(self, g, number):
        """All features, as by Fisher and Yates."""
        order = list(range(self.d))
        for i in range(self.d):
            draw = uniform(self.seed, number, INPUTS + g * self.d + i)
            j = i + int(draw * (self.d - i))
            order[i], order[j] = order[j], order[i]
        return order

    def look(self, leaf, features, number):
        """Cut the leaf, or let it collect on, or give it up."""
        held = leaf.collected
        found = [
            (*self.best_cut(own.astype(float), features[j]), j) for j, own in held.sums.items()
        ]
        gain, edge, feature = max(found, key=lambda own: own[0], default=(0.0, 0, 0))
        second = max([own[0] for own in found if own[2] != feature], default=0.0)
        sure = gain > 1.3 * second or held.rows >= 450
        held.due = single(float(held.rows) * 1.3)
        if gain > 2.0 and sure and self.pairs > 0:
            leaf.feature, leaf.cut = feature, features[feature].between[edge]
            leaf.children = [Node(leaf.weights, leaf.square * single(0.05)) for _ in "ab"]
            self.pairs, self.slots, self.cuts = self.pairs - 1, self.slots + 1, self.cuts + 1
            leaf.collected = None
            if self.slots > 1:
                self.hand_on(leaf, held, edge, {j: features[j] for j in held.sums}, number)
        elif held.rows >= 1000:
            self.slots, self.given_up = self.slots + 1, self.given_up + 1
            leaf.collected, leaf.wait = None, single(0)

    def hand_on(self, cut, held, edge, features, number):
        """The children begin with the rows of the last 2,048 that their parent has collected."""
        for child in cut.children:
            child.collected, child.wait = Collected(features, self.c), single(0)
        self.slots -= 2
        for met, bins, slopes in held.members:
            if number - met < 2048:
                side = cut.children[int(bins[cut.feature] > edge)]
                side.collected.add(1.0, (met, bins, [single(slope) for slope in slopes]))
        for child in cut.children:
            own = child.collected
            own.due = max(single(150), single(float(own.rows) * 1.3))

    def best_cut(self, sums, feature):
        """The greatest gain of a cut at an edge, and the number of that edge."""
        every = sums.sum(axis=0)

        def part(sums):
            return (sums[:-1] ** 2).sum() / (sums[-1] + 1)

        best = 0.0, 0
        for b in range(len(feature.between)):
            left = sums[: b + 1].sum(axis=0)
            right = every - left
            if left[-1] >= 1 and right[-1] >= 1:
                best = max(
                    best, (part(left) + part(right) - part(every), b), key=lambda own: own[0]
                )
        return best

    def begin_anew(self):
        """The worst tree, where its weights have added to the loss."""
        worst = int(np.argmax([first for first, _ in self.done]))
        first, second = self.done[worst]
        if first > 0.2 * float(np.sqrt(second)):
            self.fell(worst)

    def fell(self, g):
        for node in self.roots[g].every():
            self.pairs += node.children is not None
            self.slots += node.collected is not None
        self.roots[g], self.done[g] = self.root(), (single(0), single(0))
        self.restarts += 1

    def forget_collected(self):
        for node in (node for root in self.roots for node in root.every()):
            if node.collected is not None:
                self.slots, node.collected, node.wait = self.slots + 1, None, single(1e9)


# -- the sum ---------------------------------------------------------------------------------------


class OneSum:
    """What sums of weights have in common: gradients, levels of errors and of labels.

    C : number of classes, or None for numbers
    """

    def __init__(self, C, seed):
        self.c, self.C, self.seed = C if C and C > 2 else 1, C, seed
        self.number, self.error, self.size = 0, 1.0, 1.0
        self.usual, self.since, self.alarms = 1.0, 0, 0
        self.mean = self.span = self.offset = self.unit = 0.0

    def follow_error(self, error):
        """Whether errors have leapt of late: no sooner than 2,000 labels after the last alarm."""
        self.since += 1
        self.error += (error - self.error) * 0.003
        self.usual += (self.error - self.usual) * max(0.0003, 1 / self.since)
        if self.error <= self.usual + 4 * math.sqrt(self.usual * 0.0015) or self.since < 2000:
            return False
        self.usual, self.since = self.error, 0
        return True

    def gradient(self, scores, label):
        """Of the logistic loss or the softmax, with the sum of its curvatures."""
        if self.c == 1:
            likely = np.array([1 / (1 + math.exp(-scores[0]))])
            slopes = likely - label
        else:
            likely = np.exp(scores - scores.max())
            likely /= likely.sum()
            slopes = likely - np.eye(self.c)[label]
        return np.append(slopes, (likely * (1 - likely)).sum())

    def slopes(self, scores, label):
        """Gradient and curvature, of numbers too."""
        if self.C is not None:
            return self.gradient(scores, label)
        return np.array([self.residual(scores[0], min(max(label, -1e150), 1e150)), 1.0])

    def residual(self, score, label):
        """In units of the sum, cut at 4 times the mean size; units follow the labels."""
        n = self.number
        self.mean += (label - self.mean) / n
        if n > 1:
            self.span += abs(label - self.mean)
        residual = 0.0
        if self.unit > 0:
            residual = min(max((score - label) / self.unit, -1e3), 1e3)
            most = 4 * self.size
            self.size += (min(abs(residual), 3 * most) - self.size) * max(0.002, 1 / (n + 1))
            residual = min(max(residual, -most), most)
        if n in {2**k for k in range(21)}:
            self.measure_anew()
        return residual

    def measure_anew(self):
        before, unit = self.unit, self.span / self.number
        self.offset = self.mean
        if unit == 0:
            return
        self.unit = unit
        if before > 0:
            self.multiply(single(min(max(before / unit, 1e-6), 1e6)))


class Cells(OneSum):
    """The expert.

    Parameters
    ----------
    C : number of classes, or None for numbers
    grids, count : as they were drawn; cells of the table
    trees : (number, nodes, inputs, slots)
    """

    def __init__(self, d, C, seed, grids, count, trees, step=0.2):
        super().__init__(C, seed)
        self.step, self.grids, self.count = step, grids, count
        self.sample = Sample(d, seed)
        self.weights = defaultdict(lambda: [single(0)] * self.c)
        self.squares = defaultdict(lambda: single(0))
        n, nodes, inputs, slots = trees
        self.forest = Forest(n, nodes, min(inputs, d), slots, d, self.c, seed)

    def where(self, x):
        values, bins, ranks = self.sample.place(x)
        cells = cells_of(self.grids, ranks, self.count)
        return values, bins, cells, [root.leaf(values) for root in self.forest.roots]

    def scores(self, x):
        _, _, cells, leaves = self.where(x)
        total = np.zeros(self.c)
        for weights in [
            *(self.weights[cell] for cell in cells),
            *(leaf.weights for leaf in leaves),
        ]:
            total += np.array(weights, float)
        return self.offset + self.unit * total if self.C is None else total

    def learn(self, x, label, weight=1.0):
        scores, (values, bins, cells, leaves) = self.scores(x), self.where(x)
        self.number, weight = self.number + 1, min(weight, 1e6)
        slopes, damped, alarm = self.slopes(scores, label), 1.0, False
        if self.C is not None:
            own = slopes[label] if self.c > 1 else slopes[0]
            alarm = self.follow_error(abs(own))
            damped = min(1.0, 0.2 + 4 * self.error)
        slopes = slopes * weight
        squared = float((slopes[:-1] ** 2).sum())
        rates = []
        for cell in cells:
            self.squares[cell] = plus(self.squares[cell], squared)
            rates.append(self.step / math.sqrt(float(self.squares[cell]) + 0.1))
        for leaf in leaves:
            leaf.square = plus(leaf.square, squared)
            rates.append(self.step / math.sqrt(float(leaf.square) + 0.3))
        part = self.part(scores, label, slopes, sum(rates) * damped, weight)
        for cell, rate in zip(cells, rates, strict=False):
            self.weights[cell] = self.moved(self.weights[cell], part * rate, slopes)
        for g, (leaf, rate) in enumerate(zip(leaves, rates[len(cells) :], strict=True)):
            self.forest.note(g, float(slopes[:-1] @ np.array(leaf.weights, float)))
            leaf.weights = self.moved(leaf.weights, part * rate, slopes)
        for g, leaf in enumerate(leaves):
            self.forest.grow(g, leaf, bins, self.sample.features, slopes, self.number)
        if self.number % 16 == 0 and self.forest.roots:
            self.forest.begin_anew()
        if self.sample.add(values, self.number):
            self.forest.forget_collected()
            if self.sample.met == 256 and (np.diff(self.grids.first) < len(x)).any():
                found = self.sample.features
                self.grids = drawn_again(self.grids, found, self.seed, self.number)
                self.forget_grids()
        if alarm:
            self.alarms += 1
            self.forget_grids()
            for g in range(len(self.forest.roots)):
                self.forest.fell(g)

    def forget_grids(self):
        self.weights.clear()
        self.squares.clear()

    def moved(self, weights, size, slopes):
        return [plus(own, -size * slope) for own, slope in zip(weights, slopes[:-1], strict=True)]

    def part(self, scores, label, slopes, whole, weight):
        """The part of a step after which the gradient asks for no more; numbers have a formula."""
        if self.C is None:
            return 1 / (1 + whole * weight)
        p = slopes[:-1]
        if not p @ p > 0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(6):
            part = (low + high) / 2
            after = weight * self.gradient(scores - whole * part * p, label)[:-1]
            low, high = (part, high) if p @ after > part * (p @ p) else (low, part)
        return (low + high) / 2

    def multiply(self, ratio):
        """Weights in other units."""
        for cell, own in self.weights.items():
            self.weights[cell] = [weight * ratio for weight in own]
        for node in (node for root in self.forest.roots for node in root.every()):
            node.weights = [weight * ratio for weight in node.weights]


class Hashed(Cells):
    """On hashed inputs: the sum is linear in the features that are not 0, and has a constant."""

    def __init__(self, d, C, count, step=0.2):
        super().__init__(d, C, 0, None, count, (0, 0, 1, 0), 5 * step)
        self.d = d

    def cells(self, x):
        """Each cell with its value; the last is the constant's."""
        found = []
        for j in np.flatnonzero(x).tolist():
            hashed = mix(j * 0x9E3779B97F4A7C15 & BITS) >> 32
            cell = j if self.d <= self.count else hashed * self.count >> 32
            found.append((cell, min(max(x[j], -1e12), 1e12)))
        return [*found, (self.count, 1.0)]

    def scores(self, x):
        terms = [value * np.array(self.weights[cell], float) for cell, value in self.cells(x)]
        total = np.sum(terms, axis=0)
        return self.offset + self.unit * total if self.C is None else total

    def learn(self, x, label, weight=1.0):
        scores, self.number = self.scores(x), self.number + 1
        slopes = self.slopes(scores, label) * min(weight, 1e6)
        squared = float((slopes[:-1] ** 2).sum())
        for cell, value in self.cells(x):  # one after the other: two features may share a cell
            self.squares[cell] = single(min(float(self.squares[cell]) + squared * value**2, 1e37))
            rate = self.step * value / math.sqrt(float(self.squares[cell]) + 1e-3)
            self.weights[cell] = self.moved(self.weights[cell], rate, slopes)
