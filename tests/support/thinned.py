"""Tests of many cases that take long: `-m "not long"` runs a part of the cases."""

from collections import defaultdict
from zlib import crc32


def left_out(items):
    """The cases of tests that are `thinned` or `sampled` which are left out.

    A case of a thinned test is some choices together. Those are run that together have each choice
    once, first the cases all of whose choices are new, and a twentieth of the others. The cases of
    a sampled test have one choice each, and a fault would be seen in many at once: the first is
    run, and an eighth of the others.
    """
    found = []
    for (marker, *_), cases in _by_test(items).items():
        kept = {id(case) for case in (_covering(cases) if marker == "thinned" else cases[:1])}
        among = 20 if marker == "thinned" else 8
        found += [
            case
            for case in cases
            if id(case) not in kept and crc32(case.name.encode()) % among != 0
        ]
    return found


def _by_test(items):
    tests = defaultdict(list)
    for item in items:
        for marker in ("thinned", "sampled"):
            if item.get_closest_marker(marker):
                tests[marker, item.path, item.originalname].append(item)
    return tests


def _covering(cases):
    """Few cases that have each choice."""
    choices = [
        {(key, repr(value)) for key, value in case.callspec.params.items()} for case in cases
    ]
    met, kept = set(), []
    for is_new in (set.isdisjoint, lambda own, met: not own <= met):
        for case, own in zip(cases, choices, strict=True):
            if is_new(own, met):
                kept.append(case)
                met |= own
    return kept
