"""Questions in one file, answers in another."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from kernbrook.errors import DataFileError, InputError
from kernbrook.labels import JSONLines, oracles


@pytest.fixture
def files(tmp_path):
    return tmp_path / "questions", tmp_path / "answers"


@pytest.fixture
def meanwhile(monkeypatch):
    """What others write, a piece at each wait."""
    pieces = []

    def wait(seconds):
        assert 0 < seconds <= oracles.WAIT
        path, text = pieces.pop(0)
        with open(path, "a") as file:
            file.write(text)

    monkeypatch.setattr(oracles.time, "sleep", wait)
    return pieces


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def answer(path, *answers):
    with open(path, "a") as file:
        file.writelines(json.dumps({"id": i, "label": label}) + "\n" for i, label in answers)


def test_a_question_and_its_answer(files, meanwhile):
    questions, answers = files
    oracle = JSONLines(questions, answers)
    for row, seen in (
        (np.array([0.1, -2.0]), [0.1, -2.0]),
        (np.array([[3, 4]]), [3.0, 4.0]),
        (csr_matrix([[0, 0.5, 0, 2]]), {"1": 0.5, "3": 2.0}),
        (csr_array([[0, 7.0]])[0], {"1": 7.0}),
    ):
        number = len(lines(questions)) + 1 if questions.exists() else 1
        meanwhile.append((answers, f'{{"id": {number}, "label": "yes"}}\n'))
        assert oracle(row) == "yes"
        assert lines(questions)[-1] == {"id": number, "x": seen}
    assert not meanwhile


def test_half_a_line_is_waited_for(files, meanwhile):
    questions, answers = files
    text = '{"id": 1, "label": "schön", "by": "me"}\r\n'
    meanwhile += [(answers, text[:i] if i == 0 else text[i - 1 : i]) for i in range(len(text) + 1)]
    assert JSONLines(questions, answers)(np.ones(2)) == "schön"
    assert not meanwhile


@pytest.mark.parametrize("label", [None, "skip"])
def test_a_label_that_cannot_be_had(files, meanwhile, label):
    meanwhile.append((files[1], json.dumps({"id": 1, "label": label}) + "\n"))
    assert JSONLines(*files)(np.ones(2)) is None


def test_answers_in_any_order_the_first_counts(files, meanwhile):
    oracle = JSONLines(*files, timeout=0.0)
    rows = np.arange(6.0).reshape(3, 2)
    assert [oracle(row) for row in rows] == [None] * 3
    answer(files[1], (3, "c"), (1, "a"), (3, "other"), (2, 5))
    again = JSONLines(*files)
    assert [again(row) for row in rows] == ["a", 5, "c"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("yes\n", r"answers, line 3: expected a JSON object, found 'yes'"),
        ('{"label": "y"}\n', "line 3: expected the key 'id', found 'label'"),
        ('{"id": 1}\n', "line 3: expected the key 'label', found 'id'"),
        ('{"%s": 1}\n' % ("n" * 5000), "line 3: expected the key 'id', found 'n{98}…$"),
        ('{"id": "1", "label": 3}\n', "line 3: id: expected an integer, found '1'"),
        ('{"id": 7, "label": 3}\n', "line 3: answers question 7, which is not in .*questions"),
    ],
)
def test_a_bad_line_is_named_and_costs_no_other(files, text, said):
    questions, answers = files
    oracle = JSONLines(questions, answers, timeout=0.0)
    assert oracle(np.ones(1)) is None
    answers.write_bytes(b'\n{"id": 1, "label": "a"}\n' + text.encode("latin-1"))
    for _ in range(2):  # it stays wrong
        with pytest.raises(DataFileError, match=said):
            oracle(np.zeros(1))
    answers.write_text('\n{"id": 1, "label": "a"}\n{"id": 2, "label": "b"}\n')
    oracle._open = dict(oracle._asked)
    assert [oracle(np.ones(1)), oracle(np.zeros(1))] == ["a", "b"]


def test_the_answers_are_read_once(files, meanwhile):
    questions, answers = files
    meanwhile.append((answers, '{"id": 1, "label": "a"}\n'))
    oracle = JSONLines(questions, answers)
    assert oracle(np.ones(1)) == "a"
    with open(answers, "r+") as file:
        file.write("#" * 10)
    meanwhile.append((answers, '{"id": 2, "label": "b"}\n'))
    assert oracle(np.ones(1)) == "b"
    answers.write_text("")
    with pytest.raises(InputError, match="answers has become shorter"):
        oracle(np.ones(1))


def test_a_restart_asks_nothing_twice(files, meanwhile):
    questions, answers = files
    rows = np.array([[1.0], [2.0], [1.0], [1.0]])
    first = JSONLines(questions, answers, timeout=0.0)
    for row in rows[:3]:
        first(row)
    answer(answers, (1, "a"), (2, "b"))
    before = questions.read_bytes()
    again = JSONLines(questions, answers)
    assert [again(row) for row in rows[:2]] == ["a", "b"]
    meanwhile.append((answers, '{"id": 3, "label": "c"}\n'))
    assert again(rows[2]) == "c"  # equal to the first, which has been taken
    assert questions.read_bytes() == before
    meanwhile.append((answers, '{"id": 4, "label": "d"}\n'))
    assert again(rows[3]) == "d"
    assert lines(questions)[3:] == [{"id": 4, "x": [1.0]}]


def test_a_timeout(files):
    oracle = JSONLines(*files, timeout=0.01)
    assert oracle(np.ones(1)) is None
    answer(files[1], (1, "late"))
    assert oracle(np.ones(1)) is None  # another question, about an equal row
    assert [line["id"] for line in lines(files[0])] == [1, 2]


def test_numbers_of_ones_own(files):
    questions, answers = files
    oracle = JSONLines(questions, answers, timeout=0.0)
    oracle.ask(17, {"a": 1.0}, predicted="ü", votes={"b": 0.5})
    assert lines(questions) == [{"id": 17, "x": {"a": 1.0}, "predicted": "ü", "votes": {"b": 0.5}}]
    with pytest.raises(InputError, match="question 17 is there already, about another row"):
        oracle.ask(17, {"a": 2.0})
    answer(answers, (17, "four"))

    def read(label):
        raise InputError(f"expected a number, found {label!r}")

    for _ in range(2):
        with pytest.raises(DataFileError, match="answers, line 1: expected a number, found 'four'"):
            oracle.ask(17, {"a": 1.0}, read)
    assert oracle.ask(17, {"a": 1.0}, len) == 4
    assert len(lines(questions)) == 1


def test_what_is_refused(files, tmp_path):
    questions, answers = files
    with pytest.raises(InputError, match="expected two files"):
        JSONLines(questions, tmp_path / "." / "questions")
    with pytest.raises(InputError, match="there is no folder"):
        JSONLines(tmp_path / "absent" / "questions", answers)
    for timeout in (-1, float("nan")):
        with pytest.raises(InputError, match="timeout: expected None or seconds from 0"):
            JSONLines(questions, answers, timeout=timeout)
    for text, said in (
        ('{"id": 1}\n', "questions, line 1: expected the key 'x', found 'id'"),
        ('{"id": 1, "x": [1]}\nx\n', "questions, line 2: expected a JSON object"),
    ):
        questions.write_text(text)
        with pytest.raises(DataFileError, match=said):
            JSONLines(questions, answers)
