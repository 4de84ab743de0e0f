"""Tables as numbers: against a twin of one row at a time, cut anywhere, of any kind."""

import json
import math
import random
from datetime import date, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from naive import table_encoder as naive
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.pipeline import make_pipeline

import kernbrook as kb
from kernbrook.errors import InputError, KernbrookError
from kernbrook.streams.arrow import frame_of, to_arrow

MISSING = ["mean", "last", "indicator"]
EVERY = ["error", *MISSING]
CATEGORICAL = {"sex": ["male", "female"], "port": 5}
DATES = {"when": ["days", "hour", "weekday", "yearday"]}


def random_rows(seed, n=60, holes=0.3):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        day = np.datetime64("1969-12-01") + np.timedelta64(int(rng.integers(0, 30_000)), "D")
        time = f"T{rng.integers(24):02}:{rng.integers(60):02}:{rng.integers(60):02}"
        row = {
            "age": float(rng.normal()),
            "sex": str(rng.choice(["male", "female", "it"])),
            "port": str(rng.choice(["S", "C", "Québec", "a long name", "7"])),
            "when": str(day) + str(rng.choice(["", f"{time}Z", f"{time}.25Z", f"{time}+02:30"])),
            "size": int(rng.integers(100)),
        }
        rows.append({k: None if rng.random() < holes else v for k, v in row.items()})
    return rows


def table(rows):
    types = {"age": pa.float64(), "size": pa.int64()}
    return pa.table({k: pa.array([r[k] for r in rows], types.get(k, pa.string())) for k in rows[0]})


def encoder(missing, **changed):
    return kb.TableEncoder(CATEGORICAL, DATES, missing=missing, **changed)


@pytest.mark.parametrize("missing", EVERY)
def test_twin(missing):
    rows = random_rows(0, holes=0.3 * (missing != "error"))
    twin = naive.Encoder(list(rows[0]), CATEGORICAL, DATES, missing)
    expected = [twin.learn(row) for row in rows]
    X = encoder(missing).learn(table(rows))
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    np.testing.assert_allclose(X, expected, rtol=1e-12, atol=1e-9)
    exact = ["age", "size", "sex=male", "sex=female", "sex=other", *(f"port#{i}" for i in range(5))]
    names = encoder(missing).begin(rows[0]).get_feature_names_out().tolist()
    places = [names.index(name) for name in exact]
    np.testing.assert_array_equal(X[:, places], np.array(expected)[:, places])
    assert X.shape[1] == len(names)


@pytest.mark.parametrize("missing", MISSING)
def test_cuts_change_nothing(missing):
    rows = table(random_rows(2))
    whole = encoder(missing)
    X = whole.learn(rows)
    for length in (1, 7):
        cut = encoder(missing)
        parts = [cut.learn(rows[i : i + length]) for i in range(0, len(rows), length)]
        np.testing.assert_array_equal(np.vstack(parts), X)
        assert cut.described() == whole.described()


@pytest.mark.parametrize("missing", MISSING)
def test_a_row_transformed_is_the_row_learned_next(missing):
    rows = table(random_rows(3))
    one = encoder(missing)
    one.learn(rows[:40])
    before = one.described()
    each = one.transform(rows[40:])
    assert one.described() == before
    for i in range(3):
        np.testing.assert_array_equal(one.copy().learn(rows[40 + i : 41 + i]), each[i : i + 1])
    fitted = encoder(missing).fit(rows[:40])
    np.testing.assert_array_equal(fitted.transform(rows[40:]), each)
    np.testing.assert_array_equal(fitted.fit(rows[:40]).transform(rows[40:]), each)  # afresh


def test_the_order_of_columns_and_dropped_ones():
    rows = pa.table({"a": [1, 2], "b": ["x", "y"], "c": [3.0, 4.0]})
    one = kb.TableEncoder(drop=["b"]).fit(rows)
    assert one.columns_ == ["a", "c"]
    assert one.feature_names_in_.tolist() == ["a", "b", "c"]
    assert one.transform(rows.select(["c", "a"])).tolist() == [[1, 3], [2, 4]]
    with pytest.raises(InputError, match="expected a column 'c', found none"):
        one.transform(rows.select(["a"]))
    with pytest.raises(InputError, match="a column 'd' that `fit` did not see"):
        one.transform(rows.append_column("d", pa.array([1, 2])))


