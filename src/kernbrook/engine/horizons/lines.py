"""Least squares on the rows as they were given, for predictions far from the last label.

The regressions of a pool see each row as it was scaled when it came. Where features drift, their
first rows were scaled in another way than the last ones, and what was learned from those is wrong
for these. One label later that is mended; a hundred labels later it is not. Here all rows have one
scale, of the first lap, so that what was learned stays true.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernbrook.engine.state import Field, Table
from kernbrook.engine.uniting import Apart
from kernbrook.errors import InputError
from kernbrook.gram.arrays import Floats, Ints

MOST_FEATURES = 256  # of a row; of more, the regressions see a constant alone
KEPT = (1.0, 0.998)  # of what each regression knows, a label's factor
RIDGE = 0.01  # added to each feature's mean square, of a label: features in units of that
MOST = 1e250  # of a sum of products
LARGEST = 1e6  # of a feature in units of the first lap's deviation
N_LINES = 3  # the mean of the labels, and the regressions
FADES = 0.98  # of what the trend knows, with each row
BROKEN, BROKEN_TREND = 4.0, 0.25  # times the usual squared error
BROKEN_AFTER = 4.0  # labels that tell so
RECENT, LATEST = 0.95, 64  # of recent errors, with each label; labels after which they are gone
BEYOND = 1.0  # the labels so far, in widths of their range: the trend is held to that


class Lines(NamedTuple):
    """What the regressions know; a new one takes the place of the old one.

    scale : (2, d) mean and deviation of each feature in the first lap
    squares : (2, k, k) of each regression the sums of products of features; the last is 1
    products : (2, k, c) the sums of products of features and labels
    reach : (2,) the least and the greatest label
    trend : (5,) of numbers, sums over labels of 1, a, a^2, y, a y, where a is how many rows ago a
        label was, each label by 0.98^a
    recent : (5,) of numbers, sums over labels of the squared errors of the trend and the three, as
        of the start of a lap, and of 1, each label by 0.95 of the next
    solution : (2, k, c) their coefficients, which follow from the rest
    """

    scale: Floats
    squares: Floats
    products: Floats
    reach: Floats
    trend: Floats
    recent: Floats
    solution: Floats


LINES = Table(
    Lines,
    scale=Field((2, "feature")),
    squares=Field((len(KEPT), "input", "input"), least=-MOST, most=MOST),
    products=Field((len(KEPT), "input", "score"), least=-MOST, most=MOST),
    reach=Field((2,)),
    trend=Field((5,)),
    recent=Field((N_LINES + 2,)),
    solution=Field((len(KEPT), "input", "score")),
)
FOLLOWS = ("solution",)  # from the rest


def begun(width: int, scores: int) -> Lines:
    """Before the first label."""
    d = width if width <= MOST_FEATURES else 0
    lines: Lines = LINES.begun(feature=d, input=d + 1, score=scores)
    lines.reach[:] = np.inf, -np.inf
    return lines


def learned(lines: Lines, X: Floats, labels: Floats, weights: Floats, numbers: bool) -> Lines:
    """After one more lap of rows.

    X : (n, d); labels : (n,) as the model takes them, NaN where there was none
    weights : (n,); numbers : whether labels are numbers
    """
    scale = lines.scale
    if not lines.squares.any():
        with np.errstate(all="ignore"):
            deviation = X.std(axis=0) if scale.size else np.zeros(0)
            mean = X.mean(axis=0) if scale.size else np.zeros(0)
        scale = np.stack([mean, np.where(deviation > 0, deviation, 1.0)])
        scale = np.nan_to_num(scale, posinf=1.0, neginf=1.0)
    there = ~np.isnan(labels) & (weights > 0)
    if numbers:
        lines = followed(lines, X, labels, weights)
    if not there.any():
        return lines._replace(scale=scale)
    lines = lines._replace(scale=scale)
    features, own = _features(lines, X[there]), labels[there]
    c = lines.products.shape[2]
    if numbers:
        targets = own[:, None]
    elif c == 1:
        targets = np.where(own == 1, 1.0, -1.0)[:, None]
    else:
        targets = np.where(own[:, None] == np.arange(c), 1.0, -1.0)
    squares, products = np.empty_like(lines.squares), np.empty_like(lines.products)
    age = np.cumsum(there[::-1])[::-1][there] - 1  # labels that came later in this lap
    for i, kept in enumerate(KEPT):
        weighed = features * (weights[there] * kept**age)[:, None]
        past = kept ** len(own)
        squares[i] = past * lines.squares[i] + weighed.T @ features
        products[i] = past * lines.products[i] + weighed.T @ targets
    squares = (squares + squares.transpose(0, 2, 1)) / 2
    return _solved(lines._replace(squares=squares, products=products))


def _solved(lines: Lines) -> Lines:
    """With sums within their range, and the coefficients that follow from them."""
    squares, products = (np.clip(one, -MOST, MOST) for one in (lines.squares, lines.products))
    solution = solved(squares, products)
    return lines._replace(squares=squares, products=products, solution=solution)


def followed(lines: Lines, X: Any, labels: Floats, weights: Floats) -> Lines:
    """With the trend, the reach and the recent errors of more rows, whose labels are numbers."""
    there, n = ~np.isnan(labels) & (weights > 0), len(labels)
    s0, s1, s2, y0, y1 = lines.trend
    passed = np.array([s0, s1 + n * s0, s2 + 2 * n * s1 + n * n * s0, y0, y1 + n * y0])
    age, own = np.arange(n - 1, -1, -1.0)[there], labels[there]
    part = FADES**age
    terms = [part, part * age, part * age**2, part * own, part * age * own]
    trend = FADES**n * passed + np.array([term.sum() for term in terms])
    low, high = lines.reach
    reach = np.array([own.min(initial=low), own.max(initial=high)])
    last = np.flatnonzero(there)[-LATEST:]
    part = RECENT ** np.arange(len(last) - 1, -1, -1.0)
    told = said(lines, X[last], last + 1, True)[:, :, 0]
    with np.errstate(over="ignore"):
        errors = np.minimum((labels[last, None] - told) ** 2, MOST)
    recent = RECENT ** len(own) * lines.recent + np.append(part @ errors, part.sum())
    return lines._replace(trend=trend, reach=reach, recent=recent)


def broken(lines: Lines, usual: float) -> bool:
    """Whether mean and regressions have of late erred twice as far as usual, the trend half.

    usual : the mean square of what the mean erred so far ahead
    """
    errors, labels = lines.recent[:-1], lines.recent[-1]
    far = (errors[1:] > BROKEN * usual * labels).all() and errors[0] > BROKEN_TREND * usual * labels
    return bool(labels >= BROKEN_AFTER and far)


def trended(lines: Lines, places: Any) -> Floats:
    """(n,) the line through the last labels, at rows so many places after the last one."""
    s0, s1, s2, y0, y1 = lines.trend
    if not s0 > 0:
        return np.zeros(len(places))
    spread = s2 - s1 * s1 / s0  # of the ages
    slope = (y1 - s1 * y0 / s0) / spread if spread > s0 else 0.0
    found: Floats = y0 / s0 - slope * (places + s1 / s0)
    return found


def held(lines: Lines, numbers: Floats, trend: Floats) -> Floats:
    """Numbers far ahead, (n, k), held to the range of the labels so far.

    And as far beyond it as the line through the last ones goes on from now; trend : (n,) it there
    """
    low, high = lines.reach
    if not low <= high:
        return np.zeros_like(numbers)
    on = (trend - trended(lines, np.zeros(1)))[:, None]
    return np.clip(numbers, low + np.minimum(on, 0.0), high + np.maximum(on, 0.0))


def solved(squares: Floats, products: Floats) -> Floats:
    """The coefficients of each regression."""
    solution = np.zeros_like(products)
    for i, (square, product) in enumerate(zip(squares, products, strict=True)):
        if not square[-1, -1] > 0:
            continue
        root = np.sqrt(np.maximum(np.diagonal(square), 0.0))
        unit = np.where(root > 0, root, 1.0)
        matrix = square / unit / unit[:, None]
        matrix[np.diag_indices_from(matrix)] += RIDGE / max(square[-1, -1], 1.0)
        wanted = product / unit[:, None]
        try:
            found = np.linalg.solve(matrix, wanted)
        except np.linalg.LinAlgError:  # of so many labels that nothing is added any more
            found = np.linalg.lstsq(matrix, wanted)[0]
        solution[i] = found / unit[:, None]
    return solution


def merged(apart: Apart) -> Lines:
    """What those of several models know: exactly where they began together."""
    first, longest = apart.each[0], apart.each[int(apart.shares.argmax())]
    if not all(np.array_equal(one.scale, first.scale) for one in apart.each):
        return longest  # rows of other scales: the one that has seen most
    if not np.array_equal(apart.before.scale, first.scale):  # nothing was known before
        nothing = begun(first.scale.shape[1], first.products.shape[2])
        apart = apart._replace(before=nothing)
    squares, products = (apart.of(name) for name in ("squares", "products"))
    total, product = squares.added(), products.added()
    total[1:], product[1:] = squares.averaged()[1:], products.averaged()[1:]  # of late
    low = min(one.reach[0] for one in apart.each)
    high = max(one.reach[1] for one in apart.each)
    own = longest._replace(scale=first.scale, squares=total, products=product)
    return _solved(own._replace(reach=np.array([low, high])))


def said(lines: Lines, X: Any, places: Ints, numbers: bool) -> Floats:
    """(n, 3, c) the mean of the labels so far, and what the regressions say of rows.

    Of numbers (n, 4, 1): the trend, at places after the last label, comes first.
    """
    out = np.empty((X.shape[0], numbers + N_LINES, lines.products.shape[2]))
    if numbers:
        low, high = lines.reach if lines.reach[0] <= lines.reach[1] else (0.0, 0.0)
        room = BEYOND * (high - low)
        out[:, 0, 0] = np.clip(trended(lines, places), low - room, high + room)
    labels = lines.squares[0, -1, -1]
    out[:, -N_LINES] = lines.products[0, -1] / labels if labels > 0 else 0.0
    features = _features(lines, X)
    for i, coefficients in enumerate(lines.solution):
        out[:, 1 - N_LINES + i] = features @ coefficients
    if numbers:
        out[:, 1:, 0] = held(lines, out[:, 1:, 0], out[:, 0, 0])
        return out
    return np.clip(out, -1.0, 1.0)


def _features(lines: Lines, X: Any) -> Floats:
    """(n, k) the rows in the scale of the first lap, and a constant."""
    d = lines.scale.shape[1]
    out = np.ones((X.shape[0], d + 1))
    if d:
        dense = X.toarray() if hasattr(X, "toarray") else X
        with np.errstate(all="ignore"):
            scaled = (dense - lines.scale[0]) / lines.scale[1]
        sound = np.nan_to_num(scaled, posinf=LARGEST, neginf=-LARGEST)
        out[:, :d] = np.clip(sound, -LARGEST, LARGEST)
    return out


def arrays(lines: Lines) -> dict[str, NDArray[Any]]:
    """What a file holds."""
    return {name: array for name, array in lines._asdict().items() if name not in FOLLOWS}


def restored(fresh: Lines, arrays: Mapping[str, NDArray[Any]]) -> Lines:
    """With these arrays; InputError where numbers are beyond their ranges."""
    older = tuple(name for name in ("trend", "recent") if name not in arrays)
    without = (*FOLLOWS, *older)
    if np.size(arrays.get("squares", ())) == len(KEPT):  # older: a constant, of many features
        fresh = begun(MOST_FEATURES + 1, fresh.products.shape[2])
    lines = LINES.restored(fresh, arrays, without)
    LINES.check(lines, ("reach", *FOLLOWS))  # before the first label the reach is infinite
    if np.isnan(lines.reach).any():
        raise InputError("reach: expected numbers")
    return _solved(lines)
