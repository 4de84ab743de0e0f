"""Parts of one table are read apart: true and false are the same labels in all of them."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kernbrook as kb

ROWS = np.random.default_rng(0).normal(size=(40, 2))


@pytest.mark.parametrize(
    ("first", "second", "classes"),
    [
        (["true", "false"], ["maybe", "true"], ["false", "maybe", "true"]),
        ([True, False], ["maybe", "no"], ["False", "True", "maybe", "no"]),
        ([True, False], [False, True], [False, True]),
    ],
)
def test_true_and_false_in_parts(tmp_path, first, second, classes):
    for name, labels in (("a", first), ("b", second)):
        table = pa.table({"x": ROWS[:, 0], "z": ROWS[:, 1], "label": labels * 20})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    model = kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), random_state=0)
    kb.distributed.fit(model, tmp_path, rounds=2)
    assert model.classes_.tolist() == classes
    assert (model.n_rounds_, model.labels_asked_) == (80, 80)
