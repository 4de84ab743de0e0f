"""Labelling: which labels are asked for, what is learned, and what a kill may not cost."""

import shutil

import numpy as np
import plain
import pytest
from scipy.sparse import csr_array
from sittings import answers_of

import kernbrook as kb
from kernbrook.errors import DataFileError, InputError
from kernbrook.evaluation import labelling
from kernbrook.evaluation import training as sessions
from kernbrook.evaluation.answers import AnswerLog, Begun, answers_beside
from kernbrook.evaluation.checkpoint import load_checkpoint, save_checkpoint
from kernbrook.evaluation.classes import named_classes
from kernbrook.evaluation.labelling import label
from kernbrook.evaluation.training import Quit, Undo

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3)).round(3)
Y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no")
FIRST = X[:50]
CLASSES = ["yes", "no"]


def machine(**changes):
    return plain.classifier(**{"labels": kb.MarginSampling(), "random_state": 3, **changes})


def regressor():
    return plain.regressor([kb.Gaussian(sigma=1.0)], labels=kb.RandomLabels(0.5), random_state=3)


def stream(rows=X):
    return kb.open_stream((rows, np.zeros(rows.shape[0])))


class Person:
    """Answers with the truth; stops, or is struck down, before or after some answers."""

    def __init__(self, truth=Y, skip=(), quit_at=None):
        self.truth, self.skip, self.quit_at = truth, skip, quit_at
        self.rows = []

    def __call__(self, question, state):
        if len(self.rows) == self.quit_at:
            raise Quit
        self.rows.append(question.row)
        assert len(set(map(len, question.entries()))) == 1
        return None if question.row in self.skip else self.truth[question.row - 1]


def reopened(path, fresh=machine):
    """The model as the command has it: from the file, else new."""
    if not path.exists():
        return {"model": fresh()}
    return {"model": load_checkpoint(path)[0]}


def go(path, person, rows=X, fresh=machine, classes=CLASSES, **more):
    return label(
        stream(rows), path=path, ask=person, classes=classes, **reopened(path, fresh), **more
    )


def standing(path):
    """The answers that stand, of the lines in the file alone."""
    answers = {}
    for line in answers_of(path):
        if "undo" in line:
            assert line["undo"] == max(answers)
            del answers[line["undo"]]
        else:
            assert line["row"] > max(answers, default=0)
            answers[line["row"]] = line
    return list(answers.values())


# -- what is asked, and what is learned -------------------------------------------------------


@pytest.mark.thinned
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"labels": kb.Disagreement(0.1, window=3), "combiner": kb.Hedge(loss="hinge")},
        {"learner": kb.RBP(budget=5)},
        {"learner": kb.Ridge(), "combiner": kb.Hedge(), "kernels": [kb.Gaussian(sigma=1.0)]},
    ],
    ids=str,
)
@pytest.mark.parametrize("sparse", [False, True])
def test_the_model_is_the_one_that_hidden_labels_give(tmp_path, changes, sparse):
    rows = csr_array(np.where(np.abs(X) > 0.7, X, 0)) if sparse else X
    expected = machine(**changes)
    predictions, asked = expected.learn(rows, Y)
    person = Person()
    state = go(tmp_path / "m", person, rows, fresh=lambda: machine(**changes))
    assert person.rows == (np.flatnonzero(asked) + 1).tolist()
    assert (state.rows, state.asked, state.saved) == (150, asked.sum(), (~asked).sum())
    wrong = (predictions != Y)[asked]
    assert (state.judged, state.loss) == (asked.sum() - 1, wrong[1:].sum())
    found = kb.load(tmp_path / "m").model
    for name in ("n_rounds_", "labels_asked_", "n_support_stored_"):
        assert getattr(found, name) == getattr(expected, name)
    np.testing.assert_array_equal(found.decision_function(rows), expected.decision_function(rows))
    np.testing.assert_array_equal(found.expert_weights_, expected.expert_weights_)


def test_skipped_rows(tmp_path):
    """A skip is a label that cannot be had: the model asks again soon, and learns nothing."""
    policy = kb.Disagreement(0.0, window=1)
    person = Person(skip=range(10, 30))
    state = go(tmp_path / "m", person, fresh=lambda: machine(labels=policy))
    expected = machine(labels=policy)

    def oracle(x):
        row = int(np.argmax((x == X).all(axis=1)))
        return None if row in range(9, 29) else Y[row]

    expected.learn(X[:29], oracle, classes=CLASSES)
    expected.learn(X[29:], Y[29:])
    found = kb.load(tmp_path / "m").model
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))
    assert state.skipped == len(set(person.rows) & set(range(10, 30))) >= 19
    assert found.labels_asked_ == state.given == len(person.rows) - state.skipped
    lines = answers_of(tmp_path / "m")
    assert [line["row"] for line in lines] == person.rows
    assert sum(line["label"] is None for line in lines) == state.skipped


