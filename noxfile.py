"""Every task of the project: `nox -l` lists them, `nox -s NAME` runs one."""

import nox

nox.options.sessions = ["lint", "types", "layers", "tests"]


def _install(session: nox.Session) -> None:
    session.install("-e", ".[dev]")


@nox.session
def tests(session: nox.Session) -> None:
    """The test suite, doctests included; data sets by KERNBROOK_DATA."""
    _install(session)
    session.run("python", "-m", "pytest", "-n", "2", *session.posargs)


# Tests that take less than a minute together, on two cores and a warm cache.
QUICK = [
    "tests/kernels", "tests/labels", "tests/streams", "tests/reports", "tests/test_atomic.py",
    "tests/test_package.py", "tests/engine/test_twins.py", "tests/estimators/test_parameters.py",
    "tests/estimators/test_recipes.py", "tests/evaluation/test_choosing.py",
    "tests/evaluation/test_oracles.py", "tests/evaluation/test_warming.py",
    "tests/voted/test_penalties.py", "tests/voted/test_saving.py",
]  # fmt: skip


@nox.session
def quick(session: nox.Session) -> None:
    """Lint, and the tests that need little time."""
    lint(session)
    session.run("python", "-m", "pytest", "-n", "2", *QUICK, *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style and format."""
    _install(session)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Static types."""
    _install(session)
    session.run("mypy")


@nox.session
def layers(session: nox.Session) -> None:
    """Imports point one way."""
    _install(session)
    session.run("lint-imports")


@nox.session
def benchmarks(session: nox.Session) -> None:
    """One script: `nox -s benchmarks -- omkc_a9a`."""
    _install(session)
    session.run("python", f"benchmarks/{session.posargs[0]}.py", *session.posargs[1:])
