"""Weights of examples: relative to their mean, and how often a step is made for one."""

import numpy as np


def relative(importance, rows, window=1000):
    """(T,) weights over the mean of those up to their own; those of 0 do not count.

    Of more than a window of weights the mean forgets: it goes to each one by 1 / window.
    """
    found, mean, count = np.zeros(rows), 0.0, 0
    for t, own in enumerate(np.ones(rows) if importance is None else importance):
        if own > 0:
            count += 1
            mean += (own - mean) / min(count, window)
            found[t] = own / mean
    return found


def lifts(class_weight, labels, classes):
    """(T,) roots of the labels' class weights, over the mean weight of the labels so far.

    class_weight : {label: weight}, 1 for others; or "balanced", one over how often a class has come
    """
    found = []
    for t, own in enumerate(labels):
        so_far = [list(labels[: t + 1]).count(k) for k in range(classes)]
        each = [1 / max(n, 1) for n in so_far]
        if class_weight != "balanced":
            each = [class_weight.get(k, 1.0) for k in range(classes)]
        mean = sum(n * weight for n, weight in zip(so_far, each, strict=True)) / (t + 1)
        found.append((each[own] / mean) ** 0.5)
    return np.array(found)


def weighed(weight, step, lacks, reach):
    """The step of an example that comes `weight` times in a row, its last part as a part.

    Each is `step`, and adds `reach` to the margin for 1. What the margin lacks bounds them, or the
    first of them if that does more.
    """
    if weight <= 1 or weight * step * reach <= lacks:
        return weight * step
    return max(step, lacks / reach) if reach > 0 else step
