"""Calls through links: the same values as Python, and errors that are not lost."""

from typing import Annotated, Any, Generic, NamedTuple, TypeVar

import numpy as np
import pytest
from numba import types
from numpy.typing import NDArray

from kernbrook.compiler.compiling import Verb, njit
from kernbrook.compiler.links import (
    ROOM,
    Marks,
    Matrix,
    Pinned,
    Vector,
    family,
    new_link,
    numba_type,
    pin,
    through,
)


class Told(NamedTuple):
    """What a verb is told: fields of several types, one of them a tuple."""

    number: int
    good: bool
    inside: "Inside"
    values: Vector


class Inside(NamedTuple):
    """A tuple in a tuple."""

    factor: float
    marks: Marks


class Half(NamedTuple):
    """A rule."""

    power: float
    table: Matrix


class Double(NamedTuple):
    """Another, without fields."""


@Verb
def say(rule: Any, told: Told, table: Pinned[Matrix], row: int, out: Vector) -> tuple[bool, float]:
    """Fills in `out`, and answers."""
    raise NotImplementedError


@Verb
def rest(rule: Any, out: Vector) -> None:
    """Nothing by default."""


family(say, rest)


@say.of(Half)
def _say_half(rule, told, table, row, out):
    for i in range(out.shape[0]):
        out[i] = rule.table[0, 0] * table[row, i] / 2.0**rule.power + told.values[i]
    return told.good and told.inside.marks[1], told.inside.factor * told.number


@say.of(Double)
def _say_double(rule, told, table, row, out):
    if told.number < 0:
        raise ValueError("a number below 0")
    for i in range(out.shape[0]):
        out[i] = 2.0 * table[row, i]
    return not told.good, 1.0


@rest.of(Double)
def _rest_double(rule, out):
    out[0] = -out[0]


@njit()
def call_both(link, told, table, row, out, room):
    answer = through(say, link, told, pin(table, room), row, out)
    through(rest, link, out)
    return answer


def asked(rule, number=3, good=True):
    """(answer, out) through a link, and as Python."""
    told = Told(number, good, Inside(0.5, np.array([False, True])), np.arange(3.0))
    table, room = np.arange(12.0).reshape(4, 3), np.empty(ROOM, np.int64)
    outs = np.zeros(3), np.zeros(3)
    link = new_link(say, rule)
    answers = (
        call_both(link, told, table, 2, outs[0], room),
        call_both.py_func(rule, told, table, 2, outs[1], room),
    )
    return zip(answers, outs, strict=True)


@pytest.mark.parametrize("rule", [Half(2.0, np.full((2, 2), 3.0)), Double()], ids=str)
@pytest.mark.parametrize("good", [True, False])
def test_a_link_says_what_python_says(rule, good):
    (answer, out), (expected, by_python) = asked(rule, good=good)
    assert answer == expected
    np.testing.assert_array_equal(out, by_python)
    assert out.any()


def test_what_is_called_is_compiled_once_and_what_calls_not_again():
    before = len(call_both.signatures)
    for rule in (Half(1.0, np.ones((1, 1))), Double(), Half(3.0, np.ones((1, 1)))):
        list(asked(rule))
    assert len(call_both.signatures) <= max(before, 1)


def test_an_error_is_not_lost():
    with pytest.raises(ValueError, match="a number below 0"):
        list(asked(Double(), number=-1))


@njit()
def say_or(other, link, told, table, out, room):
    try:
        answer = through(say, link, told, pin(table, room), 0, out)
    except Exception:
        answer = other
    return answer


def test_an_error_can_be_caught_and_what_follows_runs():
    table, room, out = np.arange(12.0).reshape(4, 3), np.empty(ROOM, np.int64), np.zeros(3)
    link = new_link(say, Double())
    for number, good in ((3, True), (-1, False), (4, True)):
        told = Told(number, True, Inside(0.5, np.array([False, True])), np.arange(3.0))
        answer = say_or((True, 7.0), link, told, table, out, room)
        assert answer == ((False, 1.0) if good else (True, 7.0))


class Flags(NamedTuple):
    """Two numbers of a byte, one beside them in a tuple."""

    one: bool
    other: bool


class Late(NamedTuple):
    """A number of a byte, and a wider one behind it."""

    mark: bool
    value: float


class Mixed(NamedTuple):
    """A rule of all that can stand in one."""

    first: bool
    flags: Flags
    last: bool
    late: Late
    nothing: None
    cube: Any
    number: int
    told: Told
    small: Any
    end: bool


@Verb
def add_all(rule: Any, out: Vector) -> None:
    """Fills in `out` with what is in a rule."""
    raise NotImplementedError


family(add_all)


@add_all.of(Mixed)
def _add_all(rule, out):
    out[0] = rule.first + 2 * rule.flags.one + 4 * rule.flags.other + 8 * rule.last + 16 * rule.end
    out[0] += 32 * rule.late.mark + rule.late.value
    out[1] = rule.number + rule.told.number + rule.told.inside.factor
    for i in range(rule.cube.shape[0]):
        for j in range(rule.cube.shape[1]):
            for k in range(rule.cube.shape[2]):
                out[2] = 3.0 * out[2] + rule.cube[i, j, k]
    for i in range(len(rule.small)):
        out[3] = 3.0 * out[3] + rule.small[i] + rule.small.size + rule.cube.size


@njit()
def call_add_all(link, out):
    through(add_all, link, out)


@pytest.mark.parametrize("flags", [0, 1, 2, 4, 8, 16, 21, 31])
def test_rules_of_all_kinds_lie_as_compiled_code_has_them(flags):
    first, one, other, last, end = (bool(flags & 1 << i) for i in range(5))
    told = Told(-5, True, Inside(0.25, np.array([True])), np.ones(3))
    cube = np.arange(48.0).reshape(4, 3, 4)[::2, :, 1:]
    small = np.arange(6, dtype=np.uint8)[:flags]
    late = Late(not last, 64.5)
    rule = Mixed(first, Flags(one, other), last, late, None, cube, 2**40, told, small, end)
    link = new_link(add_all, rule)
    outs = np.zeros(4), np.zeros(4)
    call_add_all(link, outs[0])
    _add_all(rule, outs[1])
    np.testing.assert_array_equal(*outs)


def test_a_verb_has_the_same_name_in_every_process():
    assert repr(say).endswith("test_linking.say")


T = TypeVar("T")


class Alias(Generic[T]):
    """As NumPy 2.5 has NDArray: its one argument is the scalar's type."""


@pytest.mark.parametrize("array", [NDArray[np.bool_], Alias[np.bool_]])
def test_arrays_as_numpy_annotates_them(array):
    assert numba_type(Annotated[array, 2]) == types.Array(types.boolean, 2, "C")
