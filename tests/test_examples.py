"""The examples run and show what they say; so does code of the README and of the pages."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from beside import beside_the_tests, module_of

import kernbrook as kb
from kernbrook.streams.generators import Waveform


@pytest.mark.slow
def test_voted_strings():
    pytest.importorskip("rapidfuzz")
    done = subprocess.run(
        [sys.executable, beside_the_tests("examples/voted_strings.py"), "400"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^  (\D+?) +([\d.]+) +(\d+)$", done.stdout, re.MULTILINE)
    (_, always, none), (_, nearest, all_), (title, error, kept) = rows
    assert (title, none, all_) == ("voted kernels", "0", "400")
    assert 38 < float(always) < 48
    assert float(error) < 20
    assert float(error) < float(nearest) + 1
    assert 50 < int(kept) < 350
    assert re.search(
        r"  0\.\d\d  edit_similarity\(x, z\)\n  0\.\d\d  shared_end\(x, z\)", done.stdout
    )
    assert re.search(r"^  arrow .*arr", done.stdout, re.MULTILINE)


@pytest.mark.slow
def test_river_pipeline():
    pytest.importorskip("river")
    done = subprocess.run(
        [sys.executable, beside_the_tests("examples/river_pipeline.py"), "600"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^  (\D+?[\d.)]*) +([\d.]+) +([\d.]+)?", done.stdout, re.MULTILINE)
    found = {name.strip(): (float(first), second) for name, first, second in rows}
    assert found["the default"][0] > found["logistic regression"][0] > 80
    assert float(found["the default"][1]) > 80
    assert found["goes on"][0] > 70
    assert found["LabelBudget(rate=0.1)"][0] > 75
    assert int(found["LabelBudget(rate=0.1)"][1]) == 60


def blocks(page):
    return re.findall(
        r"^```python\n(.*?)^```", beside_the_tests(page).read_text("utf-8"), re.M | re.S
    )


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs the Python code of a page, from top to bottom: what it prints, and its names."""
    monkeypatch.chdir(tmp_path)

    def run(page):
        names = {"kb": kb}
        assert blocks(page)
        for code in blocks(page):
            exec(code, names)
        return capsys.readouterr().out, names

    return run


def test_the_readme(run):
    said, names = run("README.md")
    error, stored, score = map(float, said.split()[:3])
    assert 0.01 < error < 0.06
    assert stored > 0
    assert score > 0.9
    assert names["model"].n_support_stored_ <= 300


def test_the_page_on_voted_kernels(run):
    pytest.importorskip("rapidfuzz")
    score, stored, gap = run("docs/voted.md")[0].split()[:3]
    assert float(score) > 0.9
    assert int(stored) < 20
    assert float(gap) < 1e-6
    assert kb.load("words.kb").predict(["kennel"]).tolist() == ["kernel"]


@pytest.mark.slow
def test_the_page_on_watching_and_comparing(run):
    said = run("docs/watching.md")[0].split("\n")
    assert 0.9 < float(said[0]) < 1
    assert 0.9 < float(said[1]) <= 1
    assert 0 < float(said[2]) < 0.7
    errors = {line.split()[0]: float(line.split()[1]) for line in said[5:9]}
    assert list(errors) == ["mine", "narrow", "linear", "window"]
    assert errors["mine"] == min(errors.values())


def test_the_page_on_streams(run):
    text, names = run("docs/streams.md")
    said, waiting = text.strip().split(" ", 1)
    assert said in ("['no']", "['yes']")
    assert waiting == "['b', 'd']"
    assert names["said"].tolist() == ["yes", "yes"]  # before anything was learned
    assert names["model"].names_ == ["age", "size"]


def test_the_page_on_tables(run):
    said, names = run("docs/tables.md")
    assert said.startswith("['age', 'sex=male', 'sex=female', 'sex=other']")
    X = [[22, 1, 0, 0], [22, 0, 1, 0], [30, 0.5, 0.5, 0], [41, 1, 0, 0]]
    assert names["stream"].read()[0].tolist() == X


