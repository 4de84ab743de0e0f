"""Model files with a right checksum that ask for much memory, or are beyond their ranges."""

import tracemalloc

import hard_streams
import numpy as np
import plain
import pytest
from estimators.test_model_files import at, put, rewrite, say

import kernbrook as kb
from kernbrook.errors import InputError, ModelFileError

X, Y = hard_streams.gaussian_clouds(160, 4)
GAUSSIANS = [kb.Gaussian(sigma=1.5), kb.Gaussian(gamma=0.1)]


def both(*changes):
    def change(model, tensors, header):
        for one in changes:
            one(model, tensors, header)

    return change


def assert_refused(model, change, message, tmp_path):
    kb.save(model.fit(X, Y), tmp_path / "model")
    kb.load(tmp_path / "model")  # it is whole
    rewrite(tmp_path / "model", change)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=message):
            kb.load(tmp_path / "model")
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()


def pegasos(**parameters):
    return plain.classifier(GAUSSIANS, kb.Pegasos(**parameters), random_state=0)


def wide(width):
    return both(say("run", "width", value=width), say("fitted", "n_features_in_", value=width))


def of_learner(kind, **changes):
    def change(model, tensors, header):
        model["parameters"]["learner"][f"learners.{kind}"].update(changes)

    return change


def of_map(kind, **changes):
    def change(model, tensors, header):
        learner = next(iter(model["parameters"]["learner"].values()))
        learner["features"][f"features.{kind}"].update(changes)

    return change


def labels(model, tensors, header):
    values = {"dtype": "<U999999", "values": [str(i) for i in range(2000)]}
    model["fitted"]["classes_"] = {"labels": values}
    del tensors["classes_"]


POLYNOMIAL = [{"kernels.Polynomial": {"degree": 2**62, "offset": 0.0}}]


def on(features, learner=kb.GradientDescent):
    return learner(features=features)


ASKING = [
    (kb.Perceptron(), labels, "2,000 of type <U999999 take more than a file holds"),
    (kb.GradientDescent(step=0.1), wide(10**7), r"frequencies of shape \(50, 10000000\)"),
    (
        on(kb.RandomFeatures()),
        of_map("RandomFeatures", n_components=10**8),
        r"maps: expected frequencies of shape \(100000000, 4\) for exp.*, found none",
    ),
    (kb.BPAS(budget=9), of_learner("BPAS", budget=10**8), r"no slots are of the size that BPAS\("),
    (
        kb.Pegasos(),
        put("stores.0.place", lambda a: np.zeros((0, 2**40), a.dtype)),
        "stores.0.place: exp",
    ),
    (kb.Perceptron(), say("parameters", "kernels", value=POLYNOMIAL), "from 1 to 1,000"),
]


@pytest.mark.parametrize("number", range(len(ASKING)))
def test_files_that_ask_for_much(number, tmp_path):
    """Refused before that much is taken, drawn or computed."""
    learner, change, message = ASKING[number]
    model = plain.classifier(GAUSSIANS, learner, random_state=0)
    assert_refused(model, change, message, tmp_path)


def test_a_matrix_of_the_features_that_is_too_large(tmp_path):
    """The frequencies are in the file, 512 kB of them, and their matrix of 8 GB is not."""
    change = both(
        of_map("RandomFeatures", n_components=16_000),
        put("stores.0.maps.0.frequencies", lambda a: np.zeros((16_000, 4))),
        put("stores.0.maps.1.frequencies", lambda a: np.zeros((16_000, 4))),
        put("stores.0.theta", lambda a: np.zeros(64_000)),
    )
    learner = on(kb.RandomFeatures(), kb.Ridge)
    model = plain.classifier(GAUSSIANS, learner, random_state=0)
    assert_refused(model, change, r"expected extra of 1024832000 numbers", tmp_path)


