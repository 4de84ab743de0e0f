"""What the suite runs on is compiled once; tests are marked as slow, or as readers of data."""

import hard_streams
import pytest


@pytest.hookimpl(tryfirst=True)  # before the processes start
def pytest_sessionstart(session):
    config = session.config
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        return
    from kernbrook.evaluation.ahead import compile_ahead
    from kernbrook.numerics.freshness import is_cold

    if is_cold():
        from other_pools import compile_pools

        print("compiling what the tests run on, once")
        compile_ahead()
        compile_pools()


def pytest_itemcollected(item):
    """Tables of papers and kills of processes are marked here, everything else beside the test."""
    printed = item.path.parent.name == "papers"
    if printed or "kill" in item.name:
        item.add_marker("slow")
    if printed or "data_folder" in getattr(item, "fixturenames", ()):
        item.add_marker("data")


def pytest_runtest_setup(item):
    hard_streams.READS_DATA = item.get_closest_marker("data") is not None
