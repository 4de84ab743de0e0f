"""Small changes of the package, one at a time: do the tests that lie near see them?

    python tests/mutants.py --count 40 --seed 0
    python tests/mutants.py src/kernbrook/atomic.py src/kernbrook/results.py

The changes are cosmic-ray's: other comparisons, operators, numbers and booleans, loops without
rounds, exceptions that are not caught. They are drawn from the files named, else from the files
that differ from `main`, else from all. What runs is a copy of the tree. Nearest are the test files
that name the most of what a changed function, its module and who imports the module are called. A
change that none of them sees is shown as a diff; read it before you believe it: some changes mean
the same.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[1]
LEFT_OUT = ("Decorator", "variable_", "NoOp")  # what these change mostly means the same
MOST = 6  # files of tests for one change
SECONDS = 1800
NOT_SEEN = "NOT SEEN"


def _hints(node: ast.AST) -> list[ast.expr]:
    found = getattr(node, "annotation", None), getattr(node, "returns", None)
    return [one for one in found if one is not None]


class Change(NamedTuple):
    """One change: of a file, by an operator of cosmic-ray, at one of the places for it."""

    path: Path
    operator: str
    occurrence: int
    line: int


def changes_of(path: Path) -> Iterator[Change]:
    """All changes of a file, but for those of annotations, which nobody runs."""
    text = path.read_text("utf-8")
    hints = [one for node in ast.walk(ast.parse(text)) for one in _hints(node)]
    unseen = [((h.lineno, h.col_offset), (h.end_lineno, h.end_col_offset)) for h in hints]
    tree = get_ast(text)
    for name in operator_names():
        kind = get_operator(name)
        if any(part in name for part in LEFT_OUT) or kind.arguments():
            continue
        places = [place for node in ast_nodes(tree) for place in kind().mutation_positions(node)]
        for occurrence, (begin, _) in enumerate(places):
            if not any(start <= begin < end for start, end in unseen):
                yield Change(path, name, occurrence, begin[0])


def nearest(change: Change, tests: dict[Path, str], package: dict[Path, str]) -> list[Path]:
    """The files of tests that name the most of what is changed, the nearest first."""
    around = [
        node.name
        for node in ast.walk(ast.parse(package[change.path]))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and node.lineno <= change.line <= node.end_lineno
    ]
    module = ".".join(change.path.with_suffix("").parts[-2:])
    users = [p.stem for p, text in package.items() if re.search(rf"\.{module} import", text)]
    worth = {path: 0.5 * (path.parent.name in change.path.parts) for path in tests}
    for name in dict.fromkeys([module, change.path.stem, *around, *users]):
        naming = [path for path, text in tests.items() if re.search(rf"\b{name}\b", text)]
        share = 1.0 if name not in users else 0.5
        for path in naming:
            worth[path] += share / len(naming) + share * (name in path.stem)
    return sorted(tests, key=lambda path: (-worth[path], str(path)))[:MOST]


def outcome(change: Change, copy: Path, tests: list[Path]) -> str:
    """`seen` where one of the tests, run in a copy of the tree, fails with the change.

    Else `NOT SEEN`; or `no end` where the tests ran for too long: a loop without an end, which was
    seen, or a slow machine. Whoever reads the list decides.
    """
    there = copy / change.path.relative_to(ROOT)
    before = there.read_text("utf-8")
    there.write_text(_changed(change, before), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not long"]
    command += [str(path.relative_to(ROOT)) for path in tests]
    own = os.environ | {"PYTHONPATH": str(copy / "src")}  # before what is installed
    try:
        done = subprocess.run(command, cwd=copy, env=own, capture_output=True, timeout=SECONDS)
        return "seen" if done.returncode else NOT_SEEN
    except subprocess.TimeoutExpired:
        return "no end"
    finally:
        there.write_text(before, encoding="utf-8")


def _changed(change: Change, text: str) -> str:
    changed: str | None = mutate_code(text, get_operator(change.operator)(), change.occurrence)
    return changed or text


def _chosen(given: list[str]) -> list[Path]:
    """The files to change: those named, those that differ from `main`, or all."""
    if not given:
        command = ["git", "diff", "--name-only", "main", "--", "src"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        given = [name for name in done.stdout.split() if name.endswith(".py")]
    paths = [ROOT / name for name in given] or sorted((ROOT / "src").rglob("*.py"))
    return [path for path in paths if path.exists()]


def _one_of(changes: list[Change], draw: random.Random) -> Change:
    """A change of one line: each line is as likely as another, however many changes it has."""
    line = draw.choice(sorted({change.line for change in changes}))
    return draw.choice([change for change in changes if change.line == line])


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    draw = random.Random(asked.seed)
    tests = {path: path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    package = {path: path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")}
    every = [list(changes_of(path)) for path in _chosen(asked.files)]
    every = [found for found in every if found]
    drawn = [_one_of(draw.choice(every), draw) for _ in range(asked.count)]
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        left_out = shutil.ignore_patterns(".git", "__pycache__", "_build", ".*_cache")
        shutil.copytree(ROOT, copy, ignore=left_out)
        for number, change in enumerate(drawn, start=1):
            near = nearest(change, tests, package)
            told = outcome(change, copy, near)
            outcomes[told] += 1
            print(f"{number:3} {told} {change.path.relative_to(ROOT)}:{change.line}", flush=True)
            if told == NOT_SEEN:
                text = change.path.read_text("utf-8")
                lines = text.splitlines(), _changed(change, text).splitlines()
                print(*difflib.unified_diff(*lines, n=0, lineterm=""), sep="\n")
                print("not by", *(path.relative_to(ROOT) for path in near), flush=True)
    print(*(f"{name}: {count}" for name, count in outcomes.items()), sep=", ")


if __name__ == "__main__":
    main()
