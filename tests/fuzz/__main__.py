"""The long fuzz: `python -m fuzz --minutes 60`, in the folder of tests.

Every area has its turn, half a minute in a process of its own, with a limit on its memory. What is
found stands in the folder that `--keep` names: the files of the case, and the traceback.
`--case "CSV files:17" --seed 3` runs one case again.
"""

from __future__ import annotations

import argparse
import json
import secrets
import subprocess
import sys
import time
from collections import Counter, defaultdict
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.areas import AREAS, FOUND, one, some
from fuzz.cases import ACCEPTED, REFUSED

TURN = 30.0  # seconds
MEMORY = 8 << 30  # bytes of address space of an area's process
HANGS = 600.0  # seconds of one turn after which its process hangs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6), help="drawn if none")
    parser.add_argument("--areas", default=",".join(AREAS))
    parser.add_argument("--keep", type=Path, default=Path("fuzz-found"))
    parser.add_argument("--case", help="AREA:NUMBER, to run again")
    parser.add_argument("--turn", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.case:
        area, _, number = given.case.rpartition(":")
        print(one(area, given.seed, int(number)))
    elif given.turn:
        turn(given.turn[0], given.seed, int(given.turn[1]), given.keep)
    else:
        sys.exit(rounds(given.areas.split(","), given.seed, 60 * given.minutes, given.keep))


def turn(area: str, seed: int, start: int, keep: Path) -> None:
    """One turn of an area, in a process of its own; each case is told before it begins."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    place = keep / "now"

    def began(number: int) -> None:
        place.write_text(str(number))

    print(json.dumps(some(area, seed, start, TURN, keep, began)))


def rounds(areas: list[str], seed: int, seconds: float, keep: Path) -> int:
    """Turn after turn; the table at the end. Returns the exit code."""
    keep.mkdir(parents=True, exist_ok=True)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    end = time.monotonic() + seconds
    print(f"seed {seed}")
    for area in cycle(areas):
        if time.monotonic() > end and all(counts[name].total() for name in areas):
            break
        start = counts[area].total()
        words = [sys.executable, "-m", "fuzz", "--seed", str(seed), "--keep", str(keep)]
        with TemporaryDirectory() as folder, open(Path(folder) / "said", "w+") as said:
            try:
                done = subprocess.run(
                    [*words, "--turn", area, str(start)], stdout=subprocess.PIPE, stderr=said,
                    text=True, timeout=HANGS, check=False,
                )  # fmt: skip
                ended = f"it ended with {done.returncode}" if done.returncode else ""
            except subprocess.TimeoutExpired:
                ended = "it hangs"
            if ended:
                number = int((keep / "now").read_text())
                said.seek(0)
                print(f"{area}: case {number}: {ended}\n{said.read()[-2000:]}")
                counts[area][FOUND] += 1
                counts[area][REFUSED] += number - start  # as far as can be told
            else:
                counts[area].update(json.loads(done.stdout.splitlines()[-1]))
    (keep / "now").unlink(missing_ok=True)
    print(f"{'area':24} {'cases':>8} {ACCEPTED:>9} {REFUSED:>9} {FOUND:>6}")
    total: Counter[str] = Counter()
    for area in areas:
        line(area, counts[area])
        total.update(counts[area])
    line("together", total)
    if total[FOUND]:
        print(f"what was found is in {keep}")
    return int(total[FOUND] > 0)


def line(area: str, ends: Counter[str]) -> None:
    print(f"{area:24} {ends.total():8,} {ends[ACCEPTED]:9,} {ends[REFUSED]:9,} {ends[FOUND]:6,}")


if __name__ == "__main__":
    main()