def test_numbers(tmp_path):
    y, seen = np.sin(X[:, 0]) + 5, []
    expected = regressor()
    predictions, asked = expected.learn(X, y)

    def person(question, state):
        seen.append((question.predicted, question.votes))
        return y[question.row - 1]

    state = go(tmp_path / "m", person, fresh=regressor, classes=None)
    rows = np.flatnonzero(asked)
    assert [line["row"] for line in answers_of(tmp_path / "m")] == (rows + 1).tolist()
    assert seen[0] == (None, None)
    np.testing.assert_allclose([told for told, _ in seen[1:]], predictions[rows[1:]], rtol=1e-9)
    assert state.loss == pytest.approx(((predictions - y)[rows[1:]] ** 2).sum())
    np.testing.assert_array_equal(kb.load(tmp_path / "m").model.predict(X), expected.predict(X))


def test_what_a_question_says(tmp_path):
    asked = []

    def person(question, state):
        model, row = state.model, question.row
        np.testing.assert_array_equal(question.x, X[row - 1 : row])
        np.testing.assert_allclose(question.means, X[:row].mean(axis=0))
        np.testing.assert_allclose(question.deviations, X[:row].std(axis=0), atol=1e-12)
        columns, values = question.entries()
        assert (columns.tolist(), values.tolist()) == ([0, 1, 2], X[row - 1].tolist())
        assert (state.rows, state.asked) == (row - 1, len(asked))
        if asked:
            assert question.predicted == model.predict(question.x)[0]
            vote = model.decision_function(question.x)[0]
            assert question.votes.tolist() == [-vote, vote]
            np.testing.assert_array_equal(question.chances, model.predict_proba(question.x)[0])
        else:
            assert question.predicted is question.votes is question.chances is None
        asked.append(row)
        return Y[row - 1]

    go(tmp_path / "m", person)
    assert len(asked) > 20


# -- stopped, and going on --------------------------------------------------------------------


class Struck(BaseException):
    """A kill: nothing that comes after it is done."""


@pytest.mark.thinned
@pytest.mark.parametrize(
    ("moment", "every"),
    [
        ("asked", 0.0), ("answered", 1e9), ("learned", 0.0), ("saving", 0.0), ("saved", 0.0),
        ("undone", 0.0), ("undone", 1e9),
    ],
)  # fmt: skip
@pytest.mark.parametrize("slips", [False, True])
def test_killed_at_every_answer(tmp_path, monkeypatch, moment, every, slips):
    """No answer is lost, none comes back, and the last file is that of one quiet run.

    slips : every fourth answer is taken back, and given again
    """
    path, known, asked, strikes = tmp_path / "m", [], [], 0
    append, take_back = labelling.AnswerLog.append, labelling.AnswerLog.take_back
    truth, write = Person(skip=(9, 40)), save_checkpoint
    go(tmp_path / "whole", Person(skip=(9, 40)), FIRST)
    left = 5

    def strike(now):
        nonlocal left
        left -= now == moment
        if left == 0 and now == moment:
            raise Struck

    def appended(self, answer):
        append(self, answer)
        known.append(answer.row)
        strike("answered")

    def taken_back(self):
        take_back(self)
        known.pop()
        strike("undone")

    def saved(*arguments):
        strike("saving")
        write(*arguments)
        strike("saved")

    monkeypatch.setattr(labelling.AnswerLog, "append", appended)
    monkeypatch.setattr(labelling.AnswerLog, "take_back", taken_back)
    monkeypatch.setattr(sessions, "save_checkpoint", saved)

    def person(question, state):
        strike("asked")
        assert [line["row"] for line in standing(path)] == known, "a row is lost, or comes back"
        asked.append(question.row)
        if slips and state.last is not None and len(asked) % 4 == 0:
            raise Undo
        return truth(question, state)

    for _ in range(200):
        left = {"undone": 1, "asked": 2, "answered": 2}.get(moment, 5)
        try:
            go(path, person, FIRST, every=every, progress=lambda state: strike("learned"))
            break
        except Struck:
            strikes += 1
    assert strikes > 3 or (moment, slips) == ("undone", False)
    assert slips or asked == known
    assert path.read_bytes() == (tmp_path / "whole").read_bytes()
    assert standing(path) == standing(tmp_path / "whole")


