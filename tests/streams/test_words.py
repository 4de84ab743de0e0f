"""Columns of text: words and pairs of words, hashed, beside numbers and levels."""

import json

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import issparse
from sklearn.feature_extraction.text import HashingVectorizer

import kernbrook as kb
from kernbrook.errors import KernbrookError
from kernbrook.streams import open_stream

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


def test_two_columns_of_words_and_nothing_else():
    table = pa.table({"a": TEXT, "b": TEXT[::-1]})
    X = kb.TableEncoder(words={"a": 32, "b": 16}).learn(table)
    assert X.shape == (6, 48)
    np.testing.assert_array_equal(X[:, :32].toarray(), hashed(32))
    np.testing.assert_array_equal(X[:, 32:].toarray(), hashed(16)[::-1])
    assert kb.TableEncoder(words=["a", "b"]).fit(table).transform(table).shape == (6, 2**19)


@pytest.mark.parametrize("missing", ["mean", "last", "indicator"])
def test_text_that_is_missing_is_no_gap(missing):
    """It has no words; what else is missing is filled as without words."""
    table = rows(x=[1.0, None, 3.0, None, 5.0, 6.0])
    made = {"categorical": {"k": ["a", "b"]}, "missing": missing}
    X = kb.TableEncoder(**made, words={"note": 8}).learn(table)
    dense = kb.TableEncoder(**made, drop=["note"]).learn(table)
    np.testing.assert_array_equal(X.toarray(), np.hstack([dense, hashed(8)]))


def test_a_file_of_rows(write, assert_chunks_agree):
    lines = [f'{i},"{TEXT[i % 6] or ""}",{"xy"[i % 2]}' for i in range(3000)]
    path = write("t.csv", "n,note,label\n" + "\n".join(lines) + "\n")
    stream = open_stream(path, encoder=kb.TableEncoder(words={"note": 1000}))
    X, y = stream.read()
    assert X.shape == (3000, 1001)
    np.testing.assert_array_equal(X[:6, 1:].toarray(), hashed(1000))
    assert y[:2].tolist() == ["x", "y"]
    assert_chunks_agree(stream, (999,))


def test_described():
    encoder = kb.TableEncoder(words={"note": 64}, drop=["k"], missing="mean").fit(rows())
    described = json.loads(json.dumps(encoder.described()))
    assert described["words"] == {"note": 64}
    again = kb.TableEncoder.from_description(described)
    assert (again.transform(rows()) != encoder.transform(rows())).nnz == 0


def test_a_description_of_before():
    """Models of 0.1 know no words and no lags."""
    described = kb.TableEncoder({"k": ["a", "b"]}, drop=["note"]).fit(rows()).described()
    for name in ("words", "lags", "delay", "every", "label"):
        del described[name]
    assert kb.TableEncoder.from_description(described).transform(rows()).shape == (6, 4)


def test_a_model_learns_words(tmp_path):
    """Trained on a file, kept in a file, and asked about a frame."""
    rng = np.random.default_rng(0)
    words = np.array(["plot", "end", "scene", "actor", "story", "film", "the", "a", "of"])
    notes = [" ".join(rng.choice(words, 6)) for _ in range(400)]
    labels = ["good" if "plot" in note else "bad" for note in notes]
    table = pa.table({"note": notes, "label": labels})
    stream = open_stream(table, encoder=kb.TableEncoder(words={"note": 4096}))
    model = kb.OnlineMKClassifier([kb.Linear()], kb.Perceptron(), random_state=0, scaling=None)
    kb.evaluation.train(stream, model, tmp_path / "m")
    (said, _), *_ = kb.evaluation.predict_stream(tmp_path / "m", table.drop_columns(["label"]))
    assert (said == np.array(labels)).mean() > 0.9


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        ({"words": 5}, "words: expected names of columns, got 5"),
        ({"words": {"note": 0}}, "words: 'note': expected 1 to 16,777,216 columns"),
        ({"words": {"note": "many"}}, "words: 'note': expected 1 to 16,777,216 columns"),
        ({"words": {"note": True}}, "words: 'note': expected 1 to 16,777,216 columns"),
        ({"words": ["nots"]}, "unknown column 'nots': did you mean note"),
        ({"words": ["note"], "drop": ["note"]}, "the column 'note' is in two of them"),
        (
            {"words": ["parts"], "drop": ["note"]},
            "'parts', row 0 .*: expected text or numbers, found list",
        ),
    ],
)
def test_what_is_refused(made, problem):
    with pytest.raises(KernbrookError, match=problem):
        kb.TableEncoder({"k": ["a", "b"]}, **made).fit(rows(parts=[[1]] * 6))