@pytest.mark.parametrize(
    ("values", "made", "problem"),
    [
        (["1", "x"], {}, r"column 'a', row 1 .*found 'x'; categorical \(--categorical a\) or drop"),
        (["1,5"], {}, r"found '1,5'; with a decimal comma\? decimal \(--decimal ,\)$"),
        (["1.5"], {"decimal": ","}, "expected a number, found '1.5'"),
        (["2024-01-31"], {}, r"a date\? dates \(--dates a\) or drop \(--drop a\)$"),
        (
            ["1", None],
            {},
            r"row 1 .*: missing value; missing \(--missing mean, last or indicator\)",
        ),
        (["f", None], {"categorical": ["a"]}, "row 1 .*missing value"),
        ([1.0, np.inf], {}, "row 1 .*inf is not finite"),
        (["31/01/2024"], {"dates": ["a"]}, "a date such as 2024-01-31 .*, found '31/01/2024'"),
        ([5], {"dates": ["a"]}, "expected a date, found int64"),
        ([date(2024, 1, 1)], {}, r"date32.*; a date\? dates \(--dates a\) or drop"),
        ([[1, 2]], {}, r"found list<.*>; drop \(--drop a\)$"),
        ([{"b": 1}], {"categorical": ["a"]}, "expected text or numbers, found struct"),
        ([1e308, 1e308], {"missing": "mean"}, "the values of 'a' are too large for a mean"),
    ],
)
def test_what_is_refused(values, made, problem):
    with pytest.raises(InputError, match=problem):
        kb.TableEncoder(**made).learn(pa.table({"a": values}))


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        ({"categorical": 5}, "categorical: expected names of columns, got 5"),
        ({"categorical": {"a": 0}}, "expected 1 to 16,384 columns to hash to, got 0"),
        ({"categorical": {"a": ["x", "x"]}}, "expected levels, each once, or a number"),
        ({"dates": {"a": ["century"]}}, "expected some of days, hour, weekday, yearday"),
        ({"drop": [1]}, "drop: expected names of columns"),
        ({"drop": ["aa"]}, "unknown column 'aa': did you mean a"),
        ({"drop": ["a"]}, "drop: no column is left"),
        ({"missing": "median"}, "missing must be one of error, mean, last, indicator"),
        ({"decimal": ";"}, "decimal must be '.' or ','"),
        ({"categorical": ["a"], "dates": ["a"]}, "the column 'a' is in two of them"),
    ],
)
def test_parameters(made, problem):
    with pytest.raises(KernbrookError, match=problem):
        kb.TableEncoder(**made).fit(pa.table({"a": [1.0]}))


def test_no_table():
    for X in (np.eye(2), [[1]], 5, [{"a": 1}]):
        with pytest.raises(InputError, match="expected a table in memory, of pandas, polars or"):
            kb.TableEncoder().fit(X)


def test_as_scikit_learn_has_it():
    from sklearn.linear_model import LogisticRegression

    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(random_rows(5))
    one = clone(encoder("indicator"))
    y = np.arange(len(frame)) % 2
    assert one.get_params()["missing"] == "indicator"
    pipe = make_pipeline(one, LogisticRegression(max_iter=10_000)).fit(frame, y)
    assert pipe.predict(frame).shape == y.shape
    shown = encoder("indicator").set_output(transform="pandas").fit(frame).transform(frame)
    assert list(shown.columns)[-5:] == [f"{name} missing" for name in frame.columns]
    with pytest.raises(Exception, match="not fitted"):
        kb.TableEncoder().transform(frame)


@pytest.mark.parametrize("missing", EVERY)
def test_described(missing):
    rows = table(random_rows(6, holes=0))
    words = {"sex": 64} if missing == "last" else None
    made = {"categorical": {"port": 5}} if words else {}
    one = encoder(missing, drop=["size"], decimal=",", words=words).set_params(**made)
    one.fit(rows[:30])
    described = json.loads(json.dumps(one.described(), allow_nan=False))
    again = kb.TableEncoder.from_description(described)
    assert again.described() == described
    found, expected = again.learn(rows[30:]), one.learn(rows[30:])
    assert abs(found - expected).max() == 0


def test_more_rows_than_can_be_counted():
    """Refused as a whole, so that what is described can be read again."""
    one = kb.TableEncoder(missing="mean").fit(pa.table({"a": [1, 2]}))
    one.counts_[:] = 2**62 - 1
    one.learn(pa.table({"a": [3]}))
    with pytest.raises(InputError, match="X: 4611686018427387904 rows and 1 more are too many"):
        one.learn(pa.table({"a": [3]}))
    again = kb.TableEncoder.from_description(one.described())
    assert again.counts_.tolist() == [2**62]


