"""One thread at a time: a model that several threads use, or that is called while it learns."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from threading import RLock, get_ident
from types import FrameType
from typing import Any, TypeVar, cast
from weakref import WeakSet

from kernbrook.errors import InputError

Method = TypeVar("Method", bound=Callable[..., Any])
_bosses: dict[int, int] = {}  # of threads that work for another one meanwhile


class Turn:
    """Whose turn it is to use an object. Others wait. A copy begins anew, and so does a pickle.

    Attributes
    ----------
    lock : held by the thread that uses the object
    uses : calls that are under way, one inside another
    owner : the thread, where there are some
    """

    lock: Any

    def __init__(self) -> None:
        self.lock, self.uses, self.owner = RLock(), 0, 0
        _turns.add(self)

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return Turn, ()


_turns: WeakSet[Turn] = WeakSet()  # all there are


def turn_of(owner: Any) -> Turn:
    """The turn of an object, made where it has none."""
    turn: Turn = owner.__dict__.setdefault("_turn", Turn())  # two threads: one makes it
    return turn


def changes(method: Method) -> Method:
    """A method that changes its object: one thread at a time, and never inside another call.

    InputError where what the object calls, such as a kernel function or an oracle, has called it.
    """

    @wraps(method)
    def alone(self: Any, *args: Any, **named: Any) -> Any:
        turn = self.__dict__.get("_turn") or turn_of(self)
        if not (_bosses and _inside(turn)):
            with turn.lock:
                if not turn.uses or not _under_way(turn):
                    turn.uses, turn.owner = 1, get_ident()
                    try:
                        return method(self, *args, **named)
                    finally:
                        turn.uses = 0
        raise InputError(
            f"{type(self).__name__}.{method.__name__}: the model learns or predicts at this "
            "moment, and what it calls meanwhile, such as a kernel function or an oracle, cannot "
            "change it"
        )

    return cast(Method, alone)


def in_turn(method: Method) -> Method:
    """A method that one thread calls at a time, also inside another call."""

    @wraps(method)
    def waiting(self: Any, *args: Any, **named: Any) -> Any:
        turn = self.__dict__.get("_turn") or turn_of(self)
        if _bosses and _inside(turn):
            return method(self, *args, **named)
        with turn.lock:
            before = turn.uses
            turn.uses, turn.owner = before + 1, get_ident()
            try:
                return method(self, *args, **named)
            finally:
                turn.uses = before

    return cast(Method, waiting)


def _under_way(turn: Turn) -> bool:
    """Whether a call under way in this thread uses the object: an interruption may leave `uses`."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == __file__ and frame.f_locals.get("turn") is turn:
            return True
        frame = frame.f_back
    return False


@contextmanager
def held(*owners: Any) -> Iterator[None]:
    """Meanwhile no other thread changes these objects.

    All threads take them in one order: two of them never wait for each other.
    """
    with ExitStack() as stack:
        for owner in sorted(owners, key=id):
            if isinstance(getattr(owner, "__dict__", None), dict):
                stack.enter_context(turn_of(owner).lock)
        yield


def caller() -> int:
    """The thread that calls, or the one for which it works."""
    me = get_ident()
    return _bosses.get(me, me)


@contextmanager
def working_for(boss: int) -> Iterator[None]:
    """Meanwhile this thread works for another one, which waits for it."""
    me = get_ident()
    _bosses[me] = boss
    try:
        yield
    finally:
        _bosses.pop(me, None)


def _inside(turn: Turn) -> bool:
    """Whether this thread works for the one that uses the object, which it would wait for."""
    return turn.uses > 0 and turn.owner == _bosses.get(get_ident())


# -- a process that is forked ----------------------------------------------------------------------


class Lost:
    """The lock of an object that another thread was changing at the moment of a fork."""

    def __enter__(self) -> None:
        raise InputError(
            "another thread was using this model when the process was forked, so that this copy of "
            "it may be half changed: fork between two calls of the model, or load it from a file"
        )

    def __exit__(self, *_: object) -> None: ...


def _begin_anew() -> None:
    """After a fork, in the child, which has no thread but the one that forked."""
    mine = caller()
    for turn in _turns:
        if not ((turn.uses and turn.owner == mine) or isinstance(turn.lock, Lost)):
            turn.lock, turn.uses = RLock() if turn.lock.acquire(blocking=False) else Lost(), 0
    for thread in _bosses.keys() - {get_ident()}:
        del _bosses[thread]


if hasattr(os, "register_at_fork"):  # where a process can be forked
    os.register_at_fork(after_in_child=_begin_anew)