def test_a_trained_model_goes_on(tmp_path):
    from kernbrook.evaluation.training import train

    path = tmp_path / "m"
    train(kb.open_stream((X[:50], Y[:50])), machine(), path)
    expected = kb.load(path).model
    person = Person(truth=Y[50:], quit_at=4)
    go(path, person, rows=X[50:])
    state = go(path, Person(truth=Y[50:]), rows=X[50:])
    _, asked = expected.learn(X[50:], Y[50:])
    assert (state.rows, state.asked) == (100, asked.sum())
    found, reached = load_checkpoint(path)
    assert (reached.rows, reached.finished) == (150, True)
    found = found.model
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))
    with pytest.raises(InputError, match="comes from other data"):
        train(kb.open_stream((X[:50], Y[:50])), machine(), path, resume=True)


# -- taken back -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "every"),
    [({}, 1e9), ({"learner": kb.RBP(budget=5), "labels": kb.LabelBudget(0.5)}, 0.01)],
    ids=str,
)
def test_undone(tmp_path, changes, every):
    """The model is the one that has never had the answers taken back, to the byte.

    Every second answer is wrong, which is noticed at the next question, or at the end.
    """
    met = []

    def fresh():
        return machine(**changes)

    def look(state):
        if state.last is not None and state.last.label != Y[state.last.row - 1]:
            raise Undo

    def person(question, state):
        look(state)
        right, first = Y[question.row - 1], question.row not in met
        met.extend([question.row] * first)
        return (None if right == "no" else "no") if first and len(met) % 2 else right

    go(tmp_path / "whole", Person(), X[:90], fresh)
    state = go(tmp_path / "m", person, X[:90], fresh, end=look, every=every)
    assert state.finished
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sum("undo" in line for line in answers_of(tmp_path / "m")) == (len(met) + 1) // 2 > 9
    assert standing(tmp_path / "m") == standing(tmp_path / "whole")
    again = go(tmp_path / "m", Person(truth=[]), X[:90], fresh)
    assert (again.given, again.loss, again.judged) == (state.given, state.loss, state.judged)


def test_the_last_answer_alone_is_taken_back(tmp_path):
    """Of the same call; what was taken back before stays so where the answers are read again."""
    path, asked = tmp_path / "m", []

    def twice(question, state):
        if len(asked) in (5, 6):
            asked.append(question.row)
            raise Undo
        asked.append(question.row)
        return Y[question.row - 1]

    with pytest.raises(InputError, match="there is no answer to take back"):
        go(path, twice)
    assert asked[4] == asked[6]
    before = path.read_bytes(), answers_beside(path).read_bytes()
    asked[:] = range(5)
    with pytest.raises(InputError, match="there is no answer to take back"):
        go(path, twice)
    assert (path.read_bytes(), answers_beside(path).read_bytes()) == before
    go(path, Person())
    go(tmp_path / "whole", Person())
    assert path.read_bytes() == (tmp_path / "whole").read_bytes()


# -- what is refused --------------------------------------------------------------------------


def test_other_data_are_refused(tmp_path):
    path = tmp_path / "m"
    person = Person()

    def killed(question, state):
        if question.row > 100:
            raise Struck
        return person(question, state)

    assert go(path, Person(quit_at=10)).rows < 60
    with pytest.raises(Struck):
        go(path, killed)
    reached, last = load_checkpoint(path)[1].rows, person.rows[-1]
    assert reached < last
    before = path.read_bytes(), answers_beside(path).read_bytes()
    for row, said in (
        (reached - 1, f"the first {reached} rows here are not those that it has seen"),
        (reached, f"the rows up to row {person.rows[0]} are not those that were answered"),
    ):
        other = X.copy()
        other[row, 1] += 0.001
        with pytest.raises(InputError, match=f"does not go with the answers in .*: {said}"):
            go(path, killed, rows=other)
    for rows, said in (
        (reached - 1, f"it has seen {reached} rows, here are {reached - 1}"),
        (last - 1, f"row {last} was answered, here are {last - 1} rows"),
    ):
        with pytest.raises(InputError, match=said):
            go(path, killed, rows=X[:rows])
    assert before == (path.read_bytes(), answers_beside(path).read_bytes())
    assert go(path, Person()).finished


