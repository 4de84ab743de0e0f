"""Estimators written as the Python that makes them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

import kernbrook
from kernbrook.checks import shown
from kernbrook.kernels import Kernel

if TYPE_CHECKING:
    from rich.pretty import Node


def as_python(value: Any, width: int = 80, few: float = 4) -> str:
    """The Python that makes an estimator, parameters that are not the defaults alone.

    Parameters
    ----------
    value : an estimator, a kernel, or a value of a parameter
    width : of a line
    few : values that a list shows: of more the first two and the last, or the first where it is 1.
        With infinity numbers have all their digits too

    Examples
    --------
    >>> import kernbrook as kb
    >>> print(as_python(kb.OnlineMKClassifier(kb.Linear(), kb.BPAS(50))))
    kb.OnlineMKClassifier(kernels=kb.Linear(), learner=kb.BPAS(budget=50))
    """
    return _node(value, few).render(width, indent_size=4).rstrip("\n")


def in_lines(value: Any, width: int, lines: int) -> str:
    """The Python of an estimator, with shorter lists where it has so many lines or more."""
    texts = [as_python(value, width, few) for few in (4, 1)]
    return next((text for text in texts if text.count("\n") < lines), texts[-1])


def _node(value: Any, few: float, name: str = "") -> Node:
    """A value, with the name of the parameter that it is given to, as rich lays it out."""
    from rich.pretty import Node

    named: dict[str, Any] = {"key_repr": name, "key_separator": "=" if name else ""}
    if isinstance(value, Kernel) or hasattr(value, "get_params"):
        given = [_node(own, few, parameter) for parameter, own in _given(value)]
        return _together(f"{_called(type(value))}(", given, ")", **named)
    if isinstance(value, dict):
        items = [_node(own, few) for own in value.values()]
        for item, key in zip(items, value, strict=True):
            item.key_repr, item.key_separator = repr(key), ": "
        return _together("{", items, "}", **named)
    if isinstance(value, (list, tuple)):
        items = [_node(own, few) for own in value]
        if len(items) > few:
            more = Node(value_repr="...")
            items = [items[0], more] if few == 1 else [*items[:2], more, items[-1]]
        left, right = "[]" if isinstance(value, list) else "()"
        return _together(left, items, right, is_tuple=left == "(", **named)
    return Node(value_repr=_text(value, few), **named)


def _together(left: str, children: list[Node], right: str, **more: Any) -> Node:
    from rich.pretty import Node

    for child in children:
        child.last = child is children[-1]
    return Node(open_brace=left, close_brace=right, empty=left + right, children=children, **more)


def _text(value: Any, few: float) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and few < math.inf and value != int(value):
        return f"{value:.6g}"
    return repr(value) if few == math.inf else shown(value)


def _given(value: Any) -> Iterator[tuple[str, Any]]:
    """The arguments of an object that are not those by default, in their order."""
    defaults = signature(type(value)).parameters
    held = value.parameters() if isinstance(value, Kernel) else value.get_params(deep=False)
    for name in _ordered(held, defaults):
        default = defaults[name].default if name in defaults else None
        if repr(held[name]) != repr(default):
            yield name, held[name]


def _ordered(held: Iterable[str], first: Iterable[str]) -> list[str]:
    """Names in the order of the signature."""
    order = list(first)
    return sorted(held, key=lambda name: order.index(name) if name in order else len(order))


def _called(kind: type) -> str:
    """The name of a class, as whoever has imported kernbrook as kb writes it."""
    public = getattr(kernbrook, kind.__name__, None) is kind
    return f"kb.{kind.__name__}" if public else kind.__name__