def test_more_memory_than_there_is(tmp_path, monkeypatch):
    kb.save(kb.recipes.make("omkc-dd").fit(X, Y), tmp_path / "model")

    def none_left(*_):
        raise MemoryError

    class PanicException(BaseException):
        """What safetensors raises, too."""

    def panics(*_, **named):
        raise PanicException("PyObject pointer is null")

    PanicException.__module__ = "pyo3_runtime"
    for place, fails in (
        ("estimators.base.make_model", none_left),
        ("persistence.saving.safe_open", panics),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(f"kernbrook.{place}", fails)
            with pytest.raises(ModelFileError, match="model: it asks for more memory than there"):
                kb.load(tmp_path / "model")
    monkeypatch.setattr("kernbrook.persistence.saving.as_bytes", panics)
    with pytest.raises(MemoryError):
        kb.save(kb.recipes.make("omkc-dd"), tmp_path / "other")


def test_labels_that_take_much(tmp_path, monkeypatch):
    """As an array of text; a model of such labels has them as objects when it is loaded."""
    monkeypatch.setattr("kernbrook.persistence.encoding.LARGEST_LABELS", 1000)
    for few in (["b"], [str(i) for i in range(40)]):
        names = np.array([*few, "a" * 200])
        kb.save(kb.recipes.make("majority").fit(np.zeros((len(names), 1)), names), tmp_path / "m")
        classes = kb.load(tmp_path / "m").classes_
        assert (classes.dtype, classes.tolist()) == (object, sorted(names.tolist()))


# -- what is beyond its range ------------------------------------------------------------------


def classes_of(dtype, *values):
    def change(model, tensors, header):
        tensors.pop("classes_", None)
        model["fitted"]["classes_"] = {"labels": {"dtype": dtype, "values": list(values)}}

    return change


def machine(**parameters):
    return kb.OnlineMKClassifier(GAUSSIANS, kb.Perceptron(), random_state=0, **parameters)


def linear(**others):
    return plain.classifier([kb.Linear(), *GAUSSIANS], None, random_state=0, **others)


ONE_SLOT_TOO_MANY = both(  # Pegasos writes an example into a free slot: here there is none
    at("stores.0.filled", slice(None), 11),
    put("stores.0.place", lambda a: a.clip(max=9)),
    put("stores.0.order", lambda a: np.broadcast_to(np.arange(a.shape[1]), a.shape)),
)
OF_NUMBERS = plain.regressor(GAUSSIANS, center=True, random_state=0)
HAVING = [
    (pegasos(budget=10, upkeep="random"), ONE_SLOT_TOO_MANY, "stores.0.filled: expected 0 to 10"),
    (pegasos(budget=9), at("stores.0.scale", 0, 0.0), "stores.0.scale: expected numbers above 0"),
    (
        plain.classifier(GAUSSIANS, kb.Projectron(budget=9)),
        at("stores.0.order", (1, 0), 99),
        "stores.0.order: expected the slots",
    ),
    (linear(combiner=kb.Stack()), at("calibration.vote", 1, 0.1), "calibration.slope, vote, err"),
    (linear(), at("progress.log_weights", 0, np.nan), "progress.log_weights: expected 0"),
    (linear(scaling="moments"), at("scaler.0.seen", 0, -1), "scaler.0.seen: expected numbers fro"),
    (linear(), at("progress.counters", 1, 2**63 - 1), "progress.counters: no state"),
    (
        pegasos(budget=9),
        put("stores.0.place", lambda a: a[:, ::-1]),
        "stores.0.place: expected each slot's own point",
    ),
    (
        plain.classifier(GAUSSIANS, kb.GradientDescent(step=0.1, features=None, budget=9)),
        of_learner("GradientDescent", budget=2**63),
        "budget",
    ),
    (OF_NUMBERS, say("fitted", "offset_", value="no"), "offset_: expected a number of size below"),
    (OF_NUMBERS, at("calibration.seen", 0, 2**63 - 1), "calibration.seen: expected numbers from 0"),
    (machine(), put("classes_", lambda a: a[::-1]), "classes_: .*each once and sorted: got .1.0,"),
    (machine(), put("classes_", lambda a: a + 0.5), "classes_: .* Unknown label type: continuous"),
    (machine(), classes_of("object", 1, "a"), "classes_: expected labels of one kind, .* int and"),
    (machine(), classes_of("<U1", "ab", "ac"), "labels: 'ab' is longer than <U1"),
    (machine(), say("parameters", "missing_label", value=[1]), "missing_label: expected a number"),
    (machine(), say("parameters", "threshold", value="x"), "threshold: expected None"),
    (machine(), say("fitted", "n" * 5000, value=1), "model: 'n{998}…$"),
    (machine(), say("run", value=None), "it has learned something, but has no state"),
]


@pytest.mark.parametrize("number", range(len(HAVING)))
def test_odd_states(number, tmp_path):
    """Refused by the field's name, where going on would end in an error from the depths."""
    model, change, message = HAVING[number]
    assert_refused(model, change, message, tmp_path)


def test_rows_that_were_all_skipped(tmp_path):
    """A model that has left out rows, and has learned none, is kept."""
    model = machine(on_bad_rows="skip").partial_fit([[np.nan] * 4], [1])
    kb.save(model, tmp_path / "model")
    loaded = kb.load(tmp_path / "model")
    assert loaded.partial_fit([[np.inf] * 4, *X], [1, *Y]).n_rows_skipped_ == 2


def test_parameters_that_could_not_be_read_again(tmp_path):
    """Set after learning: refused on saving, not on loading."""
    model = machine().fit(X, Y).set_params(threshold=[[0.0]])
    with pytest.raises(InputError, match="threshold"):
        kb.save(model, tmp_path / "model")
    voted = kb.VotedKernelClassifier(GAUSSIANS).fit(X, Y).set_params(tol="x")
    with pytest.raises(InputError, match="VotedKernelClassifier: tol must be"):
        kb.save(voted, tmp_path / "model")
    assert not (tmp_path / "model").exists()
