"""Every task of the project: `nox -l` lists them, `nox -s NAME` runs one."""

import os
import shutil
import tempfile
from pathlib import Path

import nox

nox.options.sessions = ["lint", "types", "layers", "tests"]


def _install(session: nox.Session) -> None:
    session.install("-e", ".[dev]")


@nox.session
def tests(session: nox.Session) -> None:
    """The test suite, doctests included; data sets by KERNBROOK_DATA."""
    _install(session)
    session.run("python", "-m", "pytest", "-n", "2", *session.posargs)


# With the markers below, these take about a minute together, on two cores and a warm cache.
QUICK = [
    "tests/kernels", "tests/labels", "tests/streams", "tests/reports", "tests/test_atomic.py",
    "tests/test_examples.py", "tests/test_package.py", "tests/engine/test_twins.py",
    "tests/estimators/test_parameters.py", "tests/test_settled.py",
    "tests/evaluation/test_choosing.py", "tests/evaluation/test_oracles.py",
    "tests/evaluation/test_predicting.py",
    "tests/voted/test_penalties.py", "tests/voted/test_saving.py",
]  # fmt: skip


@nox.session
def quick(session: nox.Session) -> None:
    """Lint, and the tests that need little time."""
    lint(session)
    chosen = ["-m", "not slow and not data", *QUICK]
    session.run("python", "-m", "pytest", "-n", "2", *chosen, *session.posargs)


# What says whether an installation works; pandas because the tests use frames.
INSTALLED = [
    "tests/streams", "tests/reports", "tests/kernels/test_kernels.py", "tests/test_package.py",
    "tests/engine/test_twins.py", "tests/test_settled.py", "tests/cli/test_showing.py",
    "tests/estimators/test_model_files.py", "tests/voted/test_saving.py",
]  # fmt: skip
TESTING = ["pytest>=8", "hypothesis>=6.100", "pandas>=2.2"]
WHOLE = ["pytest-xdist>=3.6", "polars>=1", "lightgbm>=4.3"]  # what more of the tests use


def _installed(
    session: nox.Session, *options: str, beyond: tuple[str, ...] = (), compiled: bool = False
) -> None:
    """Build sdist and wheel, install the wheel, and run tests of the sdist away from its source.

    beyond : packages of which the newest versions follow, whatever the wheel asks for
    compiled : whether the wheel has compiled code; then it is seen that it compiles nothing
    """
    folder = Path(session.create_tmp())
    shutil.rmtree(folder)
    session.env["NUMBA_CACHE_DIR"] = str(folder / "cache")
    session.install("build")
    building = {"KERNBROOK_COMPILE": "1"} if compiled else {}
    session.run("python", "-m", "build", "--outdir", str(folder), ".", env=building)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    shutil.unpack_archive(source, folder, filter="data")
    tree = folder / source.name.removesuffix(".tar.gz")
    shutil.rmtree(tree / "src")
    extras, more = ("[dask,river,strings]", WHOLE) if session.posargs else ("", [])
    session.install(f"{wheel}{extras}", *TESTING, *more, *options)
    if beyond:
        session.install("--upgrade", "--no-deps", *beyond)
    chosen = session.posargs or ["-m", "not slow and not data", *INSTALLED]
    with session.chdir(tree):
        # Versions that are not those of today have warnings of their own.
        warned = ["-o", "filterwarnings=default"] if options else []
        if compiled:
            session.run("python", "tests/shipped_code.py")
        session.run("python", "-m", "pytest", *warned, *chosen)
    session.run("python", "-m", "pip", "uninstall", "--yes", "kernbrook")
    session.run("python", "-c", "import kernbrook", success_codes=[1])  # nothing of it is left


@nox.session(python=["3.11", "3.13"])
@nox.parametrize("compiled", [False, True])
def wheel(session: nox.Session, compiled: bool) -> None:
    """The wheel alone in an empty environment: a quick part; `-- -n 2 -m "not long" tests` all.

    With compiled code, too, which takes some minutes more: `nox -s "wheel-3.11(compiled=True)"`.
    """
    _installed(session, compiled=compiled)


@nox.session(python="3.11")
def floors(session: nox.Session) -> None:
    """The same with the lowest versions that pyproject.toml allows."""
    session.install("uv")
    lowest = str(Path(session.create_tmp()).with_name("floors.txt"))
    session.run(
        *("uv", "pip", "compile", "pyproject.toml", "--quiet", "--output-file", lowest),
        *("--resolution", "lowest-direct", "--python-version", "3.11"),
    )
    _installed(session, "--constraint", lowest)


@nox.session(python=["3.11", "3.13"])
def newest(session: nox.Session) -> None:
    """The same with the newest versions, of numba beyond its bound: where it passes, move that."""
    newer = ("--upgrade", "--upgrade-strategy", "eager")
    _installed(session, *newer, beyond=("numba", "llvmlite"))


@nox.session
def mutants(session: nox.Session) -> None:
    """Do the nearest tests see small changes? `nox -s mutants -- src/kernbrook/atomic.py`."""
    _install(session)
    session.install("cosmic-ray>=8.4")
    session.run("python", "tests/mutants.py", *session.posargs)


@nox.session
def fuzz(session: nox.Session) -> None:
    """The attack on files, models, calls and commands: `nox -s fuzz -- --minutes 60`."""
    _install(session)
    session.run("python", "tests/fuzz", *session.posargs)


@nox.session
def lives(session: nox.Session) -> None:
    """Random lives, and real sets saved every 100 rows: `nox -s lives -- --minutes 60`."""
    _install(session)
    chosen = ["--areas", "lives,real sets" if "KERNBROOK_DATA" in os.environ else "lives"]
    session.run("python", "tests/fuzz", *chosen, *session.posargs)


# Twins, rows one by one, mixed pools and files: wherever compiled code counts places.
BOUNDS = [
    "tests/engine/test_twins.py", "tests/engine/test_budget.py", "tests/engine/test_multiclass.py",
    "tests/engine/test_blocks.py", "tests/engine/test_session.py",
    "tests/engine/test_mixed_pools.py",
    "tests/engine/test_merging.py", "tests/engine/test_pegasos.py", "tests/streams", "tests/fuzz",
]  # fmt: skip


@nox.session
def bounds(session: nox.Session) -> None:
    """Every access of compiled code to an array is checked; long, since all is compiled anew."""
    _install(session)
    with tempfile.TemporaryDirectory() as cache:
        checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": cache}
        session.run("python", "-m", "pytest", "-n", "2", *BOUNDS, *session.posargs, env=checked)


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
def docs(session: nox.Session) -> None:
    """The site, in docs/_build/html; a warning is an error."""
    session.install("-e", ".[docs]")
    session.run(
        "sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html",
        *session.posargs,
    )  # fmt: skip


@nox.session
def benchmarks(session: nox.Session) -> None:
    """One script: `nox -s benchmarks -- growth`."""
    _install(session)
    session.run("python", f"benchmarks/{session.posargs[0]}.py", *session.posargs[1:])
