"""Values at the ends of what parameters may be, from what the classes say: for tests and fuzz."""

import math
import sys

import numpy as np

from kernbrook.checks import LARGEST, SMALLEST, Flag, Number, OneOf, Or, Part, Whole


def edges(kind):
    """(values just inside, values just outside) of one of the kinds of `kernbrook.checks`."""
    if isinstance(kind, Or):
        inside, outside = edges(kind.kind)
        return [*kind.values, *inside], [value for value in outside if value not in kind.values]
    if isinstance(kind, Number):
        return _of_numbers(kind)
    if isinstance(kind, Whole):
        outside = [kind.least - 1, kind.most + 1, float(kind.least), True, str(kind.least)]
        return [kind.least, np.int32(kind.least), kind.most], outside
    if isinstance(kind, OneOf):
        return list(kind.known), ["", f"{kind.known[0]} ", 7, True, None, [kind.known[0]]]
    if isinstance(kind, Flag):
        return [True, False, np.True_], [0, 1, "yes", None]
    return [], [3, "x", float] if isinstance(kind, Part) else []


def _of_numbers(kind):
    small, large = (5e-324, sys.float_info.max) if kind.any_size else (SMALLEST, LARGEST)
    inside, outside = [], [math.nan, math.inf, -math.inf, "1", True, 1j, None]
    for end, toward, closed in (
        (kind.least, math.inf, kind.ends[0] == "["),
        (kind.most, -math.inf, kind.ends[1] == "]"),
    ):
        if math.isinf(end):
            inside.append(-math.copysign(large, toward))
            outside.append(10**400 if toward < 0 else -(10**400))
            continue
        near = math.copysign(small, toward) if end == 0 else math.nextafter(end, toward)
        (inside if closed else outside).append(end)
        inside.append(near)
        outside.append(-near if end == 0 else math.nextafter(end, -toward))
    if not kind.any_size:
        outside += [10 * LARGEST] if math.isinf(kind.most) else []
        outside += [SMALLEST / 10] if kind.least == 0 else []
    return inside, outside
