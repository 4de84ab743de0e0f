"""The examples run and show what they say; so does code of the README and of the pages."""

import json
import re
import runpy
import subprocess
import sys
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from beside import beside_the_tests

import kernbrook as kb
from kernbrook.compiler.compiling import Verb
from kernbrook.features import base


def printed(name, *arguments):
    """What a program beside the tests prints."""
    command = [sys.executable, beside_the_tests(name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.slow
def test_voted_strings():
    pytest.importorskip("rapidfuzz")
    said = printed("examples/voted_strings.py", "400")
    rows = re.findall(r"^  (\D+?) +([\d.]+) +(\d+)$", said, re.MULTILINE)
    (_, always, none), (_, nearest, all_), (title, error, kept) = rows
    assert (title, none, all_) == ("voted kernels", "0", "400")
    assert 38 < float(always) < 48
    assert float(error) < 20
    assert float(error) < float(nearest) + 1
    assert 50 < int(kept) < 350
    assert re.search(r"  0\.\d\d  edit_similarity\(x, z\)\n  0\.\d\d  shared_end\(x, z\)", said)
    assert re.search(r"^  arrow .*arr", said, re.MULTILINE)


@pytest.mark.long
@pytest.mark.slow
def test_river_pipeline():
    pytest.importorskip("river")
    said = printed("examples/river_pipeline.py", "600")
    rows = re.findall(r"^  (\D+?[\d.)]*) +([\d.]+) +([\d.]+)?", said, re.MULTILINE)
    found = {name.strip(): (float(first), second) for name, first, second in rows}
    assert found["the default"][0] > found["logistic regression"][0] > 80
    assert float(found["the default"][1]) > 80
    assert found["goes on"][0] > 70
    assert found["LabelBudget(rate=0.1)"][0] > 75
    assert int(found["LabelBudget(rate=0.1)"][1]) == 60


@pytest.fixture
def plotted(monkeypatch):
    """Runs an example: its names, and the figures that it drew."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", lambda: None)

    def run(name):
        names = runpy.run_path(str(beside_the_tests(f"examples/plot_{name}.py")))
        return names, [plt.figure(number) for number in plt.get_fignums()]

    yield run
    plt.close("all")


def test_a_first_stream(plotted):
    names, (figure,) = plotted("1_first_stream")
    assert names["record"].error < 0.08
    error, weights = figure.axes
    assert len(error.lines) == 1
    assert len(weights.lines) == 16
    shown = [text.get_text() for text in weights.get_legend().get_texts()]
    heaviest = np.argsort(names["model"].kernel_weights_)[-4:]
    assert set(shown) == {str(names["model"].kernels_[k]) for k in heaviest}


def test_drift(plotted):
    names, (mistakes, _) = plotted("2_drift")
    parts = {name: record.mistakes[4000:4500].mean() for name, record in names["records"].items()}
    assert parts["FixedShare"] < parts["Hedge"] - 0.03  # after the second change
    later = {name: record.mistakes[3000:4000].mean() for name, record in names["records"].items()}
    assert later["FixedShare"] < later["Uniform"] / 2
    weights = {name: record.history.kernel_weights for name, record in names["records"].items()}
    assert weights["Hedge"][-1, 0] < 0.01 < 0.3 < weights["FixedShare"][-1, 0]
    assert len(mistakes.axes[0].lines) == 5


@pytest.mark.long
def test_few_labels(plotted):
    names, _ = plotted("3_few_labels")
    (rates, mistakes), (random_rates, random_mistakes) = names["curves"].values()
    for rate, own in zip(rates, mistakes, strict=True):
        if rate > min(random_rates):
            assert own < np.interp(rate, random_rates, random_mistakes)


def test_a_mixed_pool(plotted):
    names, _ = plotted("4_mixed_pool")
    weights = np.array(names["weights"])
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    end = dict(zip(names["pool"], weights[-1], strict=True))
    assert max(end, key=end.get) == "decision tree"
    assert end["last label"] < 0.1
    assert np.mean(names["wrong"][-10:]) < 0.06 < names["wrong"][0]


@pytest.mark.long
def test_budgets(plotted):
    names, _ = plotted("5_budgets")
    curves = {name.split(":")[0]: errors for name, errors in names["curves"].items()}
    assert all(errors[-1] < errors[0] - 5 for errors in curves.values())
    assert curves["Projectron"][1] < min(curves[name][1] for name in ("RBP", "BPAS")) - 5
    assert abs(curves["Projectron"][-1] - names["whole"]) < 1


def test_voted_kernels(plotted):
    names, (figure,) = plotted("6_voted")
    wrong = [
        np.mean(names[m].predict(names["new"]) != names["truth"]) for m in ("voted", "machine")
    ]
    assert wrong[0] < wrong[1] + 0.01
    kept = names["voted"].n_support_stored_
    assert 3 * kept < len(names["machine"].support_vectors_)
    assert f"{kept} examples kept" in figure.axes[0].get_title()


def test_every_example_is_run():
    found = sorted(path.name for path in beside_the_tests("examples").glob("*.py"))
    source = Path(__file__).read_text("utf-8")
    for name in found:
        assert f'plotted("{name[5:-3]}")' in source or f'"examples/{name}"' in source


def blocks(page):
    return re.findall(
        r"^```python\n(.*?)^```", beside_the_tests(page).read_text("utf-8"), re.M | re.S
    )


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs the Python code of a page, from top to bottom: what it prints, and its names.

    Nothing is there before: the first block imports what it uses.
    """
    monkeypatch.chdir(tmp_path)

    def run(page):
        names = {}
        assert blocks(page)
        for code in blocks(page):
            exec(code, names)
        return capsys.readouterr().out, names

    return run


def floats(text):
    return [float(found) for found in re.findall(r"-?\d+\.?\d*", text)]


def late(said, names):
    """Rows farther from the last label err more, and their intervals cover them all the same."""
    parts = [[float(word) for word in line.split()] for line in said.splitlines()]
    assert [(first, last) for first, last, *_ in parts] == [(1, 1), (2, 16), (17, 48)]
    return (
        parts[1][2] < parts[2][2] < names["y"].var() / 2 and min(part[-1] for part in parts) > 0.8
    )


def watching(said, names):
    lines = said.split("\n")
    errors = {line.split()[0]: float(line.split()[1]) for line in lines[5:9]}
    assert list(errors) == ["mine", "narrow", "linear", "window"]
    ours, trivial = (list(map(float, line.split()[:2])) for line in lines[9:11])
    assert all(0.84 < coverage < 0.96 for _, coverage in (ours, trivial))
    return float(lines[0]) > 0.9 and ours[0] < trivial[0] and errors["mine"] == min(errors.values())


def tables(said, names):
    for line in (
        *("('day', 'km')\n[1. 1.]\n{'encoder__missing': 'mean'} [", "['yes' 'no']\n"),
        "\n['hour', 'power lag 1', 'power lag 24', 'power lag 168']\n",
        "\n['age', 'sex=male', 'sex=female', 'sex=other']\n",
    ):
        assert line in said
    X = [[22, 1, 0, 0], [22, 0, 1, 0], [30, 0.5, 0.5, 0], [41, 1, 0, 0]]
    return names["stream"].read()[0].tolist() == X


def combiner(said, names):
    hedge = kb.OnlineMKClassifier("omkc16", learner=kb.Perceptron(), combiner=kb.Hedge(0.8))
    return float(said) == kb.prequential(hedge, names["X"], names["y"]).error


def learner(said, names):
    rbp = kb.OnlineMKClassifier("omkc16", learner=kb.RBP(budget=50), random_state=0)
    rival = kb.prequential(rbp, names["X"], names["y"])  # the same but for the draws
    return abs(float(said) - rival.error) < 0.03 and names["model"].n_support_stored_ <= 16 * 50


def store(said, names):
    alone = kb.OnlineMKRegressor(learner=names["MeanLabel"](), center=False)
    told = alone.learn(names["X"][:5], names["y"][:5])[0]
    np.testing.assert_allclose(told[1:], [names["y"][:i].mean() for i in range(1, 5)])
    return alone.why_not_quick_ is None and floats(said)[0] < names["y"].var() / 2


def paper(said, names):
    row, *cells = said.splitlines()
    found = [re.fullmatch(r"(.+) ([\d.]+) printed: ([\d.]+)", cell).groups() for cell in cells]
    assert [cell[2] for cell in found] == ["34.51", "41.52"]
    near = all(abs(float(ours) - float(printed)) < 8 for _, ours, printed in found)
    return near and row.startswith("RBP a9a {'budget': 443} 2")


def printed_table(said, names):
    errors = names["frame"].query("measure == 'error'").set_index("title")
    return abs(errors.loc["OMKC(D,D)", "mean"] - errors.loc["OMKC(D,D)", "printed"]) < 3


def recipes(said, names):
    errors = {row.recipe: row.errors.mean() for row in names["result"].rows}
    assert [line.split()[0] for line in said.splitlines()[:4]] == list(errors)
    narrow = errors["spa(scaling='moments')"]
    return errors["kernbrook-classification"] < narrow < errors["majority"] - 20


def clusters(said, names):
    here, there = ([row.runs for row in names[one].rows] for one in ("here", "there"))
    return [[r.error for r in runs] for runs in here] == [[r.error for r in runs] for runs in there]


def when_not(said, names):
    errors = {line.split()[0]: float(line.split()[1]) for line in said.splitlines()}
    return errors["kernbrook-small"] < min(errors["sklearn-sgd"], errors["majority"])


def drift(said, names):
    worse, better = names["record"].drift()  # the short memory mends it soon
    assert said.splitlines()[-1] == "50.0 0.0"
    return 1000 < worse < better < 1200 and names["model"].expert_weights_[0] > 0.8


LONG = [pytest.mark.long, pytest.mark.slow]
PAGES = {  # what each prints, and has as names, is as the page says
    "README.md": lambda said, names: 0.01 < floats(said)[0] < 0.06 and floats(said)[2] > 0.9,
    "docs/adding_a_combiner.md": combiner,
    "docs/adding_a_kernel.md": lambda said, names: float(said) > 0.8,
    "docs/adding_a_learner.md": learner,
    "docs/adding_a_paper.md": paper,
    "docs/adding_a_policy.md": lambda said, names: (
        said.startswith(f"{names['record'].labels_asked} of 569") and names["record"].error < 0.12
    ),
    "docs/adding_a_store.md": store,
    "docs/cells.md": lambda said, names: (
        floats(said)[0] < 0.1 and floats(said)[3] < floats(said)[2] < 0.2
    ),
    "docs/choices.md": lambda said, names: len(names["model"].learner) == 4,
    "docs/cluster.md": clusters,
    "docs/drift.md": drift,
    "docs/index.md": lambda said, names: said.endswith("True\n"),
    "docs/labels.md": lambda said, names: 0 < names["asked"].sum() < len(names["asked"]) == 269,
    "docs/late.md": late,
    "docs/papers/index.md": printed_table,
    "docs/probabilities.md": lambda said, names: said.count("[") > 4,
    "docs/river.md": lambda said, names: names["machine"].estimator.labels_asked_ == 125,
    "docs/saving.md": lambda said, names: (
        said.split("\n")[2:] == ["3000 True", "1024 (1024, 2)", "976 (976, 2)", "5500", ""]
    ),
    "docs/streams.md": lambda said, names: (
        said.strip().endswith("['b', 'd']") and names["said"].tolist() == ["yes", "yes"]
    ),
    "docs/tables.md": tables,
    "docs/voted.md": lambda said, names: floats(said)[0] > 0.9 and floats(said)[1] < 40,
    "docs/watching.md": watching,
    "docs/when_not.md": when_not,
    "docs/which_recipe.md": recipes,
    "docs/why.md": lambda said, names: (
        set(names["found"].columns[:2]) == {1, 3} and "\nprobability " in said
    ),
}
SLOW = ("papers/index", "probabilities", "index", "which_recipe", "cells", "why", "late")
SLOW += ("adding_a_paper",)
LONGEST = "watching", "cluster", "when_not", "adding_a_store"


def marked(page):
    name = page.removeprefix("docs/").removesuffix(".md")
    return [pytest.mark.slow] * (name in SLOW) or LONG * (name in LONGEST)


@pytest.mark.parametrize("page", [pytest.param(page, marks=marked(page)) for page in PAGES])
def test_the_code_of_a_page(page, run):
    for needed in ("rapidfuzz",) * (page == "docs/voted.md") + ("river",) * ("riv" in page):
        pytest.importorskip(needed)
    assert PAGES[page](*run(page))


def test_the_page_on_adding_a_map(run):
    said, _ = run("docs/adding_a_map.md")
    assert float(said) < 0.13
    page = beside_the_tests("docs/adding_a_map.md").read_text("utf-8")
    told = dict(re.findall(r"^\| `(\w+)\((.*?)\)` \|", page, re.M))
    there = {
        name: ", ".join([*signature(method).parameters][1:])
        for kind in (base.Features, base.Map)
        for name, method in vars(kind).items()
        if callable(method)
    }
    assert len(told) == 8
    assert told.items() <= there.items()
    assert isinstance(base.write_rows, Verb)
    assert f"`{base.write_rows.__name__}`" in page


def test_every_page_with_code_is_run():
    docs = beside_the_tests("docs")
    pages = [str(path.relative_to(docs.parent)) for path in sorted(docs.rglob("*.md"))]
    source = Path(__file__).read_text("utf-8")
    elsewhere = {"first_table", "more_tables", "service"}  # run with commands, by test_pages.py
    for page in filter(blocks, pages):
        assert Path(page).stem in elsewhere or page in PAGES or f'run("{page}")' in source


FEW_ROWS = {
    "budgets": "--rows 60",
    "combiners": "--rows 60 --seeds 1 --data wdbc",
    "features": "--rows 200 --repeats 1",
    "growth": "--rows 1200 --repeats 1 --json growth.json",
    "peers": "--rows 300 --repeats 1 --json peers.json",
    "shards": "--rows 800 --data waveform --models BPAS --json shards.json",
    "sureness": "--rows 1002 --data elec2,energy",
    "upkeeps": "--rows 60 --budgets 10",
    "voted": "--only large --rows 100",
    "why": "--rows 400 --columns 5",
}


@pytest.fixture
def script(monkeypatch):
    """Runs a program of the benchmarks."""

    def run(name, *arguments):
        path = beside_the_tests(f"benchmarks/{name}.py")
        monkeypatch.syspath_prepend(str(path.parent))
        monkeypatch.setattr(sys, "argv", [str(path), *map(str, arguments)])
        runpy.run_path(str(path), run_name="__main__")

    return run


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", FEW_ROWS)
def test_a_benchmark_on_few_rows(name, script, tmp_path, monkeypatch, capfd):
    """It runs, and prints a table; what it finds on so few rows means nothing."""
    monkeypatch.chdir(tmp_path)
    script(name, *FEW_ROWS[name].split())
    said = capfd.readouterr().out
    assert "machine:" in said
    assert len(re.findall(r"\d\.\d", said)) > 3
    stored = re.search(r"--json (\S+)", FEW_ROWS[name])
    assert stored is None or "machine" in json.loads((tmp_path / stored[1]).read_text("utf-8"))


def test_the_stored_growth_is_drawn(script, tmp_path):
    path = tmp_path / "growth.svg"
    script("growth", "--draw", "--picture", path)
    found = json.loads(beside_the_tests("results/growth.json").read_text("utf-8"))
    drawing = path.read_text("utf-8")
    assert set(found["budgets"]) < set(found["rows"])
    for name in found["rows"]:
        assert f">{name}</text>" in drawing
    script("growth", "--draw", "--picture", tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text("utf-8") == drawing
