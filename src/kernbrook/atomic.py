"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import threading
from os import PathLike
from pathlib import Path

from kernbrook.errors import InputError


def write_text(path: str | PathLike[str], text: str) -> None:
    """`write_bytes` of the text as UTF-8, with the line ends it has."""
    write_bytes(path, text.encode("utf-8", errors="replace"))


def write_bytes(path: str | PathLike[str], data: bytes) -> None:
    """Write a file so that it is either the old one or the new one, never a part.

    The data go to a temporary file in the same folder, which then takes the place of `path`.
    A link is followed. Whatever fails, the temporary file is removed and an existing file
    stays as it was.

    Parameters
    ----------
    path : an ordinary file, existing or not, in an existing folder
    data : what the file will hold

    Raises
    ------
    InputError
        if the file cannot be written, naming `path` and the reason.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise InputError(f"cannot write {str(path)!r}: there is no folder {str(target.parent)!r}")
    if target.exists() and not target.is_file():
        raise InputError(f"cannot write {str(path)!r}: it is there and is not an ordinary file")
    writer = f"{os.getpid()}-{threading.get_ident()}"  # two at a time must not share a draft
    draft = target.with_name(f".{target.name[:32]}.{writer}.tmp")
    try:
        try:
            with open(draft, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, target)
        finally:
            with contextlib.suppress(OSError):
                draft.unlink()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot write {str(path)!r}: {reason}") from error
