"""The two forms of a compiled function: for Python, and for compiled code."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.compiler.compiling import njit


@njit()
def least(values, start):
    found = values[start]
    for i in range(start + 1, values.shape[0]):
        found = min(found, values[i])
    return found


@njit(fastmath={"reassoc", "nsz"})
def total(values):
    out = 0.0
    for i in range(values.shape[0]):
        out += values[i]
    return out


@njit()
def both(values, start):
    return least(values, 0), least(values, start), total(values)


def test_compiled_code_calls_the_other_form():
    values = np.random.default_rng(0).normal(size=1003)
    assert both(values, 500) == (values.min(), values[500:].min(), total(values))
    assert least.signatures == []
    assert len(least.inside) == 1  # a constant is a number like others
    assert least(values, 1) == values[1:].min()
    assert len(least.signatures) == 1


def test_a_form_for_compiled_code_has_no_machine_code():
    both(np.ones(3), 1)
    (form,) = least.inside.values()
    assert form.code.get_pointer_to_function(form.fndesc.llvm_func_name) == 0


PROGRAM = """
from numba.core.event import Listener, install_listener
import kernbrook as kb

class Names(Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("kernbrook"):
            print(function.__name__)
    def on_end(self, event):
        pass

X = [[0.0, 1.0], [2.0, 0.5], [1.0, 1.0]]
with install_listener("numba:compile", Names()):
    Z = kb.KernelFeatures(kb.Gaussian(sigma=1), kb.Nystroem(landmarks=X[:2])).fit_transform(X)
print(float(Z.sum()))
"""


@pytest.mark.long
@pytest.mark.slow
def test_both_forms_are_kept_on_disk(tmp_path):
    def run():
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=os.environ
            | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(kb.__file__).parents[1])},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        *names, value = done.stdout.split()
        return set(names), float(value)

    names, value = run()
    assert {"kernel_values", "add_points"} <= names
    assert run() == (set(), value)
    for path in tmp_path.rglob("values.kernel_values-*"):
        path.unlink()
    assert run() == ({"kernel_values"}, value)


def test_a_model_learns_where_numba_is_told_to_compile_nothing():
    """That is for functions of one's own: links need machine code of ours."""
    program = """
import kernbrook as kb
print(kb.OnlineMKClassifier(kb.Gaussian(sigma=1), kb.BPAS(5)).fit([[0.0], [1.0]], [0, 1]).classes_)
"""
    places = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=places, capture_output=True, text=True
    )
    assert done.stdout == "[0 1]\n", done.stderr
