"""One process at a time works on a model's file."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from hashlib import sha256
from os import PathLike
from pathlib import Path

from filelock import FileLock, Timeout

from kernbrook.atomic import check_writable
from kernbrook.errors import InputError

_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}


@contextlib.contextmanager
def locked(path: str | PathLike[str]) -> Iterator[None]:
    """Nobody else trains or labels the model in a file meanwhile, where the file system can tell.

    The lock is held on a small file beside it, because the model's own is replaced at each
    writing. A process that is killed leaves that file, but not the lock.

    Parameters
    ----------
    path : the model's file, existing or not, in an existing folder

    Raises
    ------
    InputError
        Somebody else does; the process is named where it can be told.
    """
    target = check_writable(path)
    code = sha256(os.fsencode(target.name)).hexdigest()[:8]
    place = target.with_name(f".{target.name[:32]}-{code}.lock")
    lock = _held(place)
    if lock is None:
        raise InputError(
            f"{path} is in use: this model is being trained or labelled already{_by_whom(place)}"
        )
    found = _identity(place)
    try:
        yield
    finally:
        # Where somebody has removed it, there may be another's now.
        with contextlib.suppress(OSError):  # not while it is open, on Windows
            if _identity(place) == found:
                place.unlink()
        lock.release()


class _Removed(Exception):
    """Who had the lock before has removed the file that was locked."""


def _held(place: Path) -> FileLock | None:
    """The lock, or None where another has it; not locked where the file system has no locks."""

    def acquired(handle: int) -> None:
        try:
            same = os.path.samestat(os.stat(place), os.fstat(handle))
        except FileNotFoundError:
            same = False
        if not same:
            raise _Removed
        with contextlib.suppress(OSError):  # a full disk
            os.ftruncate(handle, 0)
            os.write(handle, str(os.getpid()).encode())

    # Another try or two: who has just ended was seen to hold it.
    lock = FileLock(
        place, timeout=0.1, poll_interval=0.02, thread_local=False, on_acquired=acquired
    )
    while True:
        try:
            lock.acquire()
            return lock
        except _Removed:
            continue
        except Timeout:
            return None
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return lock
            raise InputError(f"cannot write {str(place)!r}: {error.strerror}") from error


def _identity(place: Path) -> tuple[int, int] | None:
    """Of a file, by which it is told from one of the same name; None where there is none."""
    with contextlib.suppress(FileNotFoundError):
        found = os.stat(place)
        return found.st_dev, found.st_ino
    return None


def _by_whom(place: Path) -> str:
    """The process that has the lock, in words; nothing where that cannot be read."""
    try:
        process = place.read_bytes()[:20]
    except OSError:
        return ""
    return f", by process {process.decode()}" if process.isdigit() else ""
