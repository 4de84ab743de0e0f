"""Files written whole or not at all, and what killed writers leave."""

from __future__ import annotations

import os
import signal
import stat
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


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@POSIX
@pytest.mark.parametrize("permissions", [0o600, 0o444])
def test_a_file_keeps_its_permissions(tmp_path, permissions):
    target = tmp_path / "file"
    target.write_text("old")
    target.chmod(permissions)
    with atomic.replacing(target) as file:
        (draft,) = (path for path in tmp_path.iterdir() if path != target)
        assert mode(draft) == 0o600
        file.write(b"new")
    assert mode(target) == permissions
    assert target.read_text() == "new"


@POSIX
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_new_file_follows_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        atomic.write_text(tmp_path / "file", "new")
    finally:
        os.umask(before)
    assert mode(tmp_path / "file") == 0o666 & ~umask


@POSIX
@pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="only root gives files away")
def test_owner_and_group_are_kept(tmp_path):
    target = tmp_path / "file"
    target.write_text("old")
    os.chown(target, 1234, 5678)
    target.chmod(0o640)
    atomic.write_text(target, "new")
    assert (target.stat().st_uid, target.stat().st_gid, mode(target)) == (1234, 5678, 0o640)


@POSIX
def test_another_group_may_not_do_what_the_old_one_might(tmp_path, monkeypatch):
    """The permissions were for a group that this process may not give."""
    target = tmp_path / "file"
    target.write_text("old")
    target.chmod(0o664)
    real = os.stat

    def stat_of_another_group(path, **options):
        found = real(path, **options)
        if os.fspath(path) != os.fspath(target):
            return found
        return os.stat_result([*found[:5], found.st_gid + 1, *found[6:]])

    def refuse(*arguments):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "stat", stat_of_another_group)
    monkeypatch.setattr(os, "chown", refuse)
    atomic.write_text(target, "new")
    monkeypatch.undo()
    assert mode(target) == 0o644


@POSIX
def test_a_draft_is_never_what_somebody_elses_link_leads_to(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("theirs")
    names = []
    with atomic.replacing(tmp_path / "file"):
        names += [path for path in tmp_path.iterdir() if path != victim]
    names[0].symlink_to(victim)
    atomic.write_text(tmp_path / "file", "new")
    assert victim.read_text() == "theirs"
    assert (tmp_path / "file").read_text() == "new"
    assert not (tmp_path / "file").is_symlink()


@POSIX
def test_what_is_no_file_by_its_name_is_refused(tmp_path):
    """A pipe behind /dev/fd has no name that it could be found by."""
    read, write = os.pipe()
    for path in (f"/dev/fd/{write}", "/dev/null"):
        with pytest.raises(InputError, match="it is there and is not an ordinary file"):
            atomic.check_writable(path)
    os.close(read)
    os.close(write)
