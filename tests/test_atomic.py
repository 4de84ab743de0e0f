"""Files written whole or not at all, and what killed writers leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from kernbrook import atomic
from kernbrook.errors import InputError

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX processes")

SLEEPER = """
import signal, sys, time
from kernbrook.atomic import replacing
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run behind &
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print(flush=True)
    time.sleep(100)
"""


def sleeper(path):
    process = subprocess.Popen(
        [sys.executable, "-c", SLEEPER, path], stdout=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    return process


@POSIX
def test_a_killed_writers_draft_is_removed_by_the_next(tmp_path):
    target = tmp_path / "file"
    atomic.write_text(target, "old")
    with sleeper(target) as dead, sleeper(target) as living, sleeper(tmp_path / "other") as other:
        dead.kill()
        dead.wait()
        other.kill()
        other.wait()
        assert len(os.listdir(tmp_path)) == 4
        assert target.read_text() == "old"
        atomic.write_text(target, "new")
        left = [name for name in os.listdir(tmp_path) if name != "file"]
        assert len(left) == 2  # the living writer's, and that of another file
        assert any(name.startswith(".file.") and f"-{living.pid}-" in name for name in left)
        assert target.read_text() == "new"
        living.send_signal(signal.SIGINT)
        living.wait()
    assert [name for name in os.listdir(tmp_path) if name.startswith(".file.")] == []
    assert target.read_text() == "new"


@POSIX
def test_drafts_of_other_machines_and_other_files_stay(tmp_path, monkeypatch):
    nobody = 2**22 + 1  # beyond any process number
    names = [
        f".file.elsewhere-{nobody}-1.tmp",
        f".file.{atomic._host()}-x-1.tmp",
        f".file2.{atomic._host()}-{nobody}-1.tmp",
        f"file.{atomic._host()}-{nobody}-1.tmp",
        f".file.{atomic._host()}-{os.getpid()}-1.tmp",
        f".file.{atomic._host()}-1-1.tmp",
        f".file.{atomic._host()}-{10**30}-1.tmp",
    ]
    for name in [*names, f".file.{atomic._host()}-{nobody}-1.tmp"]:
        (tmp_path / name).touch()
    atomic.write_text(tmp_path / "file", "new")
    assert sorted(os.listdir(tmp_path)) == sorted([*names, "file"])


def test_two_writers_at_a_time(tmp_path):
    target = tmp_path / "file"
    texts = {name * 100_000 for name in "ab"}
    failures = []

    def write(text):
        try:
            for _ in range(20):
                atomic.write_text(target, text)
                assert target.read_text() in texts
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert os.listdir(tmp_path) == ["file"]


def test_the_folder_is_synced_after_the_file_is_in_its_place(tmp_path, monkeypatch):
    target = tmp_path / "file"
    synced = []
    fsync = os.fsync

    def record(handle):
        what = os.fstat(handle).st_ino
        folder = what == tmp_path.stat().st_ino
        synced.append(("folder", target.exists()) if folder else ("file", target.exists()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", record)
    atomic.write_text(target, "text")
    expected = [("file", False), ("folder", True)]
    assert synced == (expected if os.name == "posix" else expected[:1])


def test_a_failure_while_writing_leaves_the_old_file(tmp_path):
    target = tmp_path / "file"
    atomic.write_text(target, "old")

    def fail(error):
        with atomic.replacing(target) as file:
            file.write(b"new")
            raise error

    for error, raised in ((OSError(28, "No space left"), InputError), (KeyError("x"), KeyError)):
        with pytest.raises(raised):
            fail(error)
        assert os.listdir(tmp_path) == ["file"]
        assert target.read_text() == "old"


def test_a_link_is_followed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    atomic.write_text(tmp_path / "link", "text")
    assert (tmp_path / "there" / "file").read_text() == "text"
    assert (tmp_path / "link").is_symlink()
