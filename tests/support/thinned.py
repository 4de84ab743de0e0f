"""Tests of many cases that take long: `-m "not long"` runs a part of the cases."""

from zlib import crc32

_met = set()  # choices and tests so far


def is_left_out(item):
    """Whether a case of a test that is `thinned` or `sampled` is left out.

    The items come in the order of their collection. A case of a thinned test is some choices
    together: those that have a choice which none before has are run, and a tenth of the others. The
    cases of a sampled test have one choice each, and a fault would be seen in many at once: the
    first is run, and a quarter of the others.
    """
    name, file = getattr(item, "originalname", None), item.path
    if item.get_closest_marker("sampled"):
        first = (file, name) not in _met
        _met.add((file, name))
        return not first and crc32(item.name.encode()) % 4 != 0
    if not item.get_closest_marker("thinned"):
        return False
    choices = {(file, name, key, repr(value)) for key, value in item.callspec.params.items()}
    known = choices <= _met
    _met.update(choices)
    return known and crc32(item.name.encode()) % 10 != 0
