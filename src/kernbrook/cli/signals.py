"""Ctrl-C and a polite kill: they wait for the end of the step in work."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from kernbrook.cli.output import say


class Stopping:
    """What SIGINT and SIGTERM do.

    Before the first step, in a block of `at_once`, and the second time, a signal raises
    KeyboardInterrupt; else it is remembered until `wanted` is asked.
    """

    def __init__(self) -> None:
        self.number = 0  # of the signal that came last
        self._at_once = True  # nothing is half done

    @property
    def code(self) -> int:
        """The exit code of a program that the signal ends."""
        return 128 + self.number

    def wanted(self) -> bool:
        """Whether to stop; asked after each step."""
        self._at_once = False
        return self.number != 0

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """A block that waits for somebody: KeyboardInterrupt in it, or before it."""
        self._at_once = True
        try:
            if self.number:
                raise KeyboardInterrupt
            yield
        finally:
            self._at_once = False

    @contextmanager
    def on_signals(self, told: str) -> Iterator[None]:
        """A block in which this holds; stopped at once, it says so and ends the program."""

        def receive(number: int, frame: object) -> None:
            again, self.number = self.number != 0, number
            if self._at_once or again:
                raise KeyboardInterrupt

        before = {name: signal.signal(name, receive) for name in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        except KeyboardInterrupt:
            say(told)
            raise typer.Exit(self.code) from None
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)
