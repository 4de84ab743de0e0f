"""Committees for rows far from the last label, one example at a time, from the page's words.

A lap is 128 rows. At its start the model is copied; at every fourth one a second copy is made. Rows
at some places after a copy are scored by it when the lap is over.
"""

import copy

import numpy as np

from naive import combiners, regression, stack

LAP, FAR = 128, 128
SOON = {2, 4, 6, 8, 10, 12, 14, 16, 21, 33, 45, 57, 69, 81, 93, 105, 117}
RIVALS = -3, -5, -4  # the mean; of numbers the model's own committee, and the trend
LATE = set(range(FAR + 7, 4 * LAP + 1, 4))


class Lines:
    """Least squares of all rows so far, as given, without and with forgetting, and the trend."""

    def __init__(self):
        self.X, self.y = [], []

    def add(self, x, y):
        self.X.append(x)
        self.y.append(y)

    def says(self, x, numbers, place, later=()):
        """later : labels after these rows; place : of the row, after the last of all labels"""
        X, y = np.array(self.X), np.array(self.y)
        if not len(y):
            return np.zeros(4 if numbers else 3)
        # As the model has it, the scale is that of the first lap.
        mean, deviation = X[:LAP].mean(axis=0), X[:LAP].std(axis=0)
        Z = np.column_stack([(X - mean) / deviation, np.ones(len(y))])
        z = np.append((x - mean) / deviation, 1.0)
        found = [y.mean()]
        for kept in (1.0, 0.998):
            w = kept ** np.arange(len(y))[::-1]
            squares = (Z * w[:, None]).T @ Z
            unit = np.diag(np.sqrt(np.diag(squares)))
            ridge = unit @ unit * 0.01 / max(w.sum(), 1.0)
            found.append(z @ np.linalg.solve(squares + ridge, (Z * w[:, None]).T @ y))
        if not numbers:
            return np.clip(found, -1.0, 1.0)
        y = np.array([*self.y, *later])
        low, high = y.min(), y.max()
        line = np.clip(trend(y, place), 2 * low - high, 2 * high - low)
        return np.append(line, self.held(found, line, later))

    def held(self, said, line, later=()):
        """Within the range of all labels so far, and as far beyond it as the trend goes on.

        line : the trend at the row
        """
        y = np.array([*self.y, *later])
        on = line - trend(y, 0)
        return np.clip(said, y.min() + min(on, 0), y.max() + max(on, 0))

    def now(self, later=()):
        """The trend at the last label: it goes no farther."""
        return trend(np.array([*self.y, *later]), 0)

    def broken(self, usual, rows):
        """Whether all lines have erred twice as far as is usual on the last labels.

        rows : of each what the lines as of the start of its lap said, and the label; or None
        """
        if not rows:
            return False
        ages = [age for age, row in enumerate(reversed(rows)) if row is not None]
        told, y = (np.array(part) for part in zip(*[rows[-1 - age] for age in ages], strict=True))
        w = 0.95 ** np.array(ages)
        errors = w @ (told - y[:, None]) ** 2
        far = errors > np.array([0.25, 4.0, 4.0, 4.0]) * usual * w.sum()
        return w.sum() >= 4.0 and bool(far.all())


def trend(y, place):
    """The line through the labels, each by .98 of the next, at a row after the last."""
    y, age = np.array(y), np.arange(len(y))[::-1]
    w = 0.98**age
    mean, middle = np.average(age, weights=w), np.average(y, weights=w)
    spread = np.average((age - mean) ** 2, weights=w)
    slope = np.average((age - mean) * (y - middle), weights=w) / spread if spread > 1 else 0.0
    return middle - slope * (place + mean)


class Begun(regression.MLPoly):
    """With weights before the first loss."""

    def __init__(self, prior):
        super().__init__(len(prior))
        self.prior = prior

    def weights(self):
        return super().weights() if len(self.r) else self.prior


