"""A shop's month: each evening tomorrow's file is predicted, and the day's is learned."""

from __future__ import annotations

import json

import numpy as np
import pytest

import kernbrook as kb

pandas = pytest.importorskip("pandas")
START = pandas.Timestamp("2026-03-01")


def visits(day, changed, rng):
    """One day of a shop; what makes customers buy is not the same after a change."""
    rows = int(rng.integers(360, 440))
    channel = rng.choice(["mail", "search", "shop", "social"], rows, p=[0.2, 0.4, 0.3, 0.1])
    city = rng.choice([f"city {i}" for i in range(12)], rows)
    age, basket = rng.integers(18, 80, rows), rng.lognormal(3, 0.8, rows).round(2)
    seen = rng.poisson(3, rows)
    minutes = np.sort(rng.integers(8 * 60, 22 * 60, rows))
    drawn = 1.5 * np.log(basket / 20) * (1 - 2 * changed) + 0.5 * (seen - 3) - 0.02 * (age - 45)
    drawn += np.select([channel == "mail", channel == "social"], [1, -1]) * (1 - 2 * changed)
    bought = rng.random(rows) < 1 / (1 + np.exp(-drawn))
    return pandas.DataFrame(
        {
            "time": START + pandas.to_timedelta(1440 * (day - 1) + minutes, unit="min"),
            "channel": channel,
            "city": city,
            "age": np.where(rng.random(rows) < 0.15, np.nan, age),
            "basket": basket,
            "visits": seen,
            "bought": np.where(bought, "yes", "no"),
        }
    )


@pytest.mark.parametrize("days", [5, pytest.param(30, marks=pytest.mark.long)])
def test_a_month(days, kernbrook):
    """By default: nothing is refused, and a day's error is that of what was written before it."""
    rng, change = np.random.default_rng(0), days // 2 + 1
    for day in range(1, days + 1):
        frame = visits(day, day >= change, rng)
        frame.to_csv(f"day{day}.csv", index=False)
        frame.drop(columns="bought").to_csv(f"new{day}.csv", index=False)
    columns = ["--label", "bought", "--categorical", "auto", "--dates", "auto", "--missing", "mean"]
    code, _, err = kernbrook("train", "day1.csv", "--model", "m", *columns)
    assert code == 0, err
    ahead, trivial, starts = [], [], [0, len(pandas.read_csv("day1.csv"))]
    for day in range(2, days + 1):
        code, _, err = kernbrook("predict", "m", f"new{day}.csv", "--proba", "--output", "said.csv")
        assert code == 0, err
        again = "train", f"day{day}.csv", "--model", "m", "--go-on", "--json", "-"
        code, out, err = kernbrook(*again)
        assert (code, err) == (0, "wrote m\n")
        before, said = json.loads(out)["ahead"], pandas.read_csv("said.csv")
        true = pandas.read_csv(f"day{day}.csv")["bought"]
        chances = said["yes"].where(true == "yes", said["no"])
        assert before["model"]["error"] == pytest.approx(100 * (said["prediction"] != true).mean())
        assert before["model"]["log_loss"] == pytest.approx(-np.log(chances).mean())
        ahead.append(before["model"]["error"])
        trivial.append(before["rules"]["majority"]["error"])
        starts.append(starts[-1] + len(true))
    assert np.mean(ahead) < np.mean(trivial)
    shown = json.loads(kernbrook("show", "m", "--json", "-")[1])
    assert [one["name"] for one in shown["past"]] == [f"day{i + 1}" for i in range(days)]
    assert kb.load("m").n_rounds_ == starts[-1]
    if days == 30:
        assert any(abs(one["row"] - starts[change - 1]) < 50 for one in shown["changes"])
