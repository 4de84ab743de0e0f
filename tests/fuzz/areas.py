"""All areas of the fuzz, by name, and how one of them is run for a while."""

from __future__ import annotations

import os
import shutil
import time
import traceback
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fuzz import calls, files, lives, models, programs, tables
from fuzz.cases import Case, generator

AREAS: dict[str, Case] = {
    "svmlight files": files.svmlight,
    "CSV files": files.csv_file,
    "compressed files": files.compressed,
    "JSON lines": tables.json_lines,
    "tables with semicolons": tables.semicolons,
    "bytes of models": models.flipped,
    "contents of models": models.crafted,
    "arrays": calls.arrays,
    "interruptions": calls.interruptions,
    "lives": lives.lives,
    "real sets": lives.real_sets,
    "command line": programs.options,
    "pipes": programs.pipes,
    "bombs": programs.bombs,
    "kills": programs.kills,
}
IN_PROGRAMS = ("pipes", "bombs", "kills")  # each case starts processes: seconds
LIVES = ("lives", "real sets")  # tests of their own: test_lives.py
if "KERNBROOK_DATA" not in os.environ:
    del AREAS["real sets"]
FOUND = "found"


def one(area: str, seed: int, number: int, keep: Path | None = None) -> str:
    """How a case ends: accepted, refused or found, whose files and traceback are kept."""
    with TemporaryDirectory(prefix="kernbrook-fuzz-") as name:
        folder = Path(name)
        try:
            return AREAS[area](generator(seed, area, number), folder)
        except Exception:
            if keep is None:
                raise
            place = keep / f"{area.replace(' ', '-')}-{seed}-{number}"
            shutil.copytree(folder, place)
            (place / "traceback.txt").write_text(traceback.format_exc(), errors="replace")
            return FOUND


def some(area: str, seed: int, start: int, seconds: float, keep: Path, began: Any) -> Counter[str]:
    """Cases from `start` on, for so many seconds; `began` is told the number of each."""
    end, ends = time.monotonic() + seconds, Counter[str]()
    while time.monotonic() < end:
        number = start + ends.total()
        began(number)
        ends[one(area, seed, number, keep)] += 1
    return ends
