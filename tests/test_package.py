"""The public face and the layers."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path

import pytest

import kernbrook as kb

HEAVY = ["sklearn", "numba", "scipy", "matplotlib", "pyarrow", "rich", "typer", "joblib", "jinja2"]
HEAVY += ["safetensors", "river"]
with_river = pytest.mark.skipif(
    find_spec("river") is None or find_spec("river.base") is None,
    reason="river, an extra, is part of the namespace",
)


@with_river
def test_the_namespace_is_sorted_and_whole():
    assert kb.__all__ == sorted(set(kb.__all__))
    for name in kb.__all__:
        assert getattr(kb, name) is not None
        if not name.startswith("__") and hasattr(getattr(kb, name), "__name__"):
            assert getattr(kb, name).__name__.split(".")[-1] == name
    assert set(dir(kb)) >= set(kb.__all__)
    assert kb.OnlineMKClassifier is kb.OnlineMKClassifier
    with pytest.raises(AttributeError, match="attribute Gausian"):
        kb.Gausian  # noqa: B018


def imported(stub):
    """What a stub imports: (name, the module that has it), and the modules of its stars."""
    package = "kernbrook" if stub.parent.name == "kernbrook" else f"kernbrook.{stub.parent.name}"
    names, stars = [], []
    for line in ast.parse(stub.read_text("utf-8")).body:
        if isinstance(line, ast.ImportFrom):
            module = f"{package}.{line.module}" if line.module else package
            for alias in line.names:
                if alias.name == "*":
                    stars.append(import_module(module))
                else:
                    assert alias.asname == alias.name
                    names.append((alias.name, import_module(module)))
    return names, stars


@pytest.mark.parametrize(
    "package", [pytest.param(kb, marks=with_river), kb.evaluation, kb.recipes, kb.streams]
)
def test_names_stub_and_modules_agree(package):
    stub = Path(package.__file__).with_suffix(".pyi")
    names, stars = imported(stub)
    exported = [(name, module) for module in stars for name in module.__all__]
    listed = [name for name, _ in names + exported]
    assert sorted(listed) == package.__all__ == sorted(set(listed)) == dir(package)
    for name, module in names + exported:
        value = sys.modules[f"kernbrook.{name}"] if module is kb else getattr(module, name)
        assert getattr(package, name) is value


def test_every_folder_of_parts_is_public_as_a_whole():
    """A new part is one file and one export: no other list names it."""
    _, stars = imported(Path(kb.__file__).with_suffix(".pyi"))
    factors = [kb.combiners, kb.features, kb.kernels, kb.labels, kb.learners, kb.selection]
    assert stars == factors
    for module in factors:
        assert len(module.__all__) == len(set(module.__all__))
        for name in module.__all__:
            assert getattr(kb, name) is getattr(module, name)


ROOMS = "errors", "evaluation", "explaining", "papers", "recipes", "reports", "results", "river"
ROOMS += "streams", "testing", "distributed"


def public():
    """Every class and function that users call, with its name."""
    for room in ["", *ROOMS]:
        module = import_module(f"kernbrook.{room}".rstrip("."))
        for name in getattr(module, "__all__", vars(module)):
            thing = getattr(module, name)
            ours = getattr(thing, "__module__", "").startswith("kernbrook")
            if callable(thing) and ours and not name.startswith("_"):
                yield f"{room}.{name}", thing


@with_river
def test_every_public_thing_has_a_docstring_that_names_its_parameters():
    for name, thing in public():
        assert thing.__doc__, name
        text = thing.__doc__.partition("Examples\n")[0]
        named = re.findall(r"^ *([\w*]+(?:, [\w*]+)*) :(?: |$)", text, re.MULTILINE)
        known = {word.strip("*") for line in named for word in line.split(", ")}
        known |= set(re.findall(r"`(\w+)`", text))
        is_error = isinstance(thing, type) and issubclass(thing, Exception)
        parameters = signature(thing.__init__ if is_error else thing).parameters
        assert known >= parameters.keys() - {"self", "args", "kwargs", "unnamed"}, name


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
    for command in (["recipes"], ["data"], ["--help"], ["train", "--help"]):
        program = (
            f"sys.argv = ['kernbrook', *{command}]; from kernbrook.cli.main import app; "
            "app(standalone_mode=False)"
        )
        heavy = ["sklearn", "numba", "scipy", "matplotlib", "pyarrow", "joblib"]
        loaded = loaded_by(program)
        assert loaded.isdisjoint(heavy), (command, loaded.intersection(heavy))


def test_a_run_loads_no_report():
    program = (
        "import kernbrook as kb, numpy as np; "
        "kb.prequential(kb.recipes.make('perceptron'), np.eye(4), np.array([0, 1, 0, 1]))"
    )
    assert loaded_by(program).isdisjoint(["matplotlib", "rich", "typer", "jinja2"])


def test_a_model_of_numbers_loads_no_table():
    program = "from kernbrook.persistence.encoding import Reader, Writer; Writer(), Reader({}); "
    loaded_by(program + "assert 'kernbrook.streams' not in sys.modules")


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
    assert "3 kept, 0 broken" in done.stdout


VERBS = {
    "fit", "partial_fit", "learn", "learn_one", "learn_scored", "predict", "predict_one", "score",
    "predict_proba", "predict_proba_one", "predict_interval", "decision_function", "transform",
    "fit_transform", "get_feature_names_out", "filled", "merge", "state", "should_ask",
    "predict_scored", "say", "choose_kernel", "parameter_ranges", "get_params", "set_params",
    "set_output", "get_metadata_routing",
}  # fmt: skip


@pytest.mark.parametrize(
    "made",
    [
        kb.TableEncoder(),
        kb.TableModel(kb.OnlineMKClassifier()),
        kb.LateLabels(kb.OnlineMKClassifier()),
        kb.NamedColumns(kb.OnlineMKClassifier()),
        kb.OnlineMKClassifier(),
        kb.OnlineMKRegressor(),
        kb.VotedKernelClassifier(),
        kb.KernelFeatures(),
    ],
    ids=lambda made: type(made).__name__,
)
def test_names_that_begin_without_an_underscore_are_for_users(made):
    """Verbs that all have, parameters, and what the class says of its attributes."""
    known = {*VERBS, *made.get_params(), *re.findall(r"\w+_\b", type(made).__doc__)}
    shown = {name for name in dir(made) if not name.startswith(("_", "set_"))}
    assert shown <= known
