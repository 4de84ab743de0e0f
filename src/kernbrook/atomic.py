"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import stat
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
    """Write a file so that it is either the old one or the new one, never a part: `replacing`."""
    with replacing(path) as file:
        file.write(data)


@contextlib.contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """A draft to write to, in the same folder; at the end of the block it takes the file's place.

    A link is followed. Whatever fails, the draft is removed and an existing file stays as it was.
    A killed process leaves its draft behind: the next writer of the same file removes it.
    The new file keeps the permissions of the old one, and its owner and group where this process
    may give them; meanwhile nobody else may read the draft.

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
            with _opened(draft, private=target.exists()) as file:
                yield file
                file.flush()
                _keep_rights(target, draft)
                os.fsync(file.fileno())
            os.replace(draft, target)
        finally:
            with contextlib.suppress(OSError):
                draft.unlink()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot write {str(path)!r}: {reason}") from error
    _sync_folder(target.parent)


def _opened(draft: Path, private: bool) -> BinaryIO:
    """A new file for this user alone, or as every new file is; never what a link leads to."""
    with contextlib.suppress(FileNotFoundError):
        draft.unlink()
    mode = 0o600 if private else 0o666
    return open(draft, "xb", opener=lambda path, flags: os.open(path, flags, mode))


def _keep_rights(target: Path, draft: Path) -> None:
    """Give a draft the permissions of the file that it replaces, if there is one.

    Where the group cannot be given, its members may do no more than everybody.
    """
    try:
        old, new = os.stat(target), os.stat(draft)
    except FileNotFoundError:
        return
    with contextlib.suppress(OSError):  # the draft stays private
        if os.name == "posix" and (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            _give(draft, old.st_uid, old.st_gid)
            new = os.stat(draft)
        if old.st_gid == new.st_gid:
            shutil.copystat(target, draft)
            os.utime(draft)
        else:
            mode = stat.S_IMODE(old.st_mode)
            os.chmod(draft, mode & ~stat.S_IRWXG | mode & mode << 3 & stat.S_IRWXG)


def _give(path: Path, owner: int, group: int) -> None:
    """Change owner and group, or the group alone."""
    for user in (owner, -1):
        try:
            os.chown(path, user, group)
        except OSError:
            continue
        return


def check_writable(path: str | PathLike[str]) -> Path:
    """The file that writing to `path` would replace; InputError where nothing can be written."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise InputError(f"cannot write {str(path)!r}: there is no folder {str(target.parent)!r}")
    if os.path.exists(path) and not os.path.isfile(path):  # /dev/stdout leads to no file by name
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
