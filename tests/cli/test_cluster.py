"""The same runs on a Dask cluster: the same numbers, whatever happens to its workers."""

import json
import os
import signal
import sys
import threading

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.parquet import read_table, write_table

import kernbrook as kb
from kernbrook.evaluation import compare, parallel, train
from kernbrook.evaluation.parallel import client_of

pytest.importorskip("distributed")
pytestmark = pytest.mark.usefixtures("few_samples")
LOCAL = "local:2"


def numbers(comparison):
    """What does not depend on the clock."""
    return [
        (row.title, [(run.predictions.tolist(), run.n_support_stored) for run in row.runs])
        for row in comparison.rows
    ]


def test_a_comparison_is_the_same():
    X, y = kb.open_stream("checkerboard:150").read()
    recipes = {"a": "omkc-dd", "b": "bpas(budget=20)", "c": kb.OnlineMKClassifier("omkc16")}
    told = []
    alone, together = (
        compare(X, y, recipes, permutations=3, jobs=jobs, progress=lambda rounds: told.append)
        for jobs in (1, LOCAL)
    )
    assert numbers(alone) == numbers(together)
    assert sum(told) == 2 * 3 * 3 * 150


@pytest.mark.long
def test_a_worker_killed_in_mid_run_costs_no_result():
    X, y = kb.open_stream("checkerboard:600").read()
    recipes = ["omkc-dd", "spa", "majority"]
    client = client_of(LOCAL)
    before = client.run(os.getpid)
    done = threading.Event()

    def kill(part):  # at the first recipe that is done
        if not done.is_set():
            done.set()
            os.kill(next(iter(before.values())), signal.SIGKILL)

    found = compare(X, y, recipes, permutations=4, jobs=LOCAL, so_far=kill)
    assert done.is_set()
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(os.getpid).values()) != set(before.values())
    assert numbers(found) == numbers(compare(X, y, recipes, permutations=4, jobs=1))


@pytest.fixture
def folder(tmp_path):
    """Five Parquet files with levels and gaps, and a model that has learned from them."""
    rng = np.random.default_rng(0)
    where = tmp_path / "rows"
    where.mkdir()
    for i in range(5):
        size = rng.normal(size=300)
        level = rng.choice(["a", "b", "c"], 300)
        label = np.where(size + (level == "b") + 0.3 * rng.normal(size=300) > 0.5, "yes", "no")
        gaps = np.where(rng.random(300) < 0.1, np.nan, size)
        table = pa.table({"size": pa.array(gaps, from_pandas=True), "level": level, "label": label})
        write_table(table, where / f"part-{i}.parquet")
    encoder = kb.TableEncoder(categorical={"level": ["a", "b", "c"]}, missing="mean")
    stream = kb.open_stream(where, label="label", encoder=encoder)
    train(stream, kb.recipes.make("bpas", random_state=0), tmp_path / "model")
    return where


def test_a_folder_is_learned_by_workers(kernbrook, folder, tmp_path):
    """The model predicts as it was trained; its file is no place to go on from."""
    model = str(tmp_path / "apart")
    options = ["--categorical", "level=a,b,d", "--missing", "mean", "--model", model]
    train = ["train", str(folder), "--recipe", "bpas", *options]
    code, out, err = kernbrook(*train, "--scheduler", LOCAL, "--json", "-")
    assert code == 0
    others = read_table(folder)["level"].to_pylist().count("c")
    assert err.splitlines()[-1] == f"wrote {model}"
    assert f"'level': other values than the declared levels in {others} of 1,500 rows" in err
    assert "such as 'c'; 'd' never came" in err
    found = json.loads(out)
    assert found["level_counts"][0]["others"] == others
    assert (found["n_rows"], found["classes"], found["recipe"]) == (1500, ["no", "yes"], "bpas")
    assert "mistake_bound" not in found  # which is one machine's
    assert 0 < found["mistakes"] < 450
    code, out, err = kernbrook("predict", model, str(folder))
    assert len(out.splitlines()) == 1500
    assert float(err.split("error ")[1].split(" %")[0]) < 25
    code, _, err = kernbrook(*train, "--resume")
    assert code != 0
    assert "trained apart" in err
    code, _, err = kernbrook(*train, "--scheduler", LOCAL)
    assert code != 0
    assert "is there already" in err


def test_a_damaged_file_is_named(kernbrook, folder, tmp_path):
    path = folder / "part-3.parquet"
    data = bytearray(path.read_bytes())
    data[4:200] = bytes(196)
    path.write_bytes(data)
    options = ["--categorical", "level=a,b,c", "--missing", "mean"]
    model = tmp_path / "apart"
    code, _, err = kernbrook(
        "train", str(folder), *options, "--model", str(model), "--scheduler", LOCAL
    )
    assert code != 0
    assert "part-3.parquet: row group 0" in err
    assert len(err.splitlines()) == 1


def test_without_dask_it_says_what_to_install(kernbrook, monkeypatch):
    monkeypatch.setattr(parallel, "_clients", {})
    for name in ("dask", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    code, _, err = kernbrook("compare", "checkerboard:50", "--jobs", LOCAL)
    assert code != 0
    assert 'pip install ".[dask]"' in err
    assert len(err.splitlines()) == 1
