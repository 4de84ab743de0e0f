"""The next day's data: the model of one long training, whatever the days are like."""

from __future__ import annotations

import numpy as np
import pytest

import kernbrook as kb
from kernbrook.errors import DataFileError, DataFileWarning, InputError, ModelFileError
from kernbrook.evaluation.checkpoint import load_checkpoint
from kernbrook.evaluation.training import go_on, train
from kernbrook.evaluation.windows import MOST_DATA, Past, shortened
from kernbrook.streams.arrays import ArrayStream

pa = pytest.importorskip("pyarrow")


def rows_of(n=2500, seed=0, labels=("no", "yes")):
    """Columns with gaps, levels and dates, and a label that some of them tell."""
    rng = np.random.default_rng(seed)
    temp, wind = rng.normal(size=n), rng.exponential(size=n)
    carrier = rng.choice(["UA", "AA", "DL"], n)
    late = (temp + wind * (carrier == "UA") > 0.7).astype(int)
    start = np.datetime64("2024-01-01T00:00") + 5000 * seed
    return pa.table(
        {
            "when": (start + np.arange(n)).astype("datetime64[us]"),
            "temp": pa.array(temp, mask=rng.random(n) < 0.2),
            "wind": wind,
            "carrier": carrier,
            "late": np.asarray(labels)[late],
        }
    )


def encoder(missing="mean"):
    return kb.TableEncoder(
        {"carrier": ["UA", "AA", "DL"]}, dates={"when": ["days", "hour"]}, missing=missing
    )


def small(**settings):
    return kb.recipes.make("bpas", random_state=0, budget=20, **settings)


def begun(table, path, missing="mean"):
    stream = kb.open_stream(table, label="late", encoder=encoder(missing))
    return train(stream, small(), path, classes=["no", "yes"])


def same_model(one, other):
    """Whether two models have learned the same, to the last bit."""
    first, second = (getattr(each, "model", each).state() for each in (one, other))
    assert first.keys() == second.keys()
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], err_msg=name)


@pytest.mark.parametrize("missing", ["mean", "last", "indicator"])
def test_days_come_to_the_model_of_one_long_training(missing, tmp_path):
    """Gaps too are filled by all rows before."""
    days = [rows_of(n, seed) for seed, n in enumerate([1500, 700, 1100])]
    begun(days[0], tmp_path / "m", missing)
    for day in days[1:]:
        go_on(day.select(["late", "carrier", "wind", "temp", "when"]), tmp_path / "m")
    whole = begun(pa.concat_tables(days), tmp_path / "whole", missing)
    same_model(kb.load(tmp_path / "m"), kb.load(tmp_path / "whole"))
    (_, known), (_, once) = load_checkpoint(tmp_path / "m"), load_checkpoint(tmp_path / "whole")
    assert known.windows == once.windows
    assert [one.rows for one in known.past] == [1500, 700, 1100]
    assert sum(one.loss for one in known.past) == whole.loss
    assert known.rows == 3300


def test_what_is_said_of_a_day(tmp_path):
    X, y = kb.open_stream("checkerboard:1500").read()
    first = train(ArrayStream(X[:900], y[:900], "mon"), small(), tmp_path / "m")
    second = go_on(ArrayStream(X[900:], y[900:], "tue"), tmp_path / "m")
    record = kb.prequential(small(), X, y)
    assert (second.rows, second.resumed_at, second.name) == (600, 0, "tue")
    assert second.loss == record.mistakes[900:].sum()
    rule = kb.prequential(kb.recipes.make("majority"), X, y)
    assert second.judge.data.sums["majority"] == rule.mistakes[900:].sum()
    assert second.judge.measures.model.rows == 600
    assert (second.in_all.rows, second.in_all.loss) == (1500, record.mistakes.sum())
    past = load_checkpoint(tmp_path / "m")[1].past
    assert [(one.name, one.rows, one.judged, one.loss) for one in past] == [
        ("mon", 900, 900, first.loss),
        ("tue", 600, 600, second.loss),
    ]


