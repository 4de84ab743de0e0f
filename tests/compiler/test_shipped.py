"""Compiled code that came with the package: what is taken, and what is left aside in silence."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from beside import beside_the_tests
from numba.core import config

import kernbrook
from kernbrook.compiler import shipped
from kernbrook.compiler.disk_cache import STAMP, conditions


@pytest.fixture
def levels(tmp_path, monkeypatch):
    """Two levels that are there and run here, one that is not there, one that does not run."""
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    names = {"beyond": "+magic", "missing": "", "best": "+good,+better", "good": "+good"}
    monkeypatch.setattr(shipped, "LEVELS", names)
    monkeypatch.setattr(shipped, "get_host_cpu_features", lambda: "+good,-magic,+better,-best")
    (tmp_path / STAMP).write_text(conditions())
    for name in ("beyond", "best", "good"):
        (tmp_path / name).mkdir()
    return tmp_path


def test_the_program_of_the_build_names_what_is_there():
    """The build runs it alone, long after a module has moved."""
    text = beside_the_tests("hatch_build.py").read_text("utf-8")
    (program,) = re.findall(r'^PROGRAM = """(.*?)"""', text, re.M | re.S)
    lines = [line for line in program.splitlines() if re.match(r"(from|import) ", line)]
    assert len(lines) == 4
    exec("\n".join(lines), {})


def test_the_best_level_is_taken_that_is_there_and_runs(levels):
    assert shipped._level_here() == ("best", "+good,+better")
    (levels / "best").rmdir()
    assert shipped._level_here() == ("good", "+good")
    (levels / "good").rmdir()
    assert shipped._level_here() is None


@pytest.mark.parametrize("text", ["", "x", conditions()[:-1], conditions().replace("numba ", "")])
def test_of_other_sources_or_versions_nothing_is_taken(levels, text):
    (levels / STAMP).write_text(text)
    assert shipped._level_here() is None


def test_what_code_on_disk_hangs_on():
    python, *versions = conditions().split()
    assert python == sys.implementation.cache_tag
    assert versions[0::2][:2] == ["numba", "llvmlite"]
    assert len(versions[4]) == 64


CHANGED = {
    "BOUNDSCHECK": 1, "CPU_NAME": "generic", "CPU_FEATURES": "", "DEBUGINFO_DEFAULT": 1,
    "OPT": type(config.OPT)(2), "USING_SVML": True,
}  # fmt: skip


def test_where_numba_is_told_otherwise_nothing_is_taken(levels, monkeypatch):
    for name, value in (*CHANGED.items(), ("OPT", type(config.OPT)("max"))):
        assert shipped._level_here() is not None
        with monkeypatch.context() as told:
            told.setattr(config, name, value)
            assert shipped._level_here() is None


def test_functions_from_outside_are_not_looked_for(levels, monkeypatch):
    monkeypatch.setattr(shipped, "level", ("good", "+good"))
    assert shipped.folder_of(str(shipped.PACKAGE / "a" / "b" / "c.py")) == str(levels / "good/a/b")
    assert shipped.folder_of(str(shipped.PACKAGE.parent / "c.py")) is None
    monkeypatch.setattr(shipped, "level", None)
    assert shipped.folder_of(str(shipped.PACKAGE / "a" / "b" / "c.py")) is None


PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from numba.core.event import Listener, install_listener
from kernbrook.compiler import shipped
from kernbrook.compiler.compiling import njit
from kernbrook.numerics.upkeep import dot
from kernbrook.numerics.zero import zero_or

class Names(Listener):
    def on_start(self, event):
        print(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event):
        pass

@njit()
def new(values, n):
    return dot(values, n, values)[0]

with install_listener("numba:compile", Names()):
    total = zero_or(new(np.random.default_rng(0).normal(size=1003), 1003), 2.0)
print(total.hex())
for folder in sys.argv[1:]:
    shipped.copy_shipped(Path(folder))
"""


@pytest.mark.slow
def test_shipped_code_is_taken_and_its_order_goes_into_new_code(tmp_path):
    """Code without AVX: sums are in another order than where the processor has it."""
    package = tmp_path / "kernbrook"
    left_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(kernbrook.__file__).parent, package, ignore=left_out)
    text = (package / "compiler" / "shipped.py").read_text()
    text = text.replace('in ("x86_64", "AMD64")', "in ()")
    (package / "compiler" / "shipped.py").write_text(text)

    def run(*folders, cache="cache", **more):
        """What is compiled, and the sum."""
        usual = {name: value for name, value in os.environ.items() if name[:6] != "NUMBA_"}
        paths = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / cache)}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM, *map(str, folders)],
            env=usual | paths | more, capture_output=True, text=True, check=True,
        )  # fmt: skip
        *names, total = done.stdout.split()
        return set(names), total

    all_of_it, own = {"dot", "new", "zero_or"}, None
    level = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    names, theirs = run(package / "_compiled" / "generic", cache="build", **level)
    assert names == all_of_it
    assert run() == ({"new"}, theirs)  # it is not kept on disk
    assert not [*tmp_path.glob("cache/*/*.nb[ic]")]
    names, own = run(NUMBA_BOUNDSCHECK="0")
    assert names == all_of_it
    if "+avx" in shipped.get_host_cpu_features().split(","):
        assert own != theirs
    assert run() == ({"new"}, theirs)
    (file,) = package.rglob("_compiled/**/zero.zero_or-*.nbc")
    file.unlink()
    assert run() == ({"new", "zero_or"}, theirs)
    with open(package / "numerics" / "zero.py", "a") as file:
        file.write("\n# changed\n")
    assert run(cache="changed") == (all_of_it, own)
