"""Rows in parts: the same model whoever reads them, one machine's where that can be."""

import os
import signal
from copy import deepcopy
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from inside import store_of

import kernbrook as kb
from kernbrook.distributed import crew_of, fit, fit_parts, parts_of
from kernbrook.errors import InputError

X, Y = kb.open_stream("checkerboard:1200").read()
NEW, TRUE = kb.open_stream("checkerboard:500", seed=7).read()
LOCAL = "local:2"


def small(**others):
    kernels = [kb.Gaussian(sigma=0.25), kb.Gaussian(sigma=1)]
    return kb.OnlineMKClassifier(kernels, kb.BPAS(50), kb.Hedge(), random_state=0, **others)


def by_hand(model, rounds, shards, data=(X, Y)):
    """Copies that learn their parts, merged after each round."""
    X, y = data
    bounds = np.linspace(0, len(y), rounds * shards + 1).astype(int)
    part = [slice(*ends) for ends in pairwise(bounds)]
    model.learn(X[part[0]][:0], y[:0], classes=[-1, 1])
    for round_ in range(rounds):
        copies = []
        for i in range(shards):
            copy = deepcopy(model)
            copy.learn(X[part[round_ * shards + i]], y[part[round_ * shards + i]], classes=[-1, 1])
            copies.append(copy)
        since = model if hasattr(model, "n_features_in_") else None
        model = copies[0].merge(*copies[1:], since=since) if shards > 1 else copies[0]
    return model


@pytest.mark.parametrize(("rounds", "shards"), [(1, 1), (1, 3), (4, 2)])
def test_rounds_of_copies_that_are_merged(rounds, shards):
    model = small()
    assert fit(model, (X, Y), rounds, shards=shards) is model
    expected = by_hand(small(), rounds, shards)
    np.testing.assert_allclose(
        model.decision_function(NEW), expected.decision_function(NEW), rtol=1e-9
    )
    assert model.n_rounds_ == model.labels_asked_ == 1200
    whole = small().fit(X, Y)
    assert model.score(NEW, TRUE) > whole.score(NEW, TRUE) - 0.05


def test_ridge_is_that_of_one_machine():
    def ridge():
        return kb.OnlineMKRegressor([kb.Gaussian(sigma=0.5)], kb.Ridge(), scaling=None,
                                    center=False, random_state=0)  # fmt: skip

    whole, apart = ridge().fit(X, Y), fit(ridge(), (X, Y), 3, shards=4)
    theta = [one.state()["stores.0.theta"] for one in (apart, whole)]
    np.testing.assert_allclose(*theta, rtol=1e-9)


def test_a_fitted_model_goes_on_and_sparse_rows_stay_sparse():
    model = small(scaling=None).fit(sp.csr_matrix(X[:200]), Y[:200])
    fit(model, (sp.csr_matrix(X[200:]), Y[200:]), 2, shards=2)
    assert model.n_rounds_ == 1200
    assert store_of(model)[0].setting.sparse


@pytest.fixture
def frame():
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": np.where(Y > 0, "in", "out")})


@pytest.fixture
def folder(frame, tmp_path):
    where = tmp_path / "rows"
    where.mkdir()
    for i in range(3):  # two row groups each
        part = frame.iloc[400 * i : 400 * (i + 1)]
        part.to_parquet(where / f"part-{i}.parquet", index=False, row_group_size=200)
    return where


def test_a_folder_of_parquet_files(folder):
    files, arrays = small(), small()
    fit(files, folder, 3, shards=2)
    fit(arrays, (X, np.where(Y > 0, "in", "out")), 3, shards=2)
    assert files.classes_.tolist() == ["in", "out"]
    np.testing.assert_array_equal(files.decision_function(NEW), arrays.decision_function(NEW))


def test_gaps_and_levels_are_filled_as_in_the_first_part(frame, tmp_path):
    frame["level"] = np.where(X[:, 0] > 0, "high", "low")
    frame.loc[::7, "b"] = np.nan
    for i in range(2):
        frame.iloc[600 * i : 600 * (i + 1)].to_parquet(tmp_path / f"{i}.parquet", index=False)
    encoder = kb.TableEncoder(categorical={"level": ["low", "high"]}, missing="mean")
    model = fit(small(), tmp_path, shards=2, label="label", encoder=encoder)
    assert model.n_features_in_ == 5  # two numbers, two levels, any other level
    assert model.n_rounds_ == 1200


