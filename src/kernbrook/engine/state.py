"""Tables of fields: one description of each array that learning changes.

The arrays lie in a NamedTuple. A table says of each field its axes, the range of its numbers, its
first value, and how several models are merged. The first state, the arrays of a file and their
checks, more classes, more features and merging follow from that.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernbrook.engine.uniting import Apart
from kernbrook.errors import InputError
from kernbrook.gram.arrays import check_array
from kernbrook.numerics.storage import find_rows

State = TypeVar("State")
Array = NDArray[Any]
Arrays = dict[str, Array]


class Field(NamedTuple):
    """An array that learning changes.

    axes : of each axis its length, or the name of one: "expert", "score", "slot", "feature"
    kind : float, int or bool
    start : what the array holds before the first row
    above, least, most : bounds of its numbers, which are finite; the first is not reached
    merged : what several models make of theirs: "added", "averaged"; None: their owner says so
    """

    axes: tuple[str | int, ...]
    kind: type = float
    start: float = 0.0
    above: float | None = None
    least: float | None = None
    most: float | None = None
    merged: str | None = None

    def begun(self, sizes: Mapping[str, int]) -> Array:
        """The array before the first row. sizes : of the axes that have names"""
        shape = tuple(sizes[axis] if isinstance(axis, str) else axis for axis in self.axes)
        array: Array = np.zeros(shape, self.kind)
        if self.start:
            array.fill(self.start)
        return array

    def check(self, name: str, array: Array) -> None:
        """Raise InputError where numbers are not finite, or beyond their bounds."""
        if not np.isfinite(array).all():
            raise InputError(f"{name}: NaN or infinity")
        sound = True
        for bound, inside in (
            (self.above, np.greater), (self.least, np.greater_equal), (self.most, np.less_equal)
        ):  # fmt: skip
            sound &= bound is None or bool(inside(array, bound).all())
        if not sound:
            raise InputError(f"{name}: expected {self._bounds()}")

    def _bounds(self) -> str:
        """The bounds in words."""
        words = "numbers"
        if self.above is not None:
            words += f" above {self.above:g}" + (f", at most {self.most:g}" if self.most else "")
        elif self.least is not None:
            words += f" from {self.least:g}" + (f" to {self.most:g}" if self.most else "")
        return words


class Table:
    """The fields of a NamedTuple class.

    Parameters
    ----------
    kind : the class
    fields : of it, each by its name
    """

    def __init__(self, kind: Any, **fields: Field):
        assert tuple(fields) == kind._fields, kind
        self.kind, self.fields = kind, fields

    def begun(self, **sizes: int) -> Any:
        """The state before the first row. sizes : of the axes that have names"""
        return self.kind(*(field.begun(sizes) for field in self.fields.values()))

    def restored(
        self, like: State, arrays: Mapping[str, Array], without: tuple[str, ...] = ()
    ) -> State:
        """The state with these arrays, which belong to the state from now on.

        like : a state of the same sizes; its own arrays stay for the fields `without`
        Raises InputError where an array is missing, or has another shape or type.
        """
        state: Any = like
        for name in self.fields:
            if name not in without:
                array = getattr(state, name)
                check_array(name, arrays.get(name), array.shape, array.dtype)
        return state._replace(**{n: arrays[n] for n in self.fields if n not in without})

    def check(self, state: Any, without: tuple[str, ...] = ()) -> None:
        """Raise InputError where a field holds numbers beyond their range."""
        for name, field in self.fields.items():
            if name not in without:
                field.check(name, getattr(state, name))

    def along(
        self, axis: str, arrays: Mapping[str, Array], change: Callable[[Array, int], Array]
    ) -> Arrays:
        """The arrays, of which those with this axis are changed.

        change : called with an array and the number of the axis
        """
        found = dict(arrays)
        for name, field in self.fields.items():
            if axis in field.axes and name in found:
                found[name] = change(found[name], field.axes.index(axis))
        return found

    def merged(self, apart: Apart) -> Arrays:
        """The fields of several models that are added up or averaged, as one, by name."""
        return {
            name: apart.of(name).added() if field.merged == "added" else apart.of(name).averaged()
            for name, field in self.fields.items()
            if field.merged is not None
        }


LARGE, FEW = 1 << 20, 256  # bytes of an array; rows of it that are looked at together
WORTH_IT = 1 << 22  # bytes of an array that is packed; below, time counts more

# -- arrays in NamedTuples, also in such ones inside -----------------------------------------------


def walk_arrays(arrays: Any, begin: str = "") -> Iterator[tuple[str, Array]]:
    """Each array with its name, with dots."""
    for name, value in arrays._asdict().items():
        if isinstance(value, np.ndarray):
            yield f"{begin}{name}", value
        else:
            yield from walk_arrays(value, f"{begin}{name}.")


def with_arrays(arrays: State, others: Iterator[Array]) -> State:
    """The tuple with other arrays, in their order."""
    fields: Any = arrays
    return type(fields)(
        *(next(others) if isinstance(a, np.ndarray) else with_arrays(a, others) for a in fields)
    )


def drop_rows(arrays: State, names: Collection[str]) -> State:
    """The tuple, with no rows of the arrays of these names."""
    others = (array[:0].copy() if name in names else array for name, array in walk_arrays(arrays))
    return with_arrays(arrays, others)


def copy_arrays(arrays: State) -> State:
    """The tuple with copies of all arrays, which can be written to."""
    fields: Any = arrays
    return type(fields)(
        *[copy_array(a) if isinstance(a, np.ndarray) else copy_arrays(a) for a in fields]
    )


def copy_array(array: Array) -> Array:
    """A copy, in which rows at the end that hold nothing take no memory before they are written."""
    if array.nbytes < LARGE:
        return array.copy()
    found, n = np.zeros(array.shape, array.dtype), count_filled(array)
    found[:n] = array[:n]
    return found


def count_filled(array: Array) -> int:
    """How many rows there are up to the last that holds anything, or a few more."""
    n = len(array)
    while n > 0 and not array[max(n - FEW, 0) : n].any():
        n = max(n - FEW, 0)
    return n


class Packed(NamedTuple):
    """Arrays that do not change, large ones without the rows that hold nothing.

    arrays : the others, and the rows that hold something
    rows : (bits, n), by name, of which rows these are, of n
    """

    arrays: Any
    rows: dict[str, tuple[NDArray[np.uint8], int]]

    def __deepcopy__(self, memo: object) -> Self:
        return self


def pack(arrays: Any) -> Packed:
    """Copies of arrays; what is packed takes three quarters of its memory, or less."""
    rows, found = {}, []
    for name, array in walk_arrays(arrays):
        if array.nbytes >= WORTH_IT and array.ndim == 2:
            filled = np.zeros(len(array), dtype=bool)
            bits = array.view(f"u{array.itemsize}")  # -0.0 stays
            if 4 * find_rows(bits, filled) <= 3 * len(filled):
                rows[name] = np.packbits(filled), len(filled)
                found.append(array[np.flatnonzero(filled)])
                continue
        found.append(array.copy())
    return Packed(with_arrays(arrays, iter(found)), rows)


def load_packing() -> None:
    """Load what packs: no row waits for it later."""
    find_rows(np.zeros((2, 2), np.uint32)[:, :1], np.zeros(2, dtype=bool))


def unpack(small: Packed) -> Any:
    """The arrays as they were; those that are packed are copies."""
    found = []
    for name, array in walk_arrays(small.arrays):
        if name in small.rows:
            bits, n = small.rows[name]
            whole = np.zeros((n, *array.shape[1:]), array.dtype)
            whole[np.flatnonzero(np.unpackbits(bits, count=n))] = array
            array = whole
        found.append(array)
    return with_arrays(small.arrays, iter(found))


# -- arrays in mappings, by names with dots --------------------------------------------------------


def pick(arrays: Mapping[str, Array], name: str) -> Arrays:
    """The arrays whose names begin with a name and a dot, without that."""
    begin = f"{name}."
    return {k.removeprefix(begin): v for k, v in arrays.items() if k.startswith(begin)}


def flatten(tree: Mapping[str, Any]) -> Arrays:
    """Arrays in mappings in mappings, by names with dots."""
    found: Arrays = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            found.update({f"{name}.{inner}": array for inner, array in flatten(value).items()})
        else:
            found[name] = value
    return found
