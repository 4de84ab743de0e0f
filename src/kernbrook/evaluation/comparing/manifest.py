"""What it takes to run the same again."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kernbrook.evaluation.comparing.choosing import Plan, said_of
from kernbrook.evaluation.history.row_digests import RowDigest
from kernbrook.evaluation.runs.lateness import Lateness


def digest_of(X: Any, y: NDArray[Any]) -> str:
    """SHA-256 of all rows and labels, by value."""
    digest = RowDigest()
    digest.update(X, y)
    return digest.hexdigest()


def manifest(seed: int) -> dict[str, Any]:
    """What it takes to run the same again: command, seed, versions, machine."""
    program = Path(sys.argv[0])
    name = f"python -m {program.parent.name}" if program.name == "__main__.py" else program.name
    packages = ("kernbrook", "numpy", "scipy", "scikit-learn", "numba")
    return {
        "command": " ".join([name, *sys.argv[1:]]),
        "seed": seed,
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in packages},
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }


def asked(plan: Plan, lateness: Lateness, measure: str | None) -> dict[str, Any]:
    """What was asked for, as far as it is not what is always done."""
    facts: dict[str, Any] = {"parameters": {key: repr(one) for key, one in plan.overrides.items()}}
    if not lateness.at_once:
        facts |= lateness._asdict()
    if measure is not None:
        facts["measure"] = measure
    models = {name: given for name, given in (plan.rows or {}).items() if name != given}
    if models:
        facts["models"] = {name: said_of(given) for name, given in models.items()}
    return facts