DAMAGE = [
    (["missing"], "last", "no state of missing='last'"),
    (["columns"], ["a", "a"], "expected names of columns"),
    (["categorical"], {"b": 3}, "unknown column 'b'"),
    (["state", "totals"], [1.0, 2.0], "expected 1 numbers as totals"),
    (["state", "counts"], [-1], "counts: expected an integer from 0"),
    (["lags"], [], "no state of missing='mean'"),
    (["state", "lags", 0, "rows"], 1, "expected 1 numbers as window of lags"),
    (["state", "lags", 0, "last"], [None], "last: expected a number"),
]
ODD = [None, -1, 1.5, "x", True, float("nan"), [], {}, [None], [[1], {}], [1.0], {"a": 1}, 10**30]


def damaged(described, path, value):
    changed = json.loads(json.dumps(described))
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return changed


def paths_in(value, path=()):
    for key in value if isinstance(value, dict) else range(len(value)):
        yield [*path, key]
        if isinstance(value[key], (dict, list)):
            yield from paths_in(value[key], (*path, key))


def test_damaged_descriptions():
    """Anything in the place of anything is refused in a sentence, or is a description itself."""
    encoder = kb.TableEncoder(missing="mean", lags=[3]).begin(["a"], "y")
    encoder.learn(pa.table({"a": [1.0, 2.0]}), [1.0, 2.0])
    described = encoder.described()
    for path, value, problem in DAMAGE:
        with pytest.raises(KernbrookError, match=problem):
            kb.TableEncoder.from_description(damaged(described, path, value))
    refused = 0
    for path in paths_in(described):
        for value in ODD:
            try:
                found = kb.TableEncoder.from_description(damaged(described, path, value))
            except KernbrookError:
                refused += 1
            else:
                again = kb.TableEncoder.from_description(found.described())
                assert again.described() == found.described(), (path, value)
    assert refused > 300


def drawn_encoder(rng):
    decimal = rng.choice([".", ".", ","])
    words = rng.choice([None, {"text": 64}])
    of_dates = [["days", "hour"], ["yearday", "weekday"], ["days", "%d.%m.%Y"]]
    return kb.TableEncoder(
        {"level": ["a", "b", "01", "1", "None", "true"], "hashed": rng.choice([4, 32])},
        {"when": rng.choice(of_dates)}, missing=rng.choice(["error", *MISSING]), decimal=decimal,
        thousands=rng.choice([None, None, "." if decimal == "," else ","]),
        words=words, drop=None if words else ["text"], lags=rng.choice([None, [1, 3], {None: [2]}]),
    ).begin(["a", "b", "level", "hashed", "when", "text"], "y")  # fmt: skip


NUMBERS = [
    1.5, -2, 3, True, False, 0.1, 1e300, -0.0, 2**53 + 1, 2**62, None, math.nan, np.float64(0.3),
    np.int32(7), np.float32(0.1), "1.5", "-3", "1e5", "NA", "", "nan",
]  # fmt: skip
ODD_NUMBERS = [
    "1,5", "1.234", "1.234,5", " 4 ", "+3", "12 kg", "5kg", "true", "(5)", "3-", 2**70, math.inf,
    "inf", "1e999", "x", [1],
]  # fmt: skip
ANY_LEVEL = [
    "a", " a", "b", "1", "01", "1.0", 1, 1.0, True, "true", "TRUE", "None", "NA", None, math.nan,
    "z", "0.50", 0.5, np.float32(0.1), np.int64(3), "007", "\u00e9", 1e20, "x\ud800", "-0", -0.0,
]  # fmt: skip
TEXTS = ["two words", "a b c", "", None, "NA", 3, "I'm :-) \u4e2d\u6587"]


def drawn_date(rng):
    clock = [rng.randint(*ends) for ends in ((1, 2200), (1, 12), (1, 28), (0, 23), (0, 59))]
    time = datetime(*clock, rng.randint(0, 59), rng.choice([0, 120_000, 123_456]))
    usual = [time, time.date(), None, time.isoformat(), f"{time}", f"{time.date()}"]
    odd = [
        "NA", f"{time.day:02}.{time.month:02}.{time.year:04}", f"{time.isoformat()}Z", "2024-02-30",
        time.replace(tzinfo=timezone(timedelta(hours=2))), f"{time}"[:16], f"{time}"[:13], "x",
        np.datetime64(time),
    ]  # fmt: skip
    return rng.choice(usual + odd * (rng.random() < 0.3))


