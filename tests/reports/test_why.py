"""Tables, figures and pages of importance and explanations."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from kernbrook import reports
from kernbrook.errors import InputError
from kernbrook.explaining import Explanation, Importance


def explained(contributions, errors=None, **other):
    """Of columns a, b, c, ..."""
    parts = np.array(contributions, float)
    own = {
        "columns": tuple("abcdefghijklmnopqrstuvwxyz"[: len(parts)]),
        "values": (None, 0.1 + 0.2, "  x\ty ", *[1.0] * len(parts))[: len(parts)],
        "contributions": parts,
        "errors": np.zeros(len(parts)) if errors is None else np.array(errors),
        "base": 0.2,
        "score": 0.2 + parts.sum(),
        "what": "probability",
        "of_class": "late",
        "background": "10 rows",
    }
    own |= other
    own["exact"] = own["errors"] == 0.0
    return Explanation(**own)


def important(means, **other):
    means = np.array(means, float)
    own = {
        "columns": tuple(range(len(means))),
        "mean": means,
        "std": means / 10,
        "values": np.stack([means, means], axis=1),
        "measure": "error",
        "base": 0.25,
        "rows": 50,
        "n_rows": 90,
        "left_out": 3,
    }
    return Importance(**(own | other))


def test_a_row_in_numbers():
    table = reports.explanation_table(explained([0.1, -0.3, 0.05], [0.001, 0.0, 0.0]))
    names, values, adds, bars = table.columns
    assert names.values == ("usually", "b", "a", "c", "this row")
    assert values.values == ("", "0.3", "(gap)", "x y", "")
    assert adds.values == ("20.0", "-30.0", "+10.0", "+5.0", "5.0")
    assert adds.header == "chance of late %"
    assert bars.values == pytest.approx((0.0, 1.0, 1 / 3, 1 / 6, 0.0))
    assert table.notes[:2] == (
        "usually: the mean over 10 rows.",
        "What a column adds is exact for 2 of 3 columns: else standard errors up to 0.1 points.",
    )


def test_many_columns_are_told_in_short():
    many = explained(np.full(26, 0.01))
    table = reports.explanation_table(many)
    assert len(table.columns[0].values) == 23
    assert table.columns[0].values[21] == "6 other columns"
    assert table.columns[2].values[21] == "+6.0"
    assert len(reports.explanation_json(many)["columns"]) == 26
    table = reports.importance_table(important(np.linspace(0.3, 0.05, 26)))
    assert len(table.columns[0].values) == 20
    assert table.notes[0] == "... and 6 columns more, none above +10.0"


def test_importance_in_numbers():
    table = reports.importance_table(important([0.05, 0.01, -0.002]))
    assert table.columns[0].values == ("0", "1", "2")
    assert table.columns[1].header == "error in % more without it"
    assert table.columns[1].values == ("+5.00 ± 0.50", "+1.00 ± 0.10", "-0.20")
    assert table.columns[2].values == pytest.approx((1.0, 0.2, 0.0))
    assert table.notes == (
        "With all columns as they are: error 25.0 %.",
        "Without a column: its values are exchanged between rows, 2 times.",
        "Mean ± standard deviation, of 50 rows of 90.",
        "Left out: 3 rows without a label, or with one that the model does not know.",
    )
    flat = reports.importance_table(important([0.0, 0.0], measure="rmse", rows=90))
    assert flat.columns[1].header == "root mean squared error more without it"
    assert flat.notes[3] == "No column changes what the model says."
    assert flat.notes[1] == "Without a column: its values are exchanged between rows, 2 times."


def test_bars(tmp_path):
    picture = reports.draw(reports.Bars(["a", "b" * 90], [1.0, -2.0], [0.1, 0.2], "more"))
    assert isinstance(picture, Figure)
    (axes,) = picture.axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a", "b" * 43 + "…"]
    assert axes.get_xlabel() == "more"
    assert [bar.get_width() for bar in axes.patches] == [1.0, -2.0]
    page = reports.why_page("m", "d", important([0.1], columns=("<b>",)), explained([0.1]), 1)
    reports.write_page(page, tmp_path / "why.html")
    assert (tmp_path / "why.html").read_text("utf-8").count("<svg") == 2
    with pytest.raises(InputError, match="expected one bar at least"):
        reports.draw(reports.Bars([], []))
    with pytest.raises(InputError, match="expected a Plot, got 3"):
        reports.draw(3)