class Committee:
    """FixedShare or MLPoly, with Stack on top: it begins with the model's own committee."""

    def __init__(self, m, own, numbers):
        self.numbers, self.rows, self.own, self.lost = numbers, 0, 0, np.zeros(4 if numbers else 2)
        self.prior = np.full(m, np.exp(-4.0))
        self.prior[own] = 1.0
        self.prior /= self.prior.sum()
        if numbers:
            self.base, self.top = Begun(self.prior), stack.Numbers(m, 10_000.0)
            self.top.A[-2, -2] = 10_000.0 / 333  # the steady line corrects the others freely
            self.top.held = False  # to the greatest label that was judged
        else:
            self.base, self.top = combiners.FixedShare(m, 0.9, 0.015, True), stack.Classes(m, 200.0)
            self.base.w = self.prior.astype(self.base.w.dtype)

    def _vote(self, s):
        w = np.asarray(self.base.weights(), dtype=float)
        return w @ s if self.numbers else np.array([w @ np.where(s >= 0, 1.0, -1.0)])

    def votes(self, s):
        if self.numbers:
            return self.top.decide(self._vote(s), s)
        return self.top.decide(self._vote(s), s[:, None])[0]

    def decides(self, s, known=None, errors=()):
        """What is said: the best rival's word where the committee was worse of late; of numbers
        that of the model's own committee where all lines err as they did not before.

        known : the lines; errors : see `Lines.broken`
        """
        rows = (1.0 - 0.995**self.own) / 0.005
        if self.numbers and rows and known.broken(self.lost[1] / rows, errors):
            return s[-5]
        best = int(np.argmin(self.lost[1:]))
        return s[RIVALS[best]] if self.lost[0] > self.lost[1 + best] else self.votes(s)

    def learn(self, s, y):
        """y : the number, or +1 or -1"""
        vote = self._vote(s)
        if self.numbers:
            self.top.learn(vote, s, y)
            self.base.learn(2 * (vote - y) * s)
        else:
            self.top.learn(vote, s[:, None], int(y > 0))
            self.base.learn((np.where(s >= 0, 1.0, -1.0) != y).astype(float))
        self.rows += 1

    def note(self, before, own):
        """before : (vote, scores, label) of the rows of a lap; own : which are its own horizons"""
        self.lost *= (0.995 if self.numbers else 0.9975) ** sum(own)
        self.own += sum(own)
        for (vote, s, y), mine in zip(before, own, strict=True):
            if mine:
                said = np.array([vote, *(s[at] for at in RIVALS[: len(self.lost) - 1])])
                wrong = (said - y) ** 2 if self.numbers else np.where(said >= 0, 1.0, -1.0) != y
                self.lost += np.asarray(wrong, dtype=float)


class Horizons:
    """said(model, x) : (e,) scores of its experts; decided(model, x) : what its committee says."""

    def __init__(self, m, numbers, said, decided):
        self.numbers, self.said, self.decided = numbers, said, decided
        self.soon, self.late = (Committee(m + 4 + numbers, m, numbers) for _ in range(2))
        self.lines, self.now, self.old, self.lap, self.t = Lines(), None, None, [], 0
        self.errors = []  # of laps: what lines as of its start said of its rows, and the labels

    def _scores(self, kept, x, place, later=()):
        model, lines = kept[:2]
        more = [self.decided(model, x), *lines.says(x, self.numbers, place, later)]
        return np.append(self.said(model, x), more)

    def add(self, model, x, y):
        """After the model has learned a row; y : the number as it has it, or +1 or -1"""
        self.lap.append((x, y))
        if self.numbers:
            if self.t % LAP == 0:
                self.errors.append([])
            self.errors[-1].append((self.lines.says(x, True, len(self.lap)), y))
        self.t += 1
        if self.t % LAP:
            return
        start, judged = self.t - LAP, []
        for i, (own, label) in enumerate(self.lap):
            for kind, kept, places in (("soon", self.now, SOON), ("late", self.old, LATE)):
                if kept is not None and (place := start + i + 1 - kept[2]) in places:
                    judged.append((kind, self._scores(kept, own, place), label))
        for committee, kinds, mine in (
            (self.soon, ("soon",), "soon"),
            (self.late, ("soon", "late"), "late"),
        ):
            rows = [(s, label, kind == mine) for kind, s, label in judged if kind in kinds]
            before = [(self._votes(committee, s), s, label) for s, label, _ in rows]
            for s, label, _ in rows:
                committee.learn(s, label)
            committee.note(before, [own for *_, own in rows])
        for own, label in self.lap:
            self.lines.add(own, label)
        self.lap = []
        self.now = copy.deepcopy(model), copy.deepcopy(self.lines), self.t
        if self.t % (4 * LAP) == 0:
            self.old = self.now

    def _votes(self, committee, s):
        return self._held(committee, committee.votes(s), s) if self.numbers else committee.votes(s)

    def _held(self, committee, said, s, later=()):
        """To what lines know, and beyond as the trend goes on, if that errs less than the mean."""
        goes_on = committee.lost[3] < committee.lost[1]
        return self.lines.held(said, s[-4] if goes_on else self.lines.now(later), later)

    def decides(self, model, x, place):
        for committee, first in ((self.late, FAR + 1), (self.soon, 2)):
            if place >= first and committee.own >= 10:
                later = [label for _, label in self.lap]
                s = self._scores((model, self.lines), x, place, later)
                # Of a lap the last 64 labels count.
                errors = [
                    row for lap in self.errors for row in [None] * (len(lap) - 64) + lap[-64:]
                ]
                said = committee.decides(s, self.lines, errors)
                return self._held(committee, said, s, later) if self.numbers else said
        return self.decided(model, x)
