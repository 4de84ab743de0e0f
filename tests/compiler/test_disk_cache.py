"""Compiled code on disk goes when any source of the package changes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kernbrook
from kernbrook.compiler import disk_cache
from kernbrook.compiler.disk_cache import STAMP, CheckedFiles, digest_of, discard_stale
from kernbrook.errors import KernbrookWarning


def test_a_changed_digest_empties_this_packages_cache(tmp_path):
    cache, gone = tmp_path / "cache", tmp_path / "cache" / "sums.add-1.py311.inner.nbi"
    assert discard_stale(cache, "one")
    gone.write_text("compiled")
    assert not discard_stale(cache, "one")
    assert gone.exists()
    assert discard_stale(cache, "two")
    assert not gone.exists()
    (cache / STAMP).write_bytes(b"\xff\x00")
    assert discard_stale(cache, "two")
    assert not discard_stale(cache, "two")


DAMAGES = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 4),
    "one bit": lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\x00"),
    "as numba writes it": lambda path: path.write_bytes(path.read_bytes()[4:]),
}


@pytest.fixture
def told(monkeypatch):
    monkeypatch.setattr(disk_cache, "_warned", set())


@pytest.mark.parametrize(
    ("damage", "ending"), [(one, ("nbi", "nbc")[i % 2]) for i, one in enumerate(DAMAGES)]
)
def test_what_is_damaged_is_made_again(tmp_path, told, ending, damage):
    """Said once; what is whole beside it stays."""
    files = CheckedFiles(str(tmp_path), "f-1.py311", "stamp")
    for key in "ab":
        files.save(key, f"code for {key}")
    assert [files.load(key) for key in "abc"] == ["code for a", "code for b", None]
    kept = sorted(tmp_path.glob(f"*.{ending}"))
    assert len(kept) == (1 if ending == "nbi" else 2)
    for path in kept:
        DAMAGES[damage](path)
    with pytest.warns(KernbrookWarning, match="compiled code is damaged; it is compiled") as said:
        assert [files.load(key) for key in "ab"] == [None, None]
    assert len(said) == 1
    assert not any(path.exists() for path in kept)
    for key in "ab":
        files.save(key, f"new code for {key}")
    assert [files.load(key) for key in "ab"] == ["new code for a", "new code for b"]


def test_files_of_another_stamp_are_not_taken(tmp_path, told):
    CheckedFiles(str(tmp_path), "f-1.py311", "old").save("a", "old code")
    with pytest.warns(KernbrookWarning, match="is compiled again"):
        assert CheckedFiles(str(tmp_path), "f-1.py311", "new").load("a") is None


def test_two_processes_that_write_at_a_time(tmp_path, monkeypatch):
    """Each begins with the index as it was; the one that is last has it, and its own code."""
    one, other = (CheckedFiles(str(tmp_path), "f-1.py311", "stamp") for _ in range(2))
    with monkeypatch.context() as early:
        early.setattr(one, "_load_index", dict)
        early.setattr(other, "_load_index", dict)
        one.save("a", "code for a")
        other.save("b", "code for b")
    assert (one.load("a"), one.load("b")) == (None, "code for b")
    one.save("a", "code for a")
    assert (one.load("a"), one.load("b")) == ("code for a", "code for b")


PROGRAM = "from kernbrook.numerics.zero import zero_or; print(zero_or(0.5, 2.0))"
FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs limits of processes")


def run(folder, program=PROGRAM, **environment):
    """What a program writes, and what it is warned of."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder), **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0.5\n"
    return [line for line in done.stderr.splitlines() if "Warning: " in line]


@pytest.mark.long
def test_a_program_mends_a_damaged_cache(tmp_path):
    assert run(tmp_path) == run(tmp_path) == []
    files = [*tmp_path.rglob("zero.*.nb[ic]")]
    assert len(files) == 2
    for path in files:
        DAMAGES["one bit"](path)
    (said,) = run(tmp_path)
    assert "compiled code is damaged; it is compiled again" in said
    assert run(tmp_path) == []


@POSIX
def test_a_program_on_a_full_disk_goes_on(tmp_path):
    for _ in range(2):
        (said,) = run(tmp_path, FULL + PROGRAM)
        assert "compiled code cannot be kept, and is compiled anew each time: " in said
        assert str(tmp_path) in said
    assert run(tmp_path) == []
    assert run(tmp_path, FULL + PROGRAM) == []  # of what is there it reads alone


@pytest.mark.parametrize("classes", ["", "UserProvidedCacheLocator"])
def test_a_program_without_a_folder_for_its_cache_goes_on(tmp_path, classes):
    (tmp_path / "file").touch()
    locators = {"NUMBA_CACHE_LOCATOR_CLASSES": classes}
    (said,) = run(tmp_path / "file", **locators)
    assert "compiled code cannot be kept, and is compiled anew each time: " in said
    assert run(tmp_path / "missing" / "folder", **locators) == []


def test_compiled_code_is_kept_in_the_users_folder_by_version(tmp_path):
    """Never beside the package, where it would outlive it."""
    assert run("", XDG_CACHE_HOME=str(tmp_path)) == []
    whole = tmp_path / "kernbrook" / kernbrook.__version__
    assert {path.parents[1] for path in tmp_path.rglob("*.nbc")} == {whole}
    assert not [*Path(kernbrook.__file__).parent.rglob("*.nb[ic]")]


def test_the_digest_is_of_folders_with_compiled_code(tmp_path):
    for name, text in {
        "engine/one.py": "@njit(cache=True)\ndef f(): ...",
        "engine/constants.py": "ZERO = 0",
        "kernels/two.py": "@fill.of(Kind)\ndef f(): ...",
        "reports/three.py": "print()",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    digests = [digest_of.__wrapped__(tmp_path)]
    for name in ("engine/one.py", "engine/constants.py", "kernels/two.py", "reports/three.py"):
        (tmp_path / name).write_text((tmp_path / name).read_text() + "\n# changed")
        digests.append(digest_of.__wrapped__(tmp_path))
    assert len(set(digests[:4])) == 4
    assert digests[4] == digests[3]
