"""Lags, a row at a time: what each row has of the rows before it."""

import math


def lag(values, t, back, delay=0, every=1):
    """The value so many rows back of row t, as far as values are known then; None is missing.

    The value of a row is known after `delay` more rows, in batches of `every`.
    """
    known = max(t - t % every - delay, 0)
    there = [value for value in values[:known] if value is not None]
    if t - back < 0 or known == 0:
        return math.fsum(there) / len(there) if there else 0.0
    before = [value for value in values[: min(t - back + 1, known)] if value is not None]
    return before[-1] if before else 0.0
