"""What the suite runs on is compiled once; tests are marked as slow, or as readers of data."""

import gc
import importlib
import os

import hard_streams
import pytest
from thinned import left_out

collect_ignore = ["mutants.py"]  # a program, with a library of its own


@pytest.hookimpl(tryfirst=True)  # before the processes start
def pytest_sessionstart(session):
    config = session.config
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        return
    # Each process has a core: where libraries start threads besides, they wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from kernbrook.compiler.disk_cache import PACKAGE, CacheFolder

    folders = [CacheFolder.of(source) for source in PACKAGE.glob("*/__init__.py")]
    if not any(any(folder.glob("*.nbc")) for folder in folders):
        from kernbrook import recipes
        from kernbrook.evaluation.warming import compile_ahead

        print("compiling what the tests run on, once")
        compile_ahead(recipes.names(), 2)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays: no garbage is looked for in it, now or while tests run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)  # pytest-xdist may be missing
def pytest_xdist_make_scheduler(config, log):
    """A file's tests go to one process: it alone compiles, loads and keeps what they share."""
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import LoadFileScheduling

    # As collected: a file of few tests that take long would else come last, beside an idle process.
    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)


def pytest_itemcollected(item):
    """What is known of an item by its place, its name or another marker, as markers."""
    printed = item.path.parent.name == "papers"
    if item.get_closest_marker("long") or printed or "kill" in item.name:
        item.add_marker("slow")
    if printed:
        item.add_marker("data")


@pytest.hookimpl(tryfirst=True)  # before cases are chosen by their markers
def pytest_collection_modifyitems(items):
    for item in left_out(items):
        item.add_marker("long")


@pytest.fixture(scope="session", autouse=True)
def _no_power_is_lost():
    """Nobody waits for the disk: what a killed process has written is there all the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture
def few_samples(monkeypatch):
    """Runs are looked at ten times, not a hundred: quicker, and with the same results."""
    module = importlib.import_module("kernbrook.evaluation.run")
    monkeypatch.setattr(module, "SAMPLES", 10)


def pytest_runtest_setup(item):
    hard_streams.READS_DATA = item.get_closest_marker("data") is not None