def test_the_page_on_training(run):
    said = run("docs/training.md")[0].split("\n")
    assert said == ["3000 True", "1024 1024", "976 976", ""]


def test_the_page_on_labels(run):
    _, names = run("docs/labels.md")
    assert 0 < names["asked"].sum() < len(names["asked"]) == 269


def test_the_page_on_probabilities(run):
    said, names = run("docs/probabilities.md")
    assert said.count("[") > 4
    low, high = np.transpose(names["numbers"].predict_interval(names["X"][402:], coverage=0.9))
    assert (low < high).all()


def test_the_page_on_choices(run):
    assert len(run("docs/choices.md")[1]["model"].learner) == 4


def test_the_page_on_river(run):
    pytest.importorskip("river")
    said, names = run("docs/river.md")
    accuracy, area = (float(found) for found in re.findall(r"([\d.]+)%", said))
    assert accuracy > 85
    assert area > 90
    assert names["asked"] == 125
    assert names["machine"].estimator.labels_asked_ == 125


def test_every_page_with_code_is_run_or_is_of_the_package():
    """What the page on learners shows is code of the package, but for the use of another's."""
    pages = [f"docs/{path.name}" for path in beside_the_tests("docs").glob("*.md")]
    source = Path(__file__).read_text("utf-8")
    learners = Path(kb.learners.__file__).parent.glob("*.py")
    written = {line.strip() for path in learners for line in path.read_text("utf-8").splitlines()}
    for page in filter(blocks, pages):
        if page != "docs/adding_a_learner.md":
            assert f'run("{page}")' in source
            continue
        *shown, use = blocks(page)
        for line in "".join(shown).splitlines():
            code = line.split("  #")[0].strip()
            assert code in written or "..." in code, code
        assert use.startswith("model = kb.OnlineMKClassifier(learner=MyLearner")


FEW_ROWS = {
    "block_sizes": "--rows 60",
    "budgets": "--rows 60",
    "combiners": "--rows 60 --seeds 1 --data wdbc",
    "endless": "--rows 4000",
    "features": "--rows 200 --repeats 1",
    "labels": "--rows 200 --permutations 1",
    "omkc_a9a": "--rows 200",
    "river_rows": "--repeats 1",
    "sureness": "--rows 1002",
    "svmlight": "--rows 100",
    "upkeeps": "--rows 60 --budgets 10",
    "voted": "--only large --rows 100",
}


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", FEW_ROWS)
def test_a_benchmark_on_few_rows(name, tmp_path):
    """It runs, and prints a table; what it finds on so few rows means nothing."""
    script = beside_the_tests(f"benchmarks/{name}.py")
    done = subprocess.run(
        [sys.executable, script, *FEW_ROWS[name].split()],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "machine:" in done.stdout
    assert len(re.findall(r"\d\.\d", done.stdout)) > 3


def test_the_voted_benchmark_takes_the_papers_classes(monkeypatch):
    """0 and 1 as the waveform data are distributed, which are 2 and 1 of our generator."""
    script = beside_the_tests("benchmarks/voted.py")
    monkeypatch.syspath_prepend(str(script.parent))
    benchmark = module_of("benchmarks/voted.py")
    learned = []

    class Model:
        n_iter_ = gap_ = objective_ = n_support_stored_ = 0

        def fit(self, X, y):
            learned.append((X, y))
            return self

    monkeypatch.setattr(kb, "VotedKernelClassifier", lambda *_, **__: Model())
    benchmark.large(300)
    X, y = Waveform(600, seed=0).read()
    wanted = np.flatnonzero(y > 0)[:300]
    X, y = X[wanted], 2 - y[wanted]
    assert len(learned) == 4
    for found, labels in learned:
        np.testing.assert_array_equal(labels, y)
        np.testing.assert_allclose(found, (X - X.mean(axis=0)) / X.std(axis=0))