@pytest.mark.parametrize(("numbers", "rows"), [(True, 298), (False, 300)])
def test_the_last_label_stands_beside_what_was_predicted_ahead(numbers, rows, tmp_path):
    """Of classes where it is another than the one that came most often."""
    X = np.random.default_rng(0).normal(size=(400, 2))
    y = X @ [1.0, 2.0] if numbers else np.where(X[:, 0] > 0.3, "late", "ontime")
    kind = kb.OnlineMKRegressor if numbers else kb.OnlineMKClassifier
    model = kind([kb.Linear()], kb.Ridge() if numbers else kb.Perceptron(), random_state=0)
    train(ArrayStream(X[:rows], y[:rows], "mon"), model, tmp_path / "m")
    rules = go_on(ArrayStream(X[rows:], y[rows:], "tue"), tmp_path / "m").ahead.rules
    assert ("last" in rules) == (rows == 298)
    last, own = y[rows - 1], y[rows:]
    rule = rules.get("last", rules["learned"])
    costs = np.mean((own - last) ** 2) if numbers else np.mean(own != last)
    assert rule.prediction == last
    assert rule.values()["mse" if numbers else "error"] == pytest.approx(costs)


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_the_next_day_in_any_format(kind, tmp_path):
    """How a file is written, such as with decimal commas, is said of it alone."""
    day, path, written = rows_of(600, 1), tmp_path / f"day.{kind}", {}
    frame = day.to_pandas()
    if kind == "csv":
        written = {"decimal": ","}
        frame.to_csv(path, index=False, decimal=",", sep=";")
    elif kind == "parquet":
        frame.to_parquet(path)
    for name in ("m", "expected"):
        begun(rows_of(1200), tmp_path / name)
    if kind == "csv":
        with pytest.raises(DataFileError, match="with a decimal comma"):
            go_on(path, tmp_path / "m")
    go_on(path if kind != "frame" else frame, tmp_path / "m", written=written)
    go_on(day, tmp_path / "expected")
    same_model(kb.load(tmp_path / "m"), kb.load(tmp_path / "expected"))
    assert kb.load(tmp_path / "m").encoder_.decimal == "."


def stopping_after(chunks):
    left = iter(range(chunks, 0, -1))
    return lambda: next(left) == 1


@pytest.mark.parametrize("missing", ["mean", "error"])
def test_stopped_within_a_day(missing, tmp_path):
    """The last file is that of a day which was not stopped, byte for byte."""
    day = rows_of(5000, 1)
    first = rows_of(1300)
    if missing == "error":
        first, day = (one.drop(["temp"]) for one in (first, day))
    for name in ("m", "whole"):
        begun(first, tmp_path / name, missing)
    go_on(day, tmp_path / "whole")
    part, stretches = go_on(day, tmp_path / "m", stop=stopping_after(1), every=0), 0
    while not part.finished:
        assert (part.rows, load_checkpoint(tmp_path / "m")[1].rows) == (
            min(5000, 1024 * (stretches + 1)), min(6300, 1300 + 1024 * (stretches + 1)),
        )  # fmt: skip
        with pytest.raises(InputError, match=r"was stopped within 'table', after [0-9,]+ rows of "):
            go_on(rows_of(50, 2), tmp_path / "m")
        part = go_on(day, tmp_path / "m", resume=True, stop=stopping_after(1), every=0)
        stretches += 1
    assert stretches == 5
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    go_on(day.slice(0, 3000), tmp_path / "m", anyway=True, stop=lambda: True)
    go_on(day.slice(4000, 500), tmp_path / "m", anyway=True)  # the rest is left out
    known = load_checkpoint(tmp_path / "m")[1]
    assert [one.rows for one in known.past] == [1300, 5000, 1024, 500]


