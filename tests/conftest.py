"""What the suite runs on is compiled once, before processes share the work."""

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
