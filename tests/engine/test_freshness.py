"""Compiled code on disk goes when any source of the package changes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kernbrook
from kernbrook.numerics.freshness import STAMP, digest_of, discard_stale


def test_a_changed_digest_empties_this_packages_cache(tmp_path):
    sources, cache = tmp_path / "sources", tmp_path / "cache"
    sources.mkdir()
    (sources / "sums.py").write_text("one")
    assert discard_stale(cache, sources, "one")
    kept, gone = cache / "other.f-1.py311.nbi", cache / "sums.add-1.py311.nbi"
    for file in (kept, gone):
        file.write_text("compiled")
    assert not discard_stale(cache, sources, "one")
    assert gone.exists()
    assert discard_stale(cache, sources, "two")
    assert not gone.exists()
    assert kept.exists()
    assert (cache / STAMP).exists()


def test_a_cache_that_cannot_be_written_is_left_alone(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert discard_stale(blocked / "cache", tmp_path, "one")


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


@pytest.mark.slow
def test_code_beside_a_kernel_goes_with_a_change_elsewhere(tmp_path):
    """In the folders of all sources: here what `Monomials` compiles, after a change of `pairs`."""
    package = tmp_path / "kernbrook"
    source = Path(kernbrook.__file__).parent
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "import kernbrook as kb; "
        "kb.KernelFeatures(kb.Polynomial(2), kb.Monomials()).fit_transform([[1.0]])"
    )

    def found(*command):
        environment = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-c", *command]
        subprocess.run(command, env=environment, cwd=tmp_path, check=True)
        return {path.name for path in tmp_path.rglob("cache/**/monomials.*.nbc")}

    assert found("import kernbrook.features") == set()
    assert len(found(program)) == 1
    assert len(found("import kernbrook.features")) == 1
    with open(package / "numerics" / "pairs.py", "a") as file:
        file.write("\n# changed\n")
    assert found("import kernbrook.features") == set()
