"""The errors that kernbrook raises, its warnings, and how a terminal is shown names in them.

::

    KernbrookError
    ├── InputError (ValueError)        an argument or an array is not what was expected
    │   └── NonFiniteError             NaN or infinity, in the data or from an overflowing kernel
    ├── DataFileError (ValueError)     a data file that cannot be read; names the file and the line
    │   └── UndeclaredColumnsError     columns of a table that are neither numbers nor declared
    ├── ModelFileError (ValueError)    a saved model that cannot be read; names the file
    └── UnknownNameError (ValueError)  a recipe, dictionary or data name that does not exist

    KernbrookWarning (UserWarning)     what goes on, but perhaps not as wanted
    └── DataFileWarning                a data file was read, but perhaps not as it was meant
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from os import PathLike


class KernbrookError(Exception):
    """Every error that kernbrook raises on purpose."""


class InputError(KernbrookError, ValueError):
    """An argument or an array is not what was expected."""


class NonFiniteError(InputError):
    """NaN or infinity, in the data or from an overflowing kernel."""


class _Located(Exception):
    """What is wrong with a file, or odd in it."""

    def __init__(self, path: str | PathLike[str], problem: str, line: int | None = None):
        self.path, self.problem, self.line = path, problem, line
        between = ":" if problem.startswith("\n") else ": "
        place = between if line is None else f", line {line}{between}"
        super().__init__(f"{printable(f'{path}')}{place}{problem}")

    def __reduce__(self) -> tuple[type[_Located], tuple[object, ...]]:
        return type(self), (self.path, self.problem, self.line)


class DataFileError(_Located, KernbrookError, ValueError):
    """A data file that cannot be read.

    Parameters
    ----------
    path : of the file, or what a table in memory is called
    problem : what is wrong with it
    line : where, from 1; None where no line can be named
    """


class UndeclaredColumnsError(DataFileError, InputError):
    """Columns of a table that are neither numbers nor declared.

    Parameters
    ----------
    path : of the file, or what a table in memory is called
    listing : what each column seems to be, a line each
    options : the words that a command line needs besides
    call : the encoder in Python
    unread : whether there are columns that these options do not read
    """

    def __init__(
        self,
        path: str | PathLike[str],
        listing: str,
        options: Iterable[str],
        call: str,
        unread: bool = False,
    ):
        super().__init__(path, f"{listing}\n{call}")
        self.listing, self.options, self.call = listing, tuple(options), call
        self.unread = unread

    def __reduce__(self) -> tuple[type[UndeclaredColumnsError], tuple[object, ...]]:
        return type(self), (self.path, self.listing, self.options, self.call, self.unread)


class ModelFileError(_Located, KernbrookError, ValueError):
    """A file that cannot be read as a saved model: `path`, `problem`; `line` is None."""


class UnknownNameError(KernbrookError, ValueError):
    """A name that does not exist; the message lists the near ones.

    Parameters
    ----------
    kind : what was looked up, such as "recipe"
    name : the name that was not found
    known : every name that exists
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]):
        self.kind = kind
        self.name = name
        self.known = tuple(dict.fromkeys(known))
        bare = {other.strip("'\" "): other for other in reversed(self.known)}
        near = [_whole(bare[match]) for match in get_close_matches(name, bare, n=3)]
        known_names = cut(", ".join(map(_whole, self.known)), 1000)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {known_names}"
        super().__init__(f"unknown {kind} {cut(name)!r}: {printable(hint)}")

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[object, ...]]:
        return type(self), (self.kind, self.name, self.known)


class KernbrookWarning(UserWarning):
    """Every warning that kernbrook gives."""


class DataFileWarning(_Located, KernbrookWarning):
    """A data file was read, but perhaps not as it was meant: `path`, `problem`, `line` or None.

    parts : the warnings of which this one is made; else itself alone
    """

    def __init__(self, path: str | PathLike[str], problem: str, line: int | None = None):
        super().__init__(path, problem, line)
        self.parts = [self]

    @classmethod
    def together(cls, parts: list[DataFileWarning]) -> list[DataFileWarning]:
        """Several as one, a line each; none and one as they are."""
        if len(parts) < 2:
            return parts
        lines = [f"line {w.line}: {w.problem}" if w.line else w.problem for w in parts]
        both = cls(parts[0].path, "\n".join(["", *lines]).replace("\n", "\n  "))
        both.parts = parts
        return [both]


def printable(text: str) -> str:
    """A text in one line that a terminal can be shown: names and labels can hold commands to it.

    Parameters
    ----------
    text : of any characters

    Examples
    --------
    >>> print(printable("a\\x1b[2Jb\\n"))
    a\\x1b[2Jb\\n
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def cut(text: str, most: int = 100) -> str:
    """A text for a message; `text` has `most` characters at most, or is cut to them."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _whole(name: str) -> str:
    """A name, cut; in quotes where it has quotes or blanks of its own at an end."""
    return cut(name if name == name.strip("'\" ") else repr(name))
