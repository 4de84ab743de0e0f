"""One writer a model's file: never two, and nothing stays behind."""

import contextlib
import errno
import os
import subprocess
import sys
import threading
import time

import pytest

from kernbrook.errors import InputError
from kernbrook.evaluation import locking
from kernbrook.evaluation.locking import locked

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs files that can be removed while open")


def test_a_second_one_is_refused(tmp_path):
    with locked(tmp_path / "m"):
        with pytest.raises(InputError, match="m is in use: this model is being trained"):
            locked(tmp_path / "m").__enter__()
        with locked(tmp_path / "other"):
            pass
    with locked(tmp_path / "m"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_the_same_model(tmp_path):
    (tmp_path / "m").write_text("")
    try:
        (tmp_path / "link").symlink_to(tmp_path / "m")
    except OSError:
        pytest.skip("no links here")
    with locked(tmp_path / "link"), pytest.raises(InputError, match="m is in use"):
        locked(tmp_path / "m").__enter__()


def test_never_two_at_a_time(tmp_path):
    """Each removes the file at its end, under the others' hands."""
    inside, most, entered = 0, 0, 0
    guard = threading.Lock()

    def work():
        nonlocal inside, most, entered
        while entered < 200:
            try:
                with locked(tmp_path / "m"):
                    with guard:
                        inside += 1
                        entered += 1
                        most = max(most, inside)
                    time.sleep(0)
                    with guard:
                        inside -= 1
            except InputError:
                pass

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert entered >= 200
    if os.name == "posix":
        assert list(tmp_path.iterdir()) == []


@POSIX
@pytest.mark.parametrize(("moved", "replaced"), [(False, False), (False, True), (True, True)])
def test_a_file_that_was_removed_is_no_lock(tmp_path, monkeypatch, moved, replaced):
    """Between opening it and locking it; another may have made a new one since."""
    import fcntl

    flock, asked = fcntl.flock, []

    def slow(handle, operation):
        if operation & fcntl.LOCK_EX and not asked:
            asked.append(handle)
            (place,) = tmp_path.iterdir()
            place.rename(tmp_path / "moved") if moved else place.unlink()
            if replaced:
                place.touch()
        return flock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", slow)
    with locked(tmp_path / "m"), pytest.raises(InputError, match="in use"):
        locked(tmp_path / "m").__enter__()
    assert asked
    assert list(tmp_path.iterdir()) == [tmp_path / "moved"] * moved


@POSIX
def test_anothers_file_is_not_removed(tmp_path):
    """The first one's was, under its hands; a third must not come in beside the second."""
    with contextlib.ExitStack() as second:
        with locked(tmp_path / "m"):
            (place,) = tmp_path.iterdir()
            place.unlink()
            second.enter_context(locked(tmp_path / "m"))
        with pytest.raises(InputError, match="in use"):
            locked(tmp_path / "m").__enter__()
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_blocks_nobody(tmp_path):
    code = (
        "import sys; from kernbrook.evaluation.locking import locked\n"
        "with locked(sys.argv[1]): print('in', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "m")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with process:
        assert process.stdout.readline().strip() == b"in"
        with pytest.raises(InputError) as refused:
            locked(tmp_path / "m").__enter__()
        process.kill()
    if os.name == "posix":
        assert str(refused.value).endswith(f"already, by process {process.pid}")
    assert len(list(tmp_path.iterdir())) == 1
    with locked(tmp_path / "m"):
        pass
    assert list(tmp_path.iterdir()) == []


@POSIX
def test_a_file_system_without_locks(tmp_path, monkeypatch):
    import fcntl

    def none(handle, operation):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", none)
    with locked(tmp_path / "m"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written(tmp_path, monkeypatch):
    class Refusing(locking.FileLock):
        def acquire(self, *args, **options):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(locking, "FileLock", Refusing)
    with pytest.raises(InputError, match=r"cannot write '.*\.lock': Permission denied"):
        locked(tmp_path / "m").__enter__()
