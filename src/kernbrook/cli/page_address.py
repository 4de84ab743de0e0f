"""Where the page of a labelling is, kept while it may be open: after a kill it goes on."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """port, token : of a page's address."""

    port: int
    token: str


class PageAddress:
    """A file beside a model's, for this user alone: port and token of the page that was open last.

    Parameters
    ----------
    model : the model's file
    """

    def __init__(self, model: Path):
        self.path = Path(f"{model}.page.json")

    def known(self) -> Place | None:
        """What is kept; None where that is nothing, or nothing that this class writes."""
        try:
            found = Place(**json.loads(self.path.read_text("utf-8")))
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        whole = type(found.port) is int and 0 < found.port < 1 << 16
        text = isinstance(found.token, str) and re.fullmatch(r"[\w-]{32}", found.token, re.ASCII)
        return found if whole and text else None

    def keep(self, place: Place) -> None:
        """Write it down; where that fails, a page does not find its program again."""
        from kernbrook.atomic import write_text
        from kernbrook.errors import InputError

        with suppress(OSError, InputError):
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600))  # its rights are kept
            write_text(self.path, json.dumps(place._asdict()))

    def forget(self) -> None:
        """Remove it."""
        with suppress(OSError):
            self.path.unlink()