def test_rows_appended_to_a_day(tmp_path):
    day = rows_of(1700, 1)
    for name in ("m", "whole"):
        begun(rows_of(800), tmp_path / name)
    go_on(day, tmp_path / "whole")
    go_on(day[:900], tmp_path / "m")
    found = go_on(day, tmp_path / "m", resume=True)
    assert (found.resumed_at, found.rows) == (900, 1700)
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    with pytest.raises(InputError, match="the first 1700 rows here are not those that it has seen"):
        go_on(rows_of(1700, 2), tmp_path / "m", resume=True)
    with pytest.raises(InputError, match=r"seen 1700 rows, here are 800; go_on \(--go-on\) learns"):
        go_on(rows_of(800), tmp_path / "m", resume=True)


def test_the_same_day_twice(tmp_path):
    """Recognised whatever the model has learned between, and whatever the order of the columns."""
    days = [rows_of(700, seed) for seed in range(3)]
    begun(days[0], tmp_path / "m")
    go_on(days[1], tmp_path / "m")
    before = (tmp_path / "m").read_bytes()
    whole = "its 700 rows are those of 'table', which .*m has learned; anyway"
    last = "its first 700 rows are those of 'table', .*; resume .--resume. learns the rows after th"
    for day, said in (
        (days[0], whole),
        (days[1], whole),
        (days[0].select(["late", "wind", "temp", "carrier", "when"]), whole),
        (pa.concat_tables([days[1], days[2]]), last),
        (pa.concat_tables([days[0], days[2]]), "its first 700 rows are .*m has learned; anyway"),
    ):
        with pytest.raises(InputError, match=said):
            go_on(day, tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert go_on(days[1], tmp_path / "m", anyway=True).rows == 700
    begins_alike = pa.concat_tables([days[0][:5], days[1]])
    assert go_on(begins_alike, tmp_path / "m").rows == 705


# -- columns ------------------------------------------------------------------------------------


def test_extra_and_missing_columns(tmp_path):
    begun(rows_of(700), tmp_path / "m")
    before, day = (tmp_path / "m").read_bytes(), rows_of(500, 1)
    extra = day.append_column("new", pa.array(["x"] * 500)).append_column("more", pa.nulls(500))
    with pytest.raises(InputError, match=r"unknown 'new', 'more'; ignore_extra .--ignore-ext"):
        go_on(extra, tmp_path / "m")
    with pytest.raises(InputError, match=r"missing 'when', 'temp'.*; none of them is here"):
        go_on(day.select(["late"]).append_column("x", pa.nulls(500)), tmp_path / "m",
              ignore_extra=True)  # fmt: skip
    assert (tmp_path / "m").read_bytes() == before
    found = go_on(extra.drop(["temp"]), tmp_path / "m", ignore_extra=True)
    assert found.notes == [
        "no column 'temp': filled as gaps, in 500 rows", "left out 2 columns: 'new', 'more'",
    ]  # fmt: skip
    begun(rows_of(700), tmp_path / "gaps")
    gaps = day.set_column(1, "temp", pa.nulls(500, pa.float64()))
    go_on(gaps, tmp_path / "gaps")
    same_model(kb.load(tmp_path / "m"), kb.load(tmp_path / "gaps"))
    with pytest.warns(DataFileWarning, match="left out 2 columns: 'new', 'more'"):
        labels = said_of(tmp_path / "m", extra, ignore_extra=True)
    assert labels == said_of(tmp_path / "m", day)
    with pytest.warns(DataFileWarning, match="no column 'temp': filled as gaps, in 500 rows"):
        labels = said_of(tmp_path / "m", day.drop(["temp"]))
    assert labels == said_of(tmp_path / "m", gaps)


def said_of(path, table, **options):
    parts = kb.evaluation.predict_stream(path, table, **options)
    return np.concatenate([labels for labels, _ in parts]).tolist()


# -- labels -------------------------------------------------------------------------------------


def test_a_class_that_comes_with_a_later_day(tmp_path):
    """As `partial_fit` takes it: from its first row on."""
    train(kb.open_stream(_two(400, 0)), small(), tmp_path / "m")
    X, y = _two(300, 1)
    y[[40, 50]] = "maybe"
    found = go_on((X, y), tmp_path / "m")
    assert found.new_classes == {"maybe": 41}
    model = small().fit(*_two(400, 0))
    model.learn(X, y)
    same_model(kb.load(tmp_path / "m"), model)
    assert kb.load(tmp_path / "m").classes_.tolist() == ["maybe", "no", "yes"]
    more = X + 1, np.where(np.arange(300) < 150, y, "never")
    assert go_on(more, tmp_path / "m").new_classes == {"never": 151}


def _two(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, np.where(X[:, 0] > 0, "yes", "no").astype("<U5")


def test_labels_that_cannot_be_learned(tmp_path):
    X, y = _two(60, 0)
    train(kb.open_stream((X, y)), kb.recipes.make("majority"), tmp_path / "m")
    before = (tmp_path / "m").read_bytes()
    with pytest.raises(InputError, match="label 'maybe' is not one of the classes 'no', 'yes'"):
        go_on((X, np.where(y == "yes", "maybe", y)), tmp_path / "m")
    train(kb.open_stream((X, X[:, 0])), kb.recipes.make("mean"), tmp_path / "numbers")
    with pytest.raises(InputError, match="expected numbers as labels, found"):
        go_on((X, y), tmp_path / "numbers")
    assert (tmp_path / "m").read_bytes() == before


def test_one_label_against_the_rest(tmp_path):
    """A day may have none of it."""
    first, day = rows_of(400, labels=("a", "b")), rows_of(200, 1, labels=("a", "c"))
    stream = kb.open_stream(first, label="late", positive="b", encoder=encoder())
    train(stream, small(), tmp_path / "m", positive="b")
    assert go_on(day, tmp_path / "m").rows == 200
    assert kb.load(tmp_path / "m").classes_.tolist() == [-1, 1]
    with pytest.raises(InputError, match="its 200 rows are those of 'table'"):
        go_on(day, tmp_path / "m")


# -- what is refused ----------------------------------------------------------------------------


def test_what_is_refused_before_work(tmp_path):
    path, day = tmp_path / "m", rows_of(300, 1)

    def refused(message, data=day, kind=InputError, **options):
        before = path.read_bytes() if path.exists() else None
        with pytest.raises(kind, match=message):
            go_on(data, path, **options)
        assert (path.read_bytes() if path.exists() else None) == before
        assert len(list(tmp_path.iterdir())) == (before is not None)

    refused("m does not exist: train it first, without go_on")
    kb.save(small(), path)
    refused("a model that has not learned anything", kind=ModelFileError)
    kb.save(kb.NamedColumns(small()), path)
    refused("a model with NamedColumns: use kb.load in Python", kind=ModelFileError)
    kb.save(kb.VotedKernelClassifier().fit(*_two(30, 0)), path)
    refused("learns from all data at once")
    path.write_bytes(b"no model")
    refused("not a saved model", kind=ModelFileError)
    kb.save(small().fit(*_two(30, 0)), path)
    refused("a model that `train` did not write: it has no", resume=True, kind=ModelFileError)
    refused("expected 2 features, found 3", (np.zeros((5, 3)), np.zeros(5)))
    path.unlink()
    begun(rows_of(300), path)
    refused("expected labels to learn from in a column 'late', found none", day.drop(["late"]))
    refused("unknown column 'laet': did you mean late", label="laet", kind=Exception)
    gone = day.drop(["temp", "wind"])
    refused("missing 'temp', 'wind'.*", gone.append_column("x", pa.nulls(300)))
    refused("in a column 'late', found none", day.set_column(4, "late", pa.nulls(300, pa.string())))
    refused("label: goes with a path or a table", (np.zeros((5, 8)), np.zeros(5)), label="late")
    whole = kb.open_stream(day, label="late", encoder=encoder())
    refused("expected the table itself, which is encoded as the model's was", whole)
    refused("found no such", check=_refusing)


def _refusing(model):
    raise InputError(f"found no such {type(model.model).__name__} of {model.label_}")


def test_a_day_that_breaks_off(tmp_path):
    """What was learned before is in the file, and the same data go on from there once mended."""
    begun(rows_of(600), tmp_path / "m")
    day = rows_of(4000, 1).to_pandas()
    day.to_csv(tmp_path / "day.csv", index=False)
    stopped = go_on(tmp_path / "day.csv", tmp_path / "m", every=0, stop=stopping_after(2))
    broken = (tmp_path / "day.csv").read_text().splitlines()
    broken[3001] = "what,is,this"
    (tmp_path / "day.csv").write_text("\n".join(broken) + "\n")
    with pytest.raises(DataFileError, match="line 3002"):
        go_on(tmp_path / "day.csv", tmp_path / "m", resume=True)
    assert load_checkpoint(tmp_path / "m")[1].last.rows == stopped.rows == 2048
    day.to_csv(tmp_path / "day.csv", index=False)
    assert go_on(tmp_path / "day.csv", tmp_path / "m", resume=True).rows == 4000


# -- models that were not trained by `train` --------------------------------------------------


def test_a_model_that_was_saved(tmp_path):
    """What it learned before has no name and no error."""
    X, y = _two(300, 0)
    kb.save(small().fit(X[:200], y[:200]), tmp_path / "m")
    found = go_on((X[200:], y[200:]), tmp_path / "m")
    assert (found.rows, found.in_all.rows, found.in_all.judged) == (100, 300, 100)
    same_model(kb.load(tmp_path / "m"), small().fit(X, y))
    known = load_checkpoint(tmp_path / "m")[1]
    assert [(one.name, one.rows) for one in known.past] == [(None, 200), ("arrays", 100)]
    assert (known.windows.rows, known.judge.before) == (100, 200)


def test_training_does_not_resume_days_of_a_table(tmp_path):
    """It would open them as if no rows had been before: `go_on` knows better."""
    day = rows_of(3000, 1)
    begun(rows_of(300), tmp_path / "m")
    go_on(day, tmp_path / "m", stop=lambda: True)
    with pytest.raises(InputError, match=r"kb.evaluation.go_on\(data, path, resume=True\) goes on"):
        train(kb.open_stream(day, label="late", encoder=encoder()), small(), tmp_path / "m",
              resume=True)  # fmt: skip


# -- what is kept of the past -------------------------------------------------------------------


def test_the_past_is_bounded():
    """Years of days: those of long ago are put together, and nothing is lost of the sums."""
    past = []
    for day in range(3 * MOST_DATA):
        past = shortened([*past, Past(10, 9, {"loss": 2}, name=f"{day}")])
        assert len(past) == min(day + 1, MOST_DATA)
        assert sum(one.data for one in past) == day + 1
        assert sum(one.rows for one in past) == 10 * (day + 1)
        assert sum(one.loss for one in past) == 2 * (day + 1)
    unknown = shortened([Past(5), *past])
    assert (unknown[0].loss, unknown[0].rows) == (past[0].loss, past[0].rows + 5)


def test_names_that_come_late_in_json_lines(tmp_path):
    begun(rows_of(700), tmp_path / "m")
    line = '{"when": "2024-05-01", "temp": 1, "wind": 2, "carrier": "UA", "late": "no"}\n'
    late = line.replace('"late"', '"new": 3, "late"')
    (tmp_path / "day.jsonl").write_text(line * 20_000 + late)
    with pytest.raises(DataFileError, match="line 20001: 'new' is in none of the first objects"):
        go_on(tmp_path / "day.jsonl", tmp_path / "m")
    assert go_on(tmp_path / "day.jsonl", tmp_path / "m", ignore_extra=True).rows == 20_001
