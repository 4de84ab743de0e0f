"""Writes docs/parameters.md, from what the classes say: `python docs/write_parameters.py`."""

from __future__ import annotations

from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import kernbrook as kb
from kernbrook.checks import ranges_of
from kernbrook.estimators.trivial import TrivialClassifier, TrivialRegressor

PAGE = Path(__file__).with_name("parameters.md")
ESTIMATORS = [
    *(kb.OnlineMKClassifier, kb.OnlineMKRegressor, kb.LateLabels, kb.NamedColumns, kb.TableModel),
    *(kb.KernelFeatures, kb.VotedKernelClassifier, kb.VotedKernelClassifierCV),
    *(kb.TableEncoder, TrivialClassifier, TrivialRegressor),
]
BEGIN = """# Parameters

What each parameter may be. This page is written by `python docs/write_parameters.py` from what the
classes say in `parameter_ranges`, which is what is checked.

Parameters are checked before the first example is learned from, those of kernels when a kernel is
made. What does not fit is refused with an `InputError` that names the class, the parameter, what
was expected and what was found. Numbers are finite, and True and False are none. But for those of
kernels they are 0, or of a size from 1e-100 to 1e100; so a positive number is at least 1e-100.
Kernels that have `sigma` and `gamma` are given one of the two.
"""
HEAD = "| parameter | default | may be |\n|---|---|---|"


def classes_of(module: Any) -> list[type]:
    """The classes with parameters that a module exports."""
    found = [getattr(module, name) for name in module.__all__]
    return [kind for kind in found if isinstance(kind, type) and ranges_of(kind)]


def sections() -> dict[str, list[type]]:
    """All classes with parameters, by what they are."""
    return {
        "Estimators": ESTIMATORS,
        "Kernels": classes_of(kb.kernels),
        "Learners": classes_of(kb.learners),
        "Feature maps": classes_of(kb.features),
        "Combiners": classes_of(kb.combiners),
        "Selections": classes_of(kb.selection),
        "Label policies": classes_of(kb.labels),
    }


def page() -> str:
    """The text of docs/parameters.md: a table for each kind of part."""
    parts = [BEGIN]
    for title, kinds in sections().items():
        parts += [f"## {title}\n", HEAD, *(row for kind in kinds for row in _rows(kind)), ""]
    return "\n".join(parts)


def _rows(kind: type) -> list[str]:
    """A line with the name of a class, and one for each parameter."""
    lines = [f"| **{kind.__name__}** | | |"]
    parameters = signature(kind).parameters
    for name, allowed in ranges_of(kind).items():
        default = parameters[name].default
        shown = "needed" if default is Parameter.empty else f"`{default!r}`"
        lines.append(f"| `{name}` | {shown} | {allowed.words} |")
    return lines


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
