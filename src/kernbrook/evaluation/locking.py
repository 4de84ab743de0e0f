"""One process at a time works on a model's file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from hashlib import sha256
from os import PathLike
from pathlib import Path

from kernbrook.atomic import check_writable
from kernbrook.errors import InputError


@contextlib.contextmanager
def locked(path: str | PathLike[str]) -> Iterator[None]:
    """Nobody else trains or labels the model in a file meanwhile, where the system can tell.

    The lock is held on an empty file beside it, because the model's own is replaced at each
    writing. A process that is killed leaves that file, but not the lock.

    Parameters
    ----------
    path : the model's file, existing or not, in an existing folder

    Raises
    ------
    InputError
        Somebody else does.
    """
    if os.name != "posix":
        yield
        return
    target = check_writable(path)
    code = sha256(os.fsencode(target.name)).hexdigest()[:8]
    place = target.with_name(f".{target.name[:32]}-{code}.lock")
    handle = _held(place)
    if handle is None:
        raise InputError(f"{path} is in use: this model is being trained or labelled already")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            place.unlink()
        os.close(handle)


def _held(place: Path) -> int | None:
    """An open file with the lock, or None where another has it."""
    import fcntl

    while True:
        try:
            handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise InputError(f"cannot write {str(place)!r}: {error.strerror}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        except OSError:  # a file system without locks
            return handle
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.stat(place), os.fstat(handle)):
                return handle
        os.close(handle)  # who had the lock before has removed this file
