"""The long fuzz: `python tests/fuzz --minutes 60`, with `--areas "lives,real sets"` of these alone.

The areas have their turns, each some cases in a process of its own, with a limit on its memory. A
turn that finds something shows the smallest case that hypothesis has for it. Its last line says how
the turn is run again.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time
from collections import Counter
from itertools import count, cycle
from pathlib import Path

FOLDER = Path(__file__).parent
CASES = {"contents of models": 6, "lives": 8, "real sets": 1}  # of a turn; 60 of the others
MEMORY = 8 << 30  # bytes of address space of a turn
HANGS = 1800.0  # seconds after which a turn hangs


def turn(area: str, tests: str, seed: int) -> str:
    """What a turn finds; nothing where it finds nothing."""
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--hypothesis-seed={seed}"]
    words.append(f"{FOLDER / 'test_fuzz.py'}::{tests}[{area}]")
    env = os.environ | {"FUZZ_CASES": str(CASES.get(area, 60))}
    try:
        done = subprocess.run(
            words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=HANGS, check=False, preexec_fn=limited, errors="replace",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "it hangs"
    return f"{done.stdout}\nit ended with {done.returncode}" if done.returncode else ""


def limited() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main() -> None:
    from fuzz.test_fuzz import AREAS, LIVES

    tests = dict.fromkeys(AREAS, "test_some_cases") | dict.fromkeys(LIVES, "test_lives_for_long")
    if "KERNBROOK_DATA" not in os.environ:
        del tests["real sets"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6), help="drawn if none")
    parser.add_argument("--areas", default=",".join(tests))
    given = parser.parse_args()
    areas, end = given.areas.split(","), time.monotonic() + 60 * given.minutes
    turns, found = Counter[str](), Counter[str]()
    for seed, area in zip(count(given.seed), cycle(areas), strict=False):
        if time.monotonic() > end and all(turns[one] for one in areas):
            break
        said = turn(area, tests[area], seed)
        turns[area] += 1
        found[area] += bool(said)
        if said:
            print(f"{said}\nagain: python tests/fuzz --areas '{area}' --seed {seed} --minutes 0")
    print(f"{'area':24} {'cases':>8} {'found':>6}")
    for area in areas:
        print(f"{area:24} {turns[area] * CASES.get(area, 60):8,} {found[area]:6,}")
    sys.exit(bool(found.total()))


if __name__ == "__main__":
    sys.path[:0] = [str(FOLDER.parent), str(FOLDER.parent / "support")]
    main()
