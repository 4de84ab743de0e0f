"""One call from a table to a model that takes tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from kernbrook.errors import DataFileWarning
from kernbrook.estimators.table_model import TableModel
from kernbrook.evaluation.recipes_wanted import (
    OURS,
    make_online,
    task_of_labels,
    told_of_counts,
)
from kernbrook.streams import TableEncoder
from kernbrook.telling import at_once, tell


def fit_table(
    data: Any,
    label: str | None = None,
    *,
    model: Any = None,
    encoder: TableEncoder | None = None,
    classes: Sequence[Any] | None = None,
    random_state: int | None = 0,
    on_bad_rows: str = "error",
) -> TableModel:
    """Learn a table as it is: one model that then takes tables, with its encoder in it.

    Parameters
    ----------
    data : the table: a frame of pandas, polars or pyarrow; a list of dicts; or the path of a CSV,
        Parquet, JSON lines, ARFF or Arrow file, or of a folder of Parquet files. Each row is
        learned once, in their order
    label : the name of the label's column; None for the column "label", else the last one
    model : an estimator that is new, which is copied; None for `OnlineMKRegressor` where a label
        has a fraction, else `OnlineMKClassifier`
    encoder : what the columns become; None: columns of levels and of dates are found, a warning
        says which, and gaps are filled by means. Text that is neither is named, with the encoder
        to declare it
    classes : all labels of a classifier, where the table has not all of them; no other is learned
        later
    random_state : int or None, seed of the default model
    on_bad_rows : "error", or "skip": rows that cannot be read are left out, with a warning

    Returns
    -------
    TableModel

    Raises
    ------
    InputError, DataFileError
        The table cannot be read, a column is to be declared, or labels are missing in all rows.
    UnknownNameError
        There is no such column.

    Examples
    --------
    >>> import kernbrook as kb
    >>> rows = [{"km": km, "day": "sat" if km % 3 else "sun", "late": km > 5} for km in range(10)]
    >>> encoder = kb.TableEncoder({"day": ["sat", "sun"]})
    >>> model = kb.fit_table(rows * 20, label="late", encoder=encoder)
    >>> model.predict([{"day": "sun", "km": 9}, {"day": "sat", "km": 1}])
    array([ True, False])
    """
    asked = make_online(OURS["classification"], random_state=random_state)
    table = TableModel(asked if model is None else model, encoder, label)
    with at_once():
        stream = table._opened(data, True, on_bad_rows=on_bad_rows)
        if model is not None:
            table.model = clone(model)
        elif classes is None and task_of_labels(stream) == "regression":
            table.model = make_online(OURS["regression"], random_state=random_state)
        elif classes is None and stream.seem_counts:
            tell(DataFileWarning(stream.name, told_of_counts(stream)))
        known, named = table._labels(stream, classes)
    table._learn(stream, known, named)
    return table
