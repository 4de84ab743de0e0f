"""The public face and the layers."""

import subprocess
import sys
from pathlib import Path

import pytest

import kernbrook as kb

HEAVY = ["sklearn", "numba", "scipy", "matplotlib", "pyarrow", "rich", "typer", "joblib", "jinja2"]
HEAVY += ["safetensors"]


def test_the_namespace_is_sorted_and_whole():
    assert kb.__all__ == sorted(set(kb.__all__))
    for name in kb.__all__:
        assert getattr(kb, name) is not None
        if not name.startswith("__") and hasattr(getattr(kb, name), "__name__"):
            assert getattr(kb, name).__name__.split(".")[-1] == name
    assert set(dir(kb)) >= set(kb.__all__)
    assert kb.OnlineMKClassifier is kb.OnlineMKClassifier
    with pytest.raises(AttributeError, match="no attribute 'Gausian'"):
        kb.Gausian  # noqa: B018


def test_modules_name_what_they_have():
    factors = kb.kernels, kb.features, kb.learners, kb.combiners, kb.selection, kb.labels
    for module in (*factors, kb.streams, kb.evaluation):
        for name in module.__all__:
            assert hasattr(module, name), f"{module.__name__}.{name}"


def test_what_the_commands_use_is_in_evaluation():
    """Whatever was imported before."""
    assert kb.evaluation.__all__ == sorted(set(kb.evaluation.__all__)) == dir(kb.evaluation)
    for name in ("train", "label", "predict", "compare", "best_fixed"):
        assert callable(getattr(kb.evaluation, name))
    assert kb.evaluation.compare is kb.compare
    for name in kb.evaluation.__all__:
        assert getattr(kb.evaluation, name).__doc__, name
    with pytest.raises(AttributeError, match=r"'kernbrook.evaluation' has no attribute 'trian'"):
        kb.evaluation.trian  # noqa: B018


def test_every_public_thing_has_a_docstring():
    for name in kb.__all__:
        if not name.startswith("__"):
            assert getattr(kb, name).__doc__, name


def loaded_by(program):
    command = f"import sys; {program}; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in done.stdout.split()}


def test_import_is_light():
    loaded = loaded_by("import kernbrook, kernbrook.errors; dir(kernbrook)")
    assert "kernbrook" in loaded
    assert loaded.isdisjoint(HEAVY), loaded.intersection(HEAVY)


def test_listings_load_no_machine():
    """They answer at once."""
    for command in ("recipes", "data", "--help"):
        program = (
            f"sys.argv = ['kernbrook', '{command}']; from kernbrook.cli.main import app; "
            "app(standalone_mode=False)"
        )
        heavy = ["sklearn", "numba", "scipy", "matplotlib", "pyarrow", "joblib"]
        loaded = loaded_by(program)
        assert loaded.isdisjoint(heavy), (command, loaded.intersection(heavy))


def test_a_run_loads_no_report():
    program = (
        "import kernbrook as kb, numpy as np; "
        "kb.prequential(kb.recipes.make('omkc-dd'), np.eye(4), np.array([0, 1, 0, 1]))"
    )
    assert loaded_by(program).isdisjoint(["matplotlib", "rich", "typer", "jinja2"])


def test_imports_point_one_way():
    """The layers of pyproject.toml, by import-linter."""
    pytest.importorskip("importlinter")
    root = Path(__file__).parents[1] / "pyproject.toml"
    if not root.exists():
        pytest.skip("the project file is not beside the tests")
    command = "import sys; from importlinter import cli; sys.exit(cli.lint_imports(no_cache=True))"
    done = subprocess.run(
        [sys.executable, "-c", command],
        cwd=root.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 kept, 0 broken" in done.stdout
