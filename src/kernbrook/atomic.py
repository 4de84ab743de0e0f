"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import threading
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from kernbrook.errors import InputError


def write_text(path: str | PathLike[str], text: str) -> None:
    """`write_bytes` of the text as UTF-8, with the line ends it has."""
    write_bytes(path, text.encode("utf-8", errors="replace"))


def write_bytes(path: str | PathLike[str], data: bytes) -> None:
    """Write a file so that it is either the old one or the new one, never a part.

    Parameters
    ----------
    path : an ordinary file, existing or not, in an existing folder
    data : what the file will hold

    Raises
    ------
    InputError
        if the file cannot be written, naming `path` and the reason.
    """
    with replacing(path) as file:
        file.write(data)


@contextlib.contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """A draft to write to, in the same folder; at the end of the block it takes the file's place.

    A link is followed. Whatever fails, the draft is removed and an existing file stays as it was.
    A killed process leaves its draft behind: the next writer of the same file removes it.

    Parameters
    ----------
    path : an ordinary file, existing or not, in an existing folder

    Raises
    ------
    InputError
        if the file cannot be written, naming `path` and the reason.
    """
    target = check_writable(path)
    # Two writers at a time must not share a draft.
    writer = f"{_host()}-{os.getpid()}-{threading.get_ident()}"
    draft = target.with_name(f"{_drafts(target)}{writer}.tmp")
    try:
        try:
            _remove_stale(target)
            with open(draft, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, target)
        finally:
            with contextlib.suppress(OSError):
                draft.unlink()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot write {str(path)!r}: {reason}") from error
    _sync_folder(target.parent)


def check_writable(path: str | PathLike[str]) -> Path:
    """The file that writing to `path` would replace.

    Raises
    ------
    InputError
        There is no folder to write in, or `path` is not an ordinary file.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise InputError(f"cannot write {str(path)!r}: there is no folder {str(target.parent)!r}")
    if target.exists() and not target.is_file():
        raise InputError(f"cannot write {str(path)!r}: it is there and is not an ordinary file")
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"cannot write {str(path)!r}: Permission denied in {str(target.parent)!r}")
    return target


def _drafts(target: Path) -> str:
    """How the names of a file's drafts begin."""
    return f".{target.name[:32]}."


def _host() -> str:
    return re.sub(r"\W", "_", platform.node(), flags=re.ASCII)[:32]


def _remove_stale(target: Path) -> None:
    """Remove the drafts that processes of this machine left when they were killed.

    The machine is part of a draft's name: in a shared folder, the number of another machine's
    living process says nothing here.
    """
    if os.name != "posix":  # elsewhere, asking whether a process lives may end it
        return
    name = re.compile(rf"{re.escape(_drafts(target) + _host())}-(\d+)-\d+\.tmp")
    with contextlib.suppress(OSError):
        for path in target.parent.iterdir():
            if (found := name.fullmatch(path.name)) and not _alive(int(found[1])):
                path.unlink()


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OverflowError, PermissionError):  # no process of ours
        pass
    return True


def _sync_folder(folder: Path) -> None:
    """The new name outlives a power cut too, where the file system can promise that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