@pytest.mark.parametrize(
    ("first", "second", "classes"),
    [
        (["true", "false"], ["maybe", "true"], ["false", "maybe", "true"]),
        ([True, False], ["maybe", "no"], ["False", "True", "maybe", "no"]),
        ([True, False], [False, True], [False, True]),
    ],
)
def test_true_and_false_in_parts(tmp_path, first, second, classes):
    """Parts of one table are read apart, and their labels are the same in all of them."""
    for name, labels in (("a", first), ("b", second)):
        table = pd.DataFrame({"x": X[:40, 0], "z": X[:40, 1], "label": labels * 20})
        table.to_parquet(tmp_path / f"{name}.parquet", index=False)
    model = kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), random_state=0)
    kb.distributed.fit(model, tmp_path, rounds=2)
    assert model.classes_.tolist() == classes
    assert (model.n_rounds_, model.labels_asked_) == (80, 80)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ((X, Y), {"rounds": 0}, "rounds: expected an integer from 1, got 0"),
        ((X, Y), {"shards": 0}, "shards: expected an integer from 1, got 0"),
        ((X[:3], Y[:3]), {"rounds": 5}, "at most 3, the parts of the data, got 5"),
        ((X[:0], Y[:0]), {}, "there is no row"),
        ((X, Y[:5]), {}, "does not go with 5 labels"),
        ((X, Y), {"label": "a"}, "are for tables, got arrays"),
        ((X, Y), {"client": 5}, "a client of Dask or an address"),
        ((X, Y), {"classes": [1, 2]}, "label -1"),
        (X, {}, "expected a folder of Parquet files, a Dask frame, or a pair"),
        ("wdbc", {}, "expected a folder of Parquet files, got wdbc"),
    ],
)
def test_what_is_refused(data, options, message):
    model = small()
    with pytest.raises(InputError, match=message):
        fit(model, data, **options)
    assert not hasattr(model, "classes_")


def test_what_cannot_be_merged_is_refused_and_nothing_is_learned():
    model = kb.OnlineMKClassifier([kb.Linear()], combiner=kb.GroupNorm())
    with pytest.raises(InputError, match="this combiner belong to one stream"):
        fit(model, (X, Y), shards=2)
    assert not hasattr(model, "classes_")
    assert fit(model, (X, Y)).n_rounds_ == 1200  # one shard is not merged
    with pytest.raises(InputError, match="expected an online machine of ours"):
        fit(kb.VotedKernelClassifier(), (X, Y))


def test_workers_do_what_one_process_does(frame, folder):
    pytest.importorskip("distributed")
    import dask.array
    import dask.dataframe
    from dask.distributed import Client

    from kernbrook.evaluation.parallel import client_of

    here = fit(small(), (X, Y), 3, shards=2)
    expected = here.decision_function(NEW)
    client = client_of(LOCAL)
    assert isinstance(client, Client)
    chunked = dask.array.from_array(X, chunks=(200, 2)), dask.array.from_array(Y, chunks=200)
    named = dask.dataframe.from_pandas(frame.assign(label=Y), npartitions=6)
    cases = [(chunked, client), (named, client), (chunked, None)]
    for data, who in cases:
        found = fit(small(), data, 3, who, shards=2 if who is None else None)
        np.testing.assert_array_equal(found.decision_function(NEW), expected)
        found.partial_fit(X[:10], Y[:10])  # a plain estimator
    whole = small()
    fit(whole, folder, 3, LOCAL)
    np.testing.assert_array_equal(whole.decision_function(NEW), expected * np.array([-1]))


@pytest.mark.parametrize(
    ("blocks", "message"),
    [((600, 1), "blocks of whole rows"), ((300, 2), "in 4 blocks of rows, y in 2")],
)
def test_blocks_that_do_not_fit(blocks, message):
    array = pytest.importorskip("dask.array")
    data = array.from_array(X, chunks=blocks), array.from_array(Y, chunks=600)
    with pytest.raises(InputError, match=message):
        fit(small(), data)
    with pytest.raises(InputError, match="for both X and y"):
        fit(small(), (data[0], Y))


def test_a_worker_killed_in_mid_run_costs_no_row():
    pytest.importorskip("distributed")
    from kernbrook.evaluation.parallel import client_of

    X, y = kb.open_stream("checkerboard:60000").read()
    client, killed = client_of(LOCAL), []
    before = list(client.run(os.getpid).values())

    def told(fitted):
        if fitted.rounds == 1:
            os.kill(before[0], signal.SIGKILL)
            killed.append(fitted.rounds)

    apart = small()
    fit_parts(apart, parts_of((X, y), 12), crew_of(LOCAL), 6, 2, progress=told)
    assert killed == [1]
    client.wait_for_workers(2, timeout=60)
    here = fit(small(), (X, y), 6, shards=2)
    assert apart.n_rounds_ == 60000
    np.testing.assert_array_equal(apart.decision_function(NEW), here.decision_function(NEW))