def test_other_models_are_refused(tmp_path):
    path, other = tmp_path / "m", tmp_path / "other"
    go(path, Person(quit_at=10))
    go(other, Person(quit_at=12, skip=(2,)), fresh=lambda: machine(labels="all"))
    answers, text = answers_beside(path), answers_beside(path).read_text()
    mine = path.read_bytes()

    def refused(said):
        with pytest.raises(InputError, match=said):
            go(path, Person())
        assert answers.read_text() == text

    shutil.copy(other, path)
    refused("it has learned 11 labels, 6 are there")
    path.write_bytes(mine)
    kb.save(kb.load(path).partial_fit(X, Y), path)
    refused("it has learned 160 labels, 10 are there")
    path.write_bytes(mine)
    kb.save(kb.load(path).model, path)
    refused("m does not go with the answers in .*: something else has written the model since")
    kb.save(machine().fit(X, Y), path)
    answers.write_text(text.replace('"rounds": 0', '"rounds": 151'))
    text = answers.read_text()
    refused("the model was not the same when they were given")
    path.unlink()
    refused("m is not there, but .*m.labels.jsonl is: move it away")
    answers.unlink()
    assert go(path, Person()).finished


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("oops", "line 3: expected a JSON object, found 'oops'"),
        ('{"row": 3, "label": "maybe", "predicted": "no", "digest": ""}', "line 3: expected one"),
        ('{"row": 3, "label": "yes", "predicted": ["no"], "digest": ""}', "line 3: expected one"),
        ('{"row": 0, "label": "yes", "predicted": "no", "digest": ""}', "line 3: row 0 after row"),
        ('{"undo": true}', "line 3: undo of row True after row 1"),
        ('{"undo": 0}', "line 3: undo of row 0 after row 1"),
        ('{"undo": 1, "row": 1}', "line 3: not a line"),
    ],
)
def test_bad_lines_are_named(tmp_path, line, said):
    path = tmp_path / "m"
    go(path, Person(quit_at=10))
    answers = answers_beside(path)
    kept = answers.read_text().splitlines()
    answers.write_text("\n".join([*kept[:2], line, *kept[2:]]) + "\n")
    with pytest.raises(DataFileError, match=f"m.labels.jsonl, {said}"):
        go(path, Person())
    for first in ("{}", '{"rounds": 1, "labels": "0", "digest": "", "classes": null}'):
        answers.write_text("\n".join([first, *kept[1:]]) + "\n")
        with pytest.raises(DataFileError, match=r"m.labels.jsonl, line 1: not a line"):
            go(path, Person())


def test_what_cannot_be_labelled(tmp_path):
    path = tmp_path / "m"
    for fresh, classes, said in (
        (lambda: kb.recipes.make("majority"), ["a", "b"], "TrivialClassifier does not ask"),
        (machine, None, "expected all labels"),
        (machine, ["a", "a"], "expected two labels or more, got a"),
        (regressor, ["1", "2"], "OnlineMKRegressor predicts numbers; give none"),
    ):
        with pytest.raises(InputError, match=said):
            go(path, Person(), fresh=fresh, classes=classes)
        assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match=r"expected a stream, got 'a\.csv'"):
        label("a.csv", machine(), tmp_path / "m", Person())
    with pytest.raises(InputError, match="there is no folder"):
        go(tmp_path / "absent" / "m", Person())
    go(path, Person(quit_at=3))
    with pytest.raises(InputError, match="classes were no, yes and are no, well"):
        go(path, Person(), classes=["well", "no"])


# -- the parts --------------------------------------------------------------------------------


@pytest.mark.parametrize("predicted", ['"x"', "NaN"])
def test_what_was_predicted_of_a_number(tmp_path, predicted):
    """Its squared error is counted again where a labelling goes on."""
    begun = '{"rounds": 0, "labels": 0, "digest": "", "classes": null}'
    line = f'{{"row": 1, "label": 2.0, "predicted": {predicted}, "digest": ""}}'
    (tmp_path / "log").write_text(f"{begun}\n{line}\n")
    with pytest.raises(DataFileError, match="line 2"):
        AnswerLog(tmp_path / "log", Begun(0, 0, "", None))


def test_answers_that_the_model_does_not_want(tmp_path):
    """The model was taken back to an older one, of other draws."""
    path = tmp_path / "m"
    go(path, Person())
    for seed in (4, 5):
        kb.save(machine(random_state=seed), path)
        with pytest.raises(
            InputError, match=r"(does not want its label|which has no answer)\. Give"
        ):
            go(path, Person())


def test_names_of_classes():
    for names, expected in (
        (["10", "9"], [9, 10]),
        (["1", "0.5"], [0.5, 1.0]),
        (["1", "9" * 400, "x"], ["1", "9" * 400, "x"]),
    ):
        assert named_classes(machine(), names).tolist() == expected
    for large in ("9" * 5000, 10**400, str(2**53 + 1), "nan"):
        with pytest.raises(InputError, match=r"words, or numbers below 2\^53, got 1, ") as told:
            named_classes(machine(), ["1", large])
        assert len(str(told.value)) < 200
    assert named_classes(regressor(), None) is None
    assert named_classes(machine().fit(X, Y), None).tolist() == ["no", "yes"]