def drawn_record(rng, odd):
    numbers = NUMBERS + odd * ODD_NUMBERS
    record = {
        "a": rng.choice(numbers), "b": rng.choice(numbers), "level": rng.choice(ANY_LEVEL),
        "hashed": rng.choice(ANY_LEVEL), "when": drawn_date(rng), "text": rng.choice(TEXTS),
    }  # fmt: skip
    return {name: value for name, value in record.items() if rng.random() < 0.97}


def seen_of(encoder):
    return [(column.seen, column.note) for column in encoder._columns]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(9))
def test_a_record_alone_is_a_table_of_one_row(seed):
    """The same bits, and the same is remembered; what is refused or odd is left to the table."""
    rng = random.Random(seed)
    one, odd, hits = drawn_encoder(rng), rng.random() < 0.3, 0
    for _ in range(40):
        record, learns = drawn_record(rng, odd), rng.random() < 0.7
        labels = pa.array([rng.choice([1.5, 2.0, None])], pa.float64())
        before, other, alone = seen_of(one), one.copy(), one.branch()
        refused = False
        try:
            table = frame_of([{name: record.get(name) for name in one.columns_}])
            of_table = to_arrow(table, one.decimal)
            expected = other.encode(of_table, learns=learns, labels=labels)
        except (InputError, pa.ArrowException):
            refused = True
        found = alone.read_record(record, learns)
        if found is None:
            assert seen_of(one) == before
            one = one if refused else other
            continue
        assert not refused
        rows = alone.next_rows(found, learns, labels)
        if one.words:
            rows, expected = rows.toarray(), expected.toarray()
        assert rows.tobytes() == expected.tobytes()
        assert alone.described() == other.described()
        assert seen_of(alone) == seen_of(other)
        one, hits = alone, hits + 1
    assert hits > 5 or odd or one.missing == "error"


# -- columns of text -------------------------------------------------------------------------------


TEXT = ["Good plot, bad end", "bad plot", None, "", "GOOD good", "the end of the plot"]


def hashed(width):
    vectorizer = HashingVectorizer(n_features=width, ngram_range=(1, 2))
    return vectorizer.transform([text or "" for text in TEXT]).toarray()


def rows(**more):
    return pa.table(
        {"n": [1.0, 0.0, 3.0, 4.0, 5.0, 6.0], "note": TEXT, "k": list("ababab"), **more}
    )


@pytest.mark.parametrize("width", [1, 64, 2**18])
def test_words_are_those_of_scikit_learn(width):
    encoder = kb.TableEncoder({"k": ["a", "b"]}, words={"note": width})
    X = encoder.learn(rows())
    assert issparse(X)
    assert (X.format, X.dtype, X.shape) == ("csr", np.float64, (6, 4 + width))
    np.testing.assert_array_equal(X[:, 4:].toarray(), hashed(width))
    dense = kb.TableEncoder({"k": ["a", "b"]}, drop=["note"]).learn(rows())
    np.testing.assert_array_equal(X[:, :4].toarray(), dense)
    names = encoder.get_feature_names_out()
    assert names[3:5].tolist() == ["k=other", "note#0"]
    assert len(names) == 4 + width


@pytest.mark.parametrize("missing", MISSING)
def test_text_that_is_missing_is_no_gap(missing):
    """It has no words; what else is missing is filled as without words."""
    table = rows(x=[1.0, None, 3.0, None, 5.0, 6.0])
    made = {"categorical": {"k": ["a", "b"]}, "missing": missing}
    X = kb.TableEncoder(**made, words={"note": 8}).learn(table)
    dense = kb.TableEncoder(**made, drop=["note"]).learn(table)
    np.testing.assert_array_equal(X.toarray(), np.hstack([dense, hashed(8)]))


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        ({"words": {"note": 0}}, "words: 'note': expected 1 to 16,777,216 columns"),
        ({"words": ["nots"]}, "unknown column 'nots': did you mean note"),
        ({"words": ["parts"], "drop": ["note"]}, "'parts', row 0 .* text or numbers, found list"),
    ],
)
def test_words_that_are_refused(made, problem):
    with pytest.raises(KernbrookError, match=problem):
        kb.TableEncoder({"k": ["a", "b"]}, **made).fit(rows(parts=[[1]] * 6))
