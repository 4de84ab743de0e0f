"""Files of JSON objects, a line each, to which lines are only added."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from kernbrook.errors import DataFileError, InputError


class JSONLog:
    """A file of JSON objects, a line each; it may come later, and others may add to it.

    InputError where it cannot be written or has become shorter, DataFileError where a line is none.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = JSONLog(Path(folder) / "log")
    ...     log.append({"a": 1})
    ...     list(log.new()), list(log.new())
    ([(1, {'a': 1})], [])
    """

    def __init__(self, path: str | PathLike[str]):
        self.path = Path(path)
        self._place = 0
        self._line = 0

    def drop_half_line(self) -> None:
        """Remove what a writer that was killed in its last line left of it."""
        try:
            with open(self.path, "r+b") as file:
                file.truncate(file.read().rfind(b"\n") + 1)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise self._unwritten(error) from error

    def append(self, values: dict[str, Any]) -> None:
        """Add a line; it is on the disk when this returns."""
        line = json.dumps(values, allow_nan=False, ensure_ascii=False).encode() + b"\n"
        try:
            with open(self.path, "ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise self._unwritten(error) from error

    def new(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The objects on the lines that were completed since, with the numbers of the lines.

        A line at which the caller stops comes again.
        """
        try:
            with open(self.path, "rb") as file:
                size = os.stat(file.fileno()).st_size
                if size < self._place:
                    raise InputError(f"{self.path} has become shorter; lines can only be added")
                file.seek(self._place)
                text = file.read()
        except FileNotFoundError:
            return
        for line in text.split(b"\n")[:-1]:  # what follows the last line end is half a line
            if line.strip():
                yield self._line + 1, self._parsed(line)
            self._line += 1
            self._place += len(line) + 1

    def _parsed(self, line: bytes) -> dict[str, Any]:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):  # JSON or UTF-8
            found = None
        if not isinstance(found, dict):
            shown = line.decode(errors="replace").strip()
            problem = f"expected a JSON object, found {shown!r:.60}"
            raise DataFileError(self.path, problem, self._line + 1)
        return found

    def _unwritten(self, error: OSError) -> InputError:
        return InputError(f"cannot write {self.path}: {error.strerror}")
