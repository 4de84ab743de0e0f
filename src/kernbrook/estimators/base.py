"""What estimators share: the checks of what users give, what a file holds, and the machine itself.

The composed machine, `OnlineMachine`, is all of `OnlineMKClassifier` and `OnlineMKRegressor` but
what a label is, which these two say.
"""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing, check_array, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from kernbrook.checks import (
    SMALLEST,
    Flag,
    OneOf,
    Or,
    Other,
    Seed,
    Such,
    Whole,
    ask_for,
    check,
    counted,
    parameters,
    placed,
    real,
    row_of_chunk,
    shown,
)
from kernbrook.engine.blocks import Views, as_targets, rows_of, slices, views_of
from kernbrook.engine.deciding import Verdicts, decide, would_ask
from kernbrook.engine.learning import Answer, Examples, learn_block
from kernbrook.engine.model import Model
from kernbrook.engine.pool import Expert, experts_of, parts_of_pool
from kernbrook.engine.progress import MOST_ROUNDS
from kernbrook.engine.scalers import LARGEST_FILLED, Scalers
from kernbrook.engine.session import RowSession
from kernbrook.engine.stores.base import Setting
from kernbrook.engine.stores.in_rows import MOST_TOGETHER
from kernbrook.engine.stores.linear import Linear, recipe_of
from kernbrook.engine.widening import widen
from kernbrook.errors import InputError, KernbrookWarning, NonFiniteError
from kernbrook.estimators.labels import (
    as_labels,
    check_as_many,
    check_missing,
    check_present,
    is_empty,
    without,
)
from kernbrook.estimators.merge import merged
from kernbrook.estimators.pool import (
    Pool,
    default_pool,
    goes_on,
    is_auto,
    learns_itself,
    make_model,
    pool_of,
    shared_kernels,
)
from kernbrook.estimators.tasks import Outputs, joined, waiting
from kernbrook.gram.arrays import Flags, Floats, Ints, as_rows, canonical
from kernbrook.gram.rows import Rows, keys_of
from kernbrook.kernels import Kernel
from kernbrook.kernels.dictionaries import check_vectors, of_vectors
from kernbrook.numerics.scaling import METHODS, NO_LEAP
from kernbrook.plain_values import is_count
from kernbrook.snapshots import Snapshots
from kernbrook.telling import calls_inside
from kernbrook.turns import changes, held, in_turn

LARGEST_WEIGHT = 1e100
_MANY = 2**22  # numbers that each label goes over: some milliseconds
_SUCH_AS = {  # of the parts that have parameters
    "learner": "BPAS()",
    "combiner": "Hedge()",
    "selection": "Selection()",
    "labels": "LabelBudget()",
}
_TEXT = re.compile(r"could not convert string|dtype='numeric' is not compatible with arrays of")
_MOMENT = re.compile(r"not '(Timestamp|Timedelta|Period|datetime\.\w+)'")


# -- what users give: each checked, with errors in words -------------------------------------------


def checked(X: Any, owner: Any = None, reset: bool = False, y: Any = None) -> Any:
    """X as a C-ordered float64 array or a canonical CSR matrix, by scikit-learn's checks; and y.

    owner : the estimator, whose number and names of features X has, or which learns them: `reset`
    y : labels, which are then checked too, and given back with X
    """
    form: Any = {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}
    with in_words(X):
        if owner is None:
            return canonical(check_array(as_rows(X), **form))
        if y is None:
            return canonical(validate_data(owner, as_rows(X), reset=reset, **form))
        form["y_numeric"] = owner._of_numbers
        X, y = validate_data(owner, as_rows(X), y, reset=reset, **form)
        return canonical(X), y


@contextmanager
def in_words(X: Any) -> Iterator[None]:
    """InputError with a way out where features, or labels, are text, moments or too large.

    They are what scikit-learn's checks leave to NumPy.
    """
    try:
        yield
    except OverflowError:
        raise InputError(
            f"{'y' if _are_numbers(X) else 'X'}: expected numbers of size below 1e154, found one "
            "that is too large for a float"
        ) from None
    except (TypeError, ValueError) as error:
        kind = "text" if _TEXT.match(str(error)) else "moments"
        if kind == "moments" and not _MOMENT.search(str(error)):
            raise
        message = " ".join(str(error).split())[:100]
        if _are_numbers(X):
            raise InputError(f"y: expected numbers, found {kind}: {message}") from None
        way = (
            "kb.TableEncoder makes numbers of a table's levels and dates; with a model's file that "
            "`train` wrote, kb.evaluation.predict_table(FILE, table) predicts the table as it is"
        )
        raise InputError(f"X: expected numbers, found {kind}: {message}; {way}") from None


def _are_numbers(X: Any) -> bool:
    try:
        return bool(hasattr(X, "tocsr") or np.asarray(X, dtype=np.float64) is not None)
    except (TypeError, ValueError, OverflowError):
        return False


def answer_of(oracle: Any, X: Any, i: int) -> NDArray[Any]:
    """(1,) the oracle's label of a row."""
    label = oracle(X[i : i + 1] if sp.issparse(X) else X[i])
    if isinstance(label, (list, tuple, dict, set)) or np.ndim(label) > 0:
        raise InputError(f"oracle: expected one label, or None, got {label!r:.60}")
    return as_labels([label])


def row_of(x: Any) -> Floats:
    """One row as numbers, a copy."""
    if type(x) is np.ndarray and x.dtype == np.float64:
        return x.copy()
    return _as_floats(real(x, "x"), "x", ", one a feature")


def _as_floats(given: Any, name: str, more: str = "") -> Floats:
    """The numbers given, a copy that can be written to: read-only would be compiled for anew."""
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}: expected numbers{more}, found {shown(given)}") from None


def importance_of(sample_weight: Any, rows: int) -> Floats:
    """(n,) the weights of rows, 1 where none are given."""
    if sample_weight is None:
        return np.ones(rows)
    weights = _as_floats(real(sample_weight, "sample_weight"), "sample_weight")
    weights = np.full(rows, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (rows,):
        raise InputError(
            f"sample_weight: got an array of shape {weights.shape}, expected ({rows},)"
        )
    allowed = ((weights == 0) | (weights >= SMALLEST)) & (weights < LARGEST_WEIGHT)
    if not allowed.all():
        wrong = weights[int(np.argmin(allowed))]
        found = "NaN" if np.isnan(wrong) else f"{wrong:g}"
        raise InputError(
            "sample_weight: negative values, infinity, NaN and sizes below 1e-100 or from 1e100 "
            f"are not allowed, got {found}"
        )
    return weights


def good_rows(X: Any) -> Flags:
    """(n,) bool: rows of finite numbers, the sum of whose squares is finite, too.

    Examples
    --------
    >>> good_rows([[1, 2], [3, "four"], [float("nan"), 5]])
    array([ True, False, False])
    """
    X = as_rows(X)
    if sp.issparse(X):
        sizes = np.abs(X.data.astype(np.float64))
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        with np.errstate(over="ignore"):
            return np.asarray(np.bincount(rows, sizes**2, X.shape[0]) < np.inf)
    try:
        numbers = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        each = X.to_numpy(dtype=object) if hasattr(X, "to_numpy") else X
        return np.array([_is_good(row) for row in each], dtype=bool)
    with np.errstate(over="ignore"):
        return np.asarray((numbers**2).sum(axis=-1) < np.inf)


def _is_good(row: Any) -> bool:
    try:
        return bool(good_rows(np.asarray(row, dtype=np.float64)[None])[0])
    except (TypeError, ValueError, OverflowError):
        return False


def _runs(good: Flags) -> Iterator[tuple[slice, bool]]:
    ends = np.flatnonzero(np.diff(good)) + 1
    for start, end in zip([0, *ends], [*ends, len(good)], strict=True):
        yield slice(int(start), int(end)), bool(good[start])


def rows_seen(model: Any) -> int:
    """Rows that a model has learned from or skipped: how far it is in what it was given."""
    rows: int = getattr(model, "n_rounds_", 0) + getattr(model, "n_rows_skipped_", 0)
    return rows


def _warn_of_leap(X: Any, leap: int, first: int) -> None:
    """Say which row has made the deviation of a feature a million times what it was.

    leap : number of the value, as `scale_rows` counts; first : place of the first row in the chunk
    """
    if leap != NO_LEAP:
        row, feature = divmod(leap, X.shape[1])
        warnings.warn(
            f"{row_of_chunk(first + row)}: feature {feature} is {abs(X[row, feature]):g}, more "
            "than a million deviations from its mean so far. With scaling='moments' all its other "
            "values are almost 0 from now on: leave such rows out, or take scaling='ranks'",
            KernbrookWarning,
            stacklevel=2,
        )


# -- docstrings ------------------------------------------------------------------------------------


_ENTRY = re.compile(r"^( *)(\w+) : .*\n(?:\1 +.*\n)*", re.M)  # of a docstring in numpydoc's form


def inherit_docstrings(kind: type, source: type) -> None:
    """Let a class and its methods say what another class says of parameters and attributes.

    A line `{name, name}` becomes these entries, where there are such. A method without a docstring
    has that of the other class, but for parameters that it does not take.
    """
    text = inspect.cleandoc(source.__doc__ or "") + "\n"
    found = {entry[2]: entry[0] for entry in _ENTRY.finditer(text)}

    def inserted(line: re.Match[str]) -> str:
        names = line[2].split(", ")
        if not found.keys() >= set(names):  # somebody's subclass shows a set
            return line[0]
        entries = "".join(found[name] for name in names).rstrip()
        return line[1] + entries.replace("\n", "\n" + line[1])

    if kind.__doc__:
        kind.__doc__ = re.sub(r"^( +)\{(\w+(?:, \w+)*)\}$", inserted, kind.__doc__, flags=re.M)
    for name, method in vars(kind).items():
        if inspect.isfunction(method) and not method.__doc__ and hasattr(source, name):
            _inherit_docstring(method, getattr(source, name))


def _inherit_docstring(method: Any, other: Any) -> None:
    gone = inspect.signature(other).parameters.keys() - inspect.signature(method).parameters.keys()
    docstring = _ENTRY.sub(lambda entry: "" if entry[2] in gone else entry[0], other.__doc__ or "")
    method.__doc__ = docstring or None


# -- in a file -------------------------------------------------------------------------------------


class Kept:
    """An estimator that a model's file can hold: each class writes and reads its own.

    The parameters, and what scikit-learn names with an underscore behind, are written and read for
    all alike, by `kernbrook.persistence`. The rest is each class's: what a class writes, the class
    reads, and checks as if an enemy had written the file.

    Attributes
    ----------
    _kept_entries : names of what the file may say of such a model, besides what it says of all
    _kept_around : whether the parameter `model` is a model that the file holds within this one
    """

    _kept_entries: ClassVar[tuple[str, ...]] = ()
    _kept_around: ClassVar[bool] = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags

    def _kept_parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        return parameters

    def _kept_elsewhere(self) -> set[str]:
        """Names of fitted attributes that follow from the rest of the file."""
        return {"kernels_"}

    def _kept_check(self) -> None:
        """Raise InputError where a model that has learned cannot go on with its parameters."""
        check(self)

    def _write_kept(self, writer: Any, place: str) -> dict[str, Any]:
        """What a file says of the model besides: by names of `_kept_entries`, and `run`, as JSON.

        writer : takes values and arrays; place : what goes before the names of the model's arrays
        """
        return {}

    def _read_kept(self, body: Mapping[str, Any], reader: Any) -> None:
        """Take up what `_write_kept` wrote, on a model that has parameters and fitted attributes.

        body : all that the file says of the model; InputError where the parts do not fit
        """
        if body["run"] is not None:
            raise InputError(f"run: {type(self).__name__} has none")

    def _check_has(self, entry: str, body: Mapping[str, Any]) -> bool:
        """Whether an entry is there; InputError where it is not, but something was learned."""
        present = body.get(entry) is not None
        if not present and body["fitted"].keys() - {"n_rows_skipped_"}:
            raise InputError("it has learned something, but has no state")
        return present


LEARNS = Such(
    "one of ours that learns from a stream",
    lambda model: hasattr(model, "learn") and not isinstance(model, type),
)


def if_model_has(verb: str) -> Any:
    """Lets a method of an estimator be there where its parameter `model` has this one."""
    return available_if(lambda self: hasattr(self.model, verb))


def check_input(fitted: Mapping[str, Any]) -> None:
    """Raise InputError where what a model has seen of its input is nothing that can be seen."""
    width, names = fitted.get("n_features_in_"), fitted.get("feature_names_in_")
    if "n_features_in_" in fitted and not is_count(width):
        raise InputError(f"n_features_in_: expected an integer from 0, got {shown(width)}")
    if "feature_names_in_" in fitted and not (
        isinstance(names, np.ndarray)
        and names.dtype == object
        and names.shape == (width,)
        and all(type(name) is str for name in names)
    ):
        raise InputError(f"feature_names_in_: expected {width} names, got {shown(names)}")
    if not is_count(skipped := fitted.get("n_rows_skipped_", 0)):
        raise InputError(f"n_rows_skipped_: expected an integer from 0, got {shown(skipped)}")


# -- the machine -----------------------------------------------------------------------------------


@parameters
class MachineParameters:
    """What both kinds of machines are given; see `OnlineMachine`."""

    kernels: Annotated[
        Any, Other("'auto', a dictionary's name, a kernel, a function, or a list of these")
    ] = "auto"
    learner: Annotated[Any, Other("None, a learner such as BPAS(), or a list of learners")] = None
    combiner: Annotated[Any, Other("None or a combiner such as Hedge()")] = None
    selection: Annotated[Any, Other("None or a selection such as Selection()")] = None
    labels: Annotated[Any, Other("'all' or a label policy such as LabelBudget()")] = "all"
    random_state: Annotated[Any, Seed()] = None
    scaling: Annotated[str | None, Or(("auto", None), OneOf(tuple(METHODS)))] = "auto"
    _: KW_ONLY
    judge_stored: Annotated[bool, Flag()] = False
    missing_label: Annotated[Any, Other("None, a number or text", check_missing)] = None
    on_bad_rows: Annotated[str, OneOf(("error", "skip"))] = "error"
    delay: Annotated[float | None, Or((None, math.inf), Whole(0))] = None


class OnlineMachine(Kept, Snapshots, MachineParameters, BaseEstimator):
    """Kernels x learner x combiner x selection x labels, as an estimator; see its two kinds.

    Parameters
    ----------
    kernels : str, kernel, function or list of these
        "auto": the default's own; for a learner that is given, the paper's pool for such labels,
        "omkc16" of classes and "amkl17" of numbers. A function takes two arrays, (n, d) and (m, d),
        and gives an (n, m) array.
    selection : which experts are updated and vote; all of them by default
    labels : "all", or a policy such as `Disagreement()`: whose label is asked for
    random_state : int, RandomState or None
        Seeds all draws. They depend on the seed and the round alone. None: other draws each time;
        the command line takes 0.
    scaling : "auto", "moments", "maximum", "ranks" or None
        "moments" takes off the mean of each feature so far and divides by its deviation so far,
        "maximum" divides by its greatest size so far, "ranks" takes its rank among the last 1,000;
        all with the row itself, and never by what comes later. "auto" is "moments", "maximum" for
        more than 4,096 features, and None where a kernel takes row numbers.
    judge_stored : bool
        Whether the combiner learns from each row. By default it does not from a row that some
        expert holds as a support vector: on those narrow kernels err never, so that a second pass
        over the same rows would leave the weight to them. After two passes over 2,500 rows BPAS
        with 16 kernels errs on others: magic04 15.4 instead of 21.1 %, cod-rna 6.2 instead of 9.7,
        a9a 17.2 instead of 20.6. In one pass, and for the default, nothing is gained. The papers
        judge on each.
    missing_label : number, str or None
        What stands for a label that is not there, such as -1, besides None and NaN.
    on_bad_rows : "error" or "skip"
        Rows to learn from with NaN, infinity, or what is no number: an error, or they are left out
        and counted. `learn` says of such a row the most frequent label so far; of numbers the
        first, if the machine is centred, else 0. `predict` refuses them all the same.
    delay : None, or a number of rows
        How many rows wait for their labels when one is predicted. None: as many as stand before it
        in a call, or wait in a `LateLabels`. 0: none, each row is predicted as the next one, as in
        the papers. `float("inf")`: the model learns no more. With the default combiner and two
        experts or more, rows farther ahead have committees and calibrations of their own, see "When
        the label comes late" in the guide; other combiners have them where a number is given.

    Attributes
    ----------
    kernels_ : (m,) tuple of kernels
    kernel_weights_ : (m,) weights, summing to 1 with those of experts that have no kernel
    expert_weights_ : (e,) the same, by expert
    experts_ : (e,) tuple of each expert's learner, kernel and scaling, None where it has none
    n_support_stored_ : sum over the kernels of the support vectors they hold; 0 on features
    n_support_active_ : the same sum over the kernels that took part in the last vote
    support_vectors_ : (s, d) distinct support vectors, in the order of their arrival
    dual_coef_ : (s, e) their coefficients, one column an expert, (s, 1) under GroupNorm; for more
        than two classes (s, e, c). Not there, as `support_vectors_`, for learners on features
    labels_asked_ : labels looked at so far
    n_rounds_ : examples met so far
    n_rows_skipped_ : rows left out, with `on_bad_rows="skip"`
    memory_bytes_ : bytes held by what was learned
    why_not_quick_ : what keeps `learn_one` and `predict_one` from being much quicker than a chunk
        of one row, in words; None where nothing does
    n_features_in_ : as in scikit-learn, with `feature_names_in_`
    """

    kernels_: tuple[Kernel, ...]
    n_features_in_: int
    n_rows_skipped_: int
    classes_: NDArray[Any]
    offset_: float
    _model: Model
    _of_numbers: bool
    _learned: tuple[str, ...] = (
        "_model", "feature_names_in_", "kernels_", "n_features_in_", "n_rows_skipped_",
    )  # fmt: skip

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        inherit_docstrings(cls, OnlineMachine)

    def set_params(self, **parameters: Any) -> Any:
        """As in scikit-learn; a part must be an object before its parameters can be set."""
        for name in parameters:
            part, nested, _ = name.partition("__")
            value = parameters.get(part, getattr(self, part, None))
            if nested and part in self._get_param_names() and not hasattr(value, "set_params"):
                found = "None, the default," if value is None else shown(value)
                such = _SUCH_AS.get(part)
                if such == "BPAS()" and self._of_numbers:
                    such = "Ridge()"
                hint = "" if such is None else f"; write {part}=kb.{such} first"
                raise InputError(f"{name}: {part} is {found} and has no parameters{hint}")
        return super().set_params(**parameters)

    # -- what a label is, for the kinds to say ------------------------------------------------

    _scores: Any  # how many each expert has
    _no_label: Any  # what the model takes for a label that cannot be had
    _numbers: Callable[[NDArray[Any]], Any]  # labels as it takes them
    _number_of: Callable[[Any], Any]  # of one label; None where it has to be looked at more closely
    _predictions: Callable[[Floats], Any]  # what decisions say
    _prediction: Callable[[Floats, Any], Any]  # of one row, and of what the calibration says
    _of_these: Callable[[Any], Any]  # an oracle, held to the classes that a call names as all
    _uninformed: Callable[[], Any]  # what is said of a row that says nothing
    _no_rows: Callable[[Any], Outputs]  # what `learn` gives of a chunk without rows
    _new_calibration: Callable[[int], Any]  # what learns from the errors; of so many `inputs`
    _sure: Callable[[Answer], dict[str, Any]]  # how sure it was of rows, by name
    _asks_how_sure: Callable[[bool], bool]  # whether that is looked at; given : no answer is

    def _set_classes(self, y: Any, classes: Any) -> None:
        """Learn which labels there are, if they are classes."""

    def _predicted_labels(self, answer: Answer) -> Any:
        """What was said of rows before their labels."""
        return self._predictions(answer.decisions)

    def _calibrating(self) -> dict[str, Any]:
        """What the calibration is asked for, by name."""
        return {}

    def _lifts(self, labels: Any, weights: Any) -> Any:
        """(n,) or 1.0: how much more labels count for the experts and their weights."""
        return 1.0

    # -- learning ---------------------------------------------------------------------------

    @changes
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn from X in the order given, one pass.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix
        y : (n,) numbers, or labels of two classes or more
        sample_weight : (n,) or None; relative to their mean so far, see the guide, page
            "How sure a model is"

        Raises
        ------
        InputError
            A parameter, or the data, is not what was expected.
        """
        self._forget()
        given = None if sample_weight is None else real(sample_weight, "sample_weight")
        if given is not None and not np.any(np.asarray(given)):
            raise InputError("sample_weight: all weights are zero, there is nothing to learn")
        return self._learn_all(X, y, None, sample_weight)

    @changes
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from X in the order given, after what was learned before.

        All labels given are learned from, whatever the policy in `labels`. A chunk without rows
        changes nothing.

        Parameters
        ----------
        X, y, sample_weight : as `fit` has them
        classes : all labels; needed on the first call unless y has them
        """
        return self if self._is_empty_chunk(X, y) else self._learn_all(X, y, classes, sample_weight)

    @changes
    def learn(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> tuple[NDArray[Any], Flags]:
        """Test, ask, train: each label is predicted before it is looked at, if it is.

        A chunk without rows changes nothing.

        Parameters
        ----------
        X : (n, d) array or CSR matrix
        y : (n,) labels, or an oracle, or None
            None or NaN is a label that cannot be had; None instead of them all, that none can. An
            oracle is called with a row of X, (d,) or if sparse (1, d), for each label that
            `labels` asks for, and gives the label, or None.
        classes : all labels; needed on the first call unless y has them
        sample_weight : (n,) or None

        Returns
        -------
        predictions : (n,) labels, each from the examples before its own
        asked : (n,) bool, whose label was looked at
        """
        return self._learn_rows(X, y, classes, sample_weight)[:2]

    @changes
    def _learn_scored(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Outputs:
        """`learn`, with all that was said before the labels."""
        return self._learn_rows(X, y, classes, sample_weight)

    @changes
    def learn_one(
        self, x: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Any:
        """Test, then train on one row, given as (d,) numbers: much quicker than a chunk of one.

        The label is learned from, whatever the policy in `labels`.

        Parameters
        ----------
        x : (d,) float array
        y : its label; None or NaN where there is none
        classes : all labels, on the first call of a classifier
        sample_weight : float or None

        Returns
        -------
        the prediction made before the label was looked at
        """
        if self.on_bad_rows == "skip" and not good_rows([x])[0]:
            return self._learn_rows([x], [y], classes, sample_weight).predictions[0]
        weight = 1.0 if sample_weight is None else importance_of(sample_weight, 1)[0]
        row = row_of(x)
        quick = None if classes is not None else RowSession.of(vars(self).get("_model"))
        if quick is not None:
            label = self._number_of(y) if y.__hash__ is not None else None
            if label is not None:
                lift, sure = self._lifts(label, weight), self._asks_how_sure(True)
                outputs = quick.learn(row, label, weight, lift, sure)
                if outputs is not None:
                    if quick.leapt:
                        _warn_of_leap(row[None], quick.leap(1), 0)
                    return self._prediction(*outputs)
        with self._all_or_nothing():
            X, labels = self._checked(np.atleast_2d(row), [y])
            self._set_classes(labels, classes)
            return self._learn(X, labels, sample_weight, given=True).predictions[0]

    def _learn_all(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        """What `fit` and `partial_fit` do: each label is learned from."""
        with self._all_or_nothing(), self._good_rows(X, y, sample_weight) as (X, y, weights):
            if is_empty(X) and "n_rows_skipped_" in vars(self):
                return self  # they are all skipped
            hint = "`learn` takes rows without labels, `fit` and `partial_fit` do not"
            if y is None:
                wanted = f"{type(self).__name__} requires y to be passed"
                raise InputError(f"{wanted}, but the target y is None; {hint}")
            y = self._labels_of(y, warn=True)
            check_present(y, hint)
            if not (self._is_plain(X) and len(y) == len(X) and _is_plain_label(y)):
                X, y = checked(X, self, not hasattr(self, "_model"), y)
            self._set_classes(y, classes)
            self._learn(X, y, weights, given=True)
        return self

    def _learn_rows(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Outputs:
        if self._is_empty_chunk(X, y):
            return self._no_rows(classes)
        good = self._skip(X)
        with self._all_or_nothing():
            if good is not None:
                if not callable(y) and y is not None and len(good) == len(y):
                    with placed(np.flatnonzero(good).tolist()):
                        self._set_classes(self._labels_of(y)[good], classes)
                return self._learn_between(good, X, y, sample_weight, classes)
            X, y = self._checked(X, y)
            self._set_classes(y, classes)
            if callable(y) and classes is not None:
                y = self._of_these(y)
            return self._learn(X, y, sample_weight)

    def _learn(self, X: Any, y: Any, sample_weight: Any = None, given: bool = False) -> Outputs:
        """Test, ask, train on checked features and labels or an oracle."""
        importance = importance_of(sample_weight, X.shape[0])
        labels = None if callable(y) else self._numbers(y)
        if not hasattr(self, "_model"):
            self._start(X)
        model = self._model
        model.settle()
        # Weights, and those of classes, are relative to those of the labels asked for before.
        several = (importance[importance > 0] != model.usual).any()
        uneven = several or getattr(self, "class_weight", None) is not None
        alone = labels is None or (model.asks and not given and uneven)
        parts: list[Outputs] = []
        targets, n, at, rows = y if labels is None else labels, X.shape[0], 0, None
        if labels is not None and not alone and (given or not model.asks) and n <= MOST_TOGETHER:
            pieces = [*model.pieces(n)]
            if len(pieces) > 1:
                rows = self._checked_rows(X)
            for where in pieces:
                outputs = self._learn_few(X[where], labels[where], importance[where], given, at)
                if outputs is None:
                    break
                parts.append(outputs)
                at = where.stop
            if at == n:
                return joined(parts) if len(parts) > 1 else parts[0]
        rows = rows or self._checked_rows(X)
        for where in slices(n, 1) if alone else model.pieces(n, at):
            try:
                parts.append(self._learn_block(X, rows, targets, importance, given, where))
                _warn_of_leap(X[where], self._model.scaler.leap, where.start)
            except NonFiniteError as error:
                refused = self._refused(X, rows, targets, importance, given, where)
                also = "; or give no sample_weight: the rows weigh differently" if several else ""
                raise NonFiniteError(f"{refused}: {error}{also}") from error
        return joined(parts)

    def _checked_rows(self, X: Any) -> Rows:
        """Rows as the model takes them, checked before anything is learned."""
        rows = rows_of(self._model, X)
        if self._model.setting.judges_stored:
            return rows
        return replace(rows, keys=keys_of(X))  # as they are given: they are scaled anew

    def _learn_few(
        self, X: Any, labels: Any, importance: Floats, given: bool, first: int
    ) -> Outputs | None:
        """Learn few rows in arrays made once, all or none; None where a block has to take them.

        first : of the chunk before them
        """
        quick = RowSession.for_few(self._model, X, learns=True)
        if quick is None:
            return None
        targets = as_targets(labels)
        lifts, sure = self._lifts(labels, importance), self._asks_how_sure(given)
        answer = quick.learn_few(X, targets, importance, lifts, sure)
        if answer is None:
            return None
        _warn_of_leap(X, quick.leap(len(X)), first)
        return self._outputs_of(answer, given)

    def _learn_block(
        self, X: Any, rows: Rows, y: Any, importance: Floats, given: bool, where: slice
    ) -> Outputs:
        """Learn some of the rows, all or none of them; y : their labels, or an oracle for one."""
        model, oracle, part = self._model, callable(y), rows.part(where.start, where.stop)
        if oracle:
            wanted = would_ask(model, *self._seen(X[where]))[0]
            labels = np.array([self._answer(y, X, where.start) if wanted else self._no_label])
            model = self._model  # an answer may be of a new class
        else:
            labels = y[where]
        always, asked_for = given or oracle, self._calibrating()
        weights, lifts = importance[where], self._lifts(labels, importance[where])
        examples = Examples(part, X[where], labels, weights, always, asked_for, lifts)
        answer = learn_block(model, examples)
        model.settle()
        return self._outputs_of(answer, given)

    def _outputs_of(self, answer: Answer, given: bool) -> Outputs:
        sure = {} if given else self._sure(answer)
        return Outputs(self._predicted_labels(answer), answer.asked, answer.decisions, **sure)

    def _answer(self, oracle: Any, X: Any, i: int) -> Any:
        return self._numbers(self._labels_of(answer_of(oracle, X, i)))[0]

    def _refused(
        self, X: Any, rows: Rows, y: Any, importance: Floats, given: bool, where: slice
    ) -> str:
        """Which row of a block that was refused is the first that cannot be learned, in words.

        Found on copies: the rows before it can be learned, and with it they cannot.
        """
        learned, refused = where.start, where.stop
        if self._model.looks_outside and refused > learned + 1:  # copies would take long
            return f"one from {row_of_chunk(learned)} to {row_of_chunk(refused - 1)}"
        while refused > learned + 1:
            trial, middle = object.__new__(type(self)), (learned + refused) // 2
            trial.__dict__.update(vars(self), _model=copy(self._model))
            try:
                trial._learn_block(X, rows, y, importance, given, slice(where.start, middle))
                learned = middle
            except NonFiniteError:
                refused = middle
        return row_of_chunk(learned)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """A first call that fails before it has learned anything leaves no trace."""
        try:
            yield
        except BaseException:
            if not hasattr(self, "_model") or self._model.rounds == 0:
                self._forget()
            raise

    def _forget(self) -> None:
        for name in self._learned:
            self.__dict__.pop(name, None)

    # -- rows that nothing can be learned from: NaN, infinity, what is no number --------------

    def _skip(self, X: Any) -> Flags | None:
        """(n,) bool, the rows to learn from; None where they are all."""
        check(self)
        if self.on_bad_rows == "error" or is_empty(X):
            return None
        self.__dict__.setdefault("n_rows_skipped_", 0)
        good = good_rows(X)
        return None if good.ndim != 1 or good.all() else good

    def _count_skipped(self, rows: int) -> None:
        before: int = vars(self)["n_rows_skipped_"]
        self.n_rows_skipped_ = counted("n_rows_skipped_", before, rows)

    @contextmanager
    def _good_rows(self, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Of rows, labels and weights, those to learn from; the others count as far as it came."""
        good = self._skip(X)
        if good is None or y is None:
            yield X, y, sample_weight
            return
        where, y = np.flatnonzero(good), as_labels(y)
        check_as_many(len(good), y)
        weights = None if sample_weight is None else importance_of(sample_weight, len(y))[where]
        counted("n_rows_skipped_", vars(self)["n_rows_skipped_"], len(y) - len(where))
        places, before = [*where.tolist(), len(y)], getattr(self, "n_rounds_", 0)
        try:
            with placed(places):
                yield _safe_indexing(X, where), y[where], weights
        finally:
            learned = max(getattr(self, "n_rounds_", 0) - before, 0)
            self._count_skipped(places[learned] - learned)

    def _learn_between(
        self, good: Flags, X: Any, y: Any, sample_weight: Any, classes: Any
    ) -> Outputs:
        """`learn` where some rows are skipped, of which is said what says nothing of them."""
        n = len(good)
        weights, labels = importance_of(sample_weight, n), y
        if y is not None and not callable(y):
            labels = as_labels(y)
            check_as_many(n, labels)
        parts = []
        for where, is_good in _runs(good):
            if is_good:
                part = labels if labels is None or callable(labels) else labels[where]
                rows = _safe_indexing(X, np.arange(where.start, where.stop))
                with placed(range(where.start, where.stop)):
                    parts.append(self._learn_rows(rows, part, classes, weights[where])[:2])
            else:
                count = where.stop - where.start
                self._count_skipped(count)
                parts.append((np.array([self._uninformed()] * count), np.zeros(count, dtype=bool)))
        predictions, asked = zip(*parts, strict=True)
        return Outputs(np.concatenate(predictions), np.concatenate(asked), None)

    # -- rows and labels, checked -------------------------------------------------------------

    def _is_empty_chunk(self, X: Any, y: Any) -> bool:
        """Whether a chunk has no rows; the parameters of a new model are checked nevertheless."""
        if not is_empty(X):
            return False
        if not (y is None or callable(y)):
            check_as_many(0, as_labels(y))
        if not hasattr(self, "_model"):
            trial: Any = clone(self)
            trial.classes_ = np.arange(2)
            trial._start(np.empty((0, max((1, *np.shape(X)[1:2])))))
        return True

    def _is_plain(self, X: Any) -> bool:
        """Whether scikit-learn would give rows back as they are: its checks take .1 ms."""
        known = vars(self)
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and len(X) > 0
            and X.shape[1] == known.get("n_features_in_")
            and "_model" in known
            and "feature_names_in_" not in known
            and X.flags.c_contiguous
            and bool(np.isfinite(X).all())
        )

    def _given(self, X: Any) -> Any:
        """Rows to predict, checked, of a model that has learned."""
        check_is_fitted(self)
        if self._is_plain(X):
            return X
        return np.empty((0, self._model.setting.width)) if is_empty(X) else checked(X, self)

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Features, and labels or an oracle, with checks that are quick on short chunks too."""
        X = self._features(X)
        if callable(y):
            return X, y
        y = np.full(X.shape[0], np.nan) if y is None else self._labels_of(y)
        check_as_many(X.shape[0], y)
        return X, y

    def _features(self, X: Any) -> Any:
        """X as a C-ordered float64 array or a canonical CSR matrix, of the right width."""
        plain = isinstance(X, np.ndarray) and X.dtype.kind in "biufc"
        if isinstance(X, np.ma.MaskedArray) or not (plain or sp.issparse(X)):
            return checked(X, self, not hasattr(self, "n_features_in_"))
        if X.dtype.kind == "c":
            raise InputError("X: complex data not supported, expected real numbers")
        if X.ndim != 2:
            raise InputError(f"X: expected an array of shape (n, d), got {X.ndim} dimension(s)")
        width = getattr(self, "n_features_in_", X.shape[1])
        if X.shape[1] != width:
            raise InputError(
                f"X has {X.shape[1]} features, but {type(self).__name__} "
                f"is expecting {width} features as input"
            )
        return canonical(X)

    def _labels_of(self, y: Any, warn: bool = False) -> NDArray[Any]:
        """Labels, with None or NaN for those that are not there."""
        return without(as_labels(y, warn), self.missing_label)

    # -- predicting ---------------------------------------------------------------------------

    @in_turn
    def predict_one(self, x: Any) -> Any:
        """The prediction for one row, given as (d,) numbers; see `learn_one`."""
        return self._prediction(self._decide_row(x)[0][0], None)

    @in_turn
    def should_ask(self, X: Any) -> Flags:
        """(n,) bool: whether the model wants the label of each row of X, (n, d), if it came next.

        Nothing changes, and no draw is used up.
        """
        X = self._given(X)
        return would_ask(self._model, *self._seen(X))

    def _decide(self, X: Any) -> Verdicts:
        """What the experts say of rows, by how far each is from the last label."""
        X = self._given(X)
        quick = RowSession.for_few(self._model, X)
        few = None if quick is None else quick.decide_few(X, self._places(X.shape[0]))
        return self._decide_all(X) if few is None else few

    def _decide_row(self, x: Any) -> Verdicts:
        """As `_decide` for one row, given as (d,) numbers."""
        row, quick = row_of(x), RowSession.of(vars(self).get("_model"))
        verdicts: Verdicts | None = None
        if quick is not None and (places := self._places(1)) is None:
            verdicts = quick.decide(row)
        elif quick is not None and row.ndim == 1:
            verdicts = quick.decide_few(row[None], places)
        if verdicts is None:
            check_is_fitted(self)
            return self._decide_all(self._features(np.atleast_2d(row)))
        return verdicts

    def _decide_all(self, X: Any) -> Verdicts:
        return decide(self._model, *self._seen(X), self._places(X.shape[0]))

    def _seen(self, X: Any) -> tuple[Views, Any]:
        """Rows as they would be seen if they came next, and as they are given."""
        rows = rows_of(self._model, X)
        return views_of(self._model, self._model.scaler.transform(X), rows), X

    def _places(self, n: int) -> Ints | None:
        """(n,) how far each of n rows is from the last label, from 1.

        None: the committee for the next row decides on all.
        """
        if self._model.next_alone(self._place(n)):
            return None
        if self.delay is not None:
            return np.full(n, self._place(n))
        return self._place(0) + np.arange(1, n + 1)

    def _place(self, n: int) -> int:
        return waiting.get() + n if self.delay is None else int(min(self.delay, MOST_ROUNDS)) + 1

    def _by_horizon(self, verdicts: Verdicts) -> Iterator[tuple[Any, Any]]:
        """Which rows are how far from the last label, and the calibration of these."""
        if verdicts.kinds is None:
            yield slice(None), self._model.certain()
            return
        far, certain = self._model.judged(), self._model.certain()
        each = certain, far.soon.calibration, far.late.calibration
        for kind in np.unique(verdicts.kinds):
            yield verdicts.kinds == kind, each[kind].beside(certain) if kind else certain

    # -- what was learned ---------------------------------------------------------------------

    n_support_stored_ = property(in_turn(lambda self: int(self._model.counts.sum())))
    n_support_active_ = property(in_turn(lambda self: self._model.n_active))
    support_vectors_ = property(in_turn(lambda self: self._model.expansion()[0].copy()))
    labels_asked_ = property(lambda self: self._model.asked)
    n_rounds_ = property(lambda self: self._model.rounds)
    expert_weights_ = property(in_turn(lambda self: self._model.weights()))
    memory_bytes_ = property(in_turn(lambda self: self._model.nbytes))
    why_not_quick_ = property(lambda self: RowSession.hindrance(self._model))

    @property
    @in_turn
    def dual_coef_(self) -> Floats:
        coefficients = self._model.expansion()[1].copy()
        return coefficients[:, :, 0] if self._scores == 1 else coefficients

    @property
    def experts_(self) -> tuple[Expert, ...]:
        pool = self._pool(self.n_features_in_)
        return experts_of(pool.kernels, pool.members)

    @property
    @in_turn
    def kernel_weights_(self) -> Floats:
        of, weights = self._model.kernel_of, self._model.weights()
        return np.asarray(np.bincount(of[of >= 0], weights[of >= 0], len(self.kernels_)))

    @in_turn
    def state(self) -> dict[str, NDArray[Any]]:
        """All that was learned, by name: the arrays that `kb.save` writes; not to be changed."""
        check_is_fitted(self)
        self._model.settle()
        return self._model.arrays()

    def merge(self, *others: Any, since: Any = None) -> Any:
        """Learn what models of the same parameters have learned apart from this one, in place.

        Each counts by its share of the labels. Exact, as if one model had met all examples of all:
        the statistics of `Ridge` without forgetting, on rows that are scaled alike; losses of
        experts, and with them the weights of `Hedge` and `EXP`, for the experts as they were;
        means, deviations and maxima of features; numbers of rows, labels and mistakes. Averaged:
        steps of `GradientDescent`, kernel expansions, weights and statistics that forget. Under a
        budget the greatest coefficients of the average stay, and the rest is projected on them.
        Ranks, errors and last labels are the last of all models in turn.

        Parameters
        ----------
        *others : models of the same class and parameters; they do not change
        since : a model that all of them were copied from; what it had learned counts once. None:
            they began by themselves. Random features are the same for the same `random_state`

        Returns
        -------
        self

        Raises
        ------
        InputError
            The models differ in parameters, features or random features, or hold what belongs to
            one stream: `External` models, `GroupNorm`, `AdaRaker`. Then nothing changes.

        Examples
        --------
        >>> import kernbrook as kb
        >>> X, y = kb.open_stream("checkerboard:2000").read()
        >>> parts = [kb.OnlineMKClassifier(random_state=0).fit(X[i::2], y[i::2]) for i in (0, 1)]
        >>> both = parts[0].merge(parts[1])
        >>> both.n_rounds_
        2000
        """
        with held(*(model for model in (self, *others, since) if isinstance(model, OnlineMachine))):
            self._merge(others, since)
        return self

    @changes
    def _merge(self, others: Sequence[Any], since: Any) -> None:
        check_is_fitted(self)
        self.__dict__.update(merged(self, others, since))
        self.__dict__.pop("_number", None)

    # -- how the parameters become a model ----------------------------------------------------

    def _start(self, X: Any) -> None:
        check(self)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        model = self._new_model(X.shape[1], sp.issparse(X), seed)
        _ = model.states  # they take the memory that they need, or are refused
        _warn_of_many(model)
        self._model, self.kernels_, self.n_features_in_ = model, model.kernels, X.shape[1]

    def _new_model(self, width: int, sparse: bool, seed: int, made: Pool | None = None) -> Model:
        """The model that the parameters ask for, before its first example; made : its pool."""
        pool = self._pool(width) if made is None else made
        scaled = sum(method is not None for method in pool.scalings)
        ask_for(2 * scaled * width, f"scaling of {width:,} features")  # there is a copy
        scaler = Scalers(pool.scalings, width)
        setting = self._setting(width, sparse and not scaler.fills, seed)
        model = make_model(pool, self.combiner, self.selection, self.labels, setting, self.delay)
        model.scaler, model.calibration = scaler, self._new_calibration(model.inputs)
        return model

    def _pool(self, width: int) -> Pool:
        """The learners and their kernels, on rows of so many features; all of it is checked."""
        check(self)
        return pool_of(
            self.kernels, self.learner, self.combiner, self._of_numbers, width,
            self._scaling(width), self._scores,
        )  # fmt: skip

    def _scaling(self, width: int) -> str | None:
        """The method of scaling rows of so many features, or None."""
        kernels = shared_kernels(self.kernels, self._of_numbers)
        auto = isinstance(self.scaling, str) and self.scaling == "auto"
        if self.scaling is None or (auto and not of_vectors(kernels)):
            return None
        check_vectors("scaling", kernels)
        if not auto:
            return self.scaling
        return "moments" if width <= LARGEST_FILLED else "maximum"

    def _setting(self, width: int, sparse: bool, seed: int) -> Setting:
        return Setting(width, sparse, self._scores, seed, self._of_numbers, self.judge_stored)

    def _widen(self, width: int) -> None:
        """Take rows of so many features from now on; those so far had 0 where they had none.

        What cannot go on begins anew: all, where the default has other parts for so many.
        """
        old, pool = self._model, self._pool(width)
        model = self._new_model(width, old.sparse, old.setting.seed, pool)
        if goes_on(self._pool(old.setting.width), pool):
            widen(model, old)
        self.__dict__.update(_model=model, n_features_in_=width)

    # -- in a file ----------------------------------------------------------------------------

    def _kept_parameters(self) -> dict[str, Any]:
        parameters = super()._kept_parameters()
        if "_model" in vars(self) and isinstance(self.random_state, np.random.RandomState):
            parameters["random_state"] = None  # the seed drawn from it is part of the model
        return parameters

    def _write_kept(self, writer: Any, place: str) -> dict[str, Any]:
        """The state as tensors; what follows from the parameters is made again on loading."""
        model = vars(self).get("_model")
        if model is None:
            return {}
        twin = self._new_model(model.setting.width, model.sparse, model.setting.seed)
        if not twin.has_same_choices(model):
            raise InputError(
                "save: the parameters were changed after learning had begun, and a file could not "
                "go on as this model does; set them back, or fit again"
            )
        if twin.scaler.methods != model.scaler.methods:
            raise InputError("save: scaling was changed after learning had begun; set it back")
        for name, array in self.state().items():
            writer.tensor(array, name)
        return {"run": {"width": int(model.setting.width), "sparse": bool(model.sparse)}}

    def _read_kept(self, body: Mapping[str, Any], reader: Any) -> None:
        if not self._check_has("run", body):
            return
        width, sparse = body["run"].get("width"), body["run"].get("sparse")
        if not (is_count(width) and type(sparse) is bool):
            found = f"{shown(width)} and {shown(sparse)}"
            raise InputError(f"run: expected a width and whether sparse, got {found}")
        self._check_fitted(width)
        pool = self._kept_pool(width, reader)
        self._check_sizes(pool, self._setting(width, sparse, 0), reader)
        made = self._new_model(width, sparse, 0, pool)
        made.restore(reader.tensors)
        self._model, self.kernels_ = made, made.kernels
        names = self.state()
        of_before = (f"horizons.{kept}.{name}" for kept in ("now", "old") for name in names)
        said = (
            name
            for name in reader.tensors
            if name.startswith("horizons.said.") or name.endswith(".calibration.lead")
        )
        reader.used.update(names, of_before, said)  # older: kept models learn, leads are of others

    def _kept_pool(self, width: int, reader: Any) -> Pool:
        """A file of before some experts left the default goes on with all that it has."""
        pool = self._pool(width)
        if self.learner is None and is_auto(self.kernels) and not learns_itself(self.combiner):
            weights = np.shape(reader.tensors.get("progress.log_weights", ()))
            for before in (1, 2):
                if weights == (len(experts_of(*pool[:2])),):
                    break
                self.learner = default_pool(self._of_numbers, width, self._scores, before)
                pool = self._pool(width)
        return pool

    def _check_fitted(self, width: int) -> None:
        """Raise InputError where fitted attributes are not those of a run of so many features."""
        if vars(self).get("n_features_in_") != width:
            raise InputError(f"n_features_in_: expected {width} features, as the run has")

    def _check_sizes(self, pool: Pool, setting: Setting, reader: Any) -> None:
        """Raise InputError where tensors are not of the sizes that the parameters ask for.

        Before a model is made: making one draws features and takes memory as the parameters ask. A
        few bytes could ask for gigabytes, and compiled code trusts what it is given.
        """
        sizes: dict[int, list[int]] = {}  # of theta and extra, by view

        def shapes(end: str) -> list[Any]:
            return [v.shape for k, v in reader.tensors.items() if k.endswith(end)]

        for part in parts_of_pool(pool.kernels, pool.members):
            learner = part.learner
            if learner.store == "slots" and (budget := learner.slots()) is not None:
                found = shapes(".alpha")
                if not any(s[1:] == (setting.scores, budget) and s[0] for s in found):
                    asking = shown(learner)
                    raise InputError(f"stores: no slots are of the size that {asking} asks for")
            for name, shape in getattr(learner, "sizes", lambda setting: {})(setting).items():
                if shape not in (found := shapes(f".{name}")):
                    raise InputError(f"stores: expected {name} of shape {shape}, found {found}")
            if learner.store == "features":
                total = sizes.setdefault(part.view, [0, 0])
                for kernel in part.kernels:
                    recipe = recipe_of(learner, kernel)
                    for name, (shape, _) in recipe.shapes(kernel, setting.width).items():
                        if shape not in shapes(f".{name}"):
                            wanted = f"expected {name} of shape {shape} for {kernel}"
                            raise InputError(f"maps: {wanted}, found none")
                    dim = recipe.dim(kernel, setting.width)
                    total[0] += setting.scores * dim
                    total[1] += learner.extra_rows(dim, setting.scores) * dim
        for pair in sizes.values():
            for name, size in zip(("theta", "extra"), pair, strict=True):
                if (size,) not in (found := shapes(f".{name}")):
                    wanted = f"expected {name} of {size} numbers"
                    raise InputError(f"stores: {wanted}, found shapes {found}")


def _is_plain_label(y: NDArray[Any]) -> bool:
    """Whether scikit-learn would give labels back as they are."""
    kind = y.dtype.kind
    return y.ndim == 1 and (kind in "biuU" or (kind == "f" and bool(np.isfinite(y).all())))


def _warn_of_many(model: Model) -> None:
    """Warn where learners keep matrices for so many features that each label takes long."""
    for store in model.stores:
        if not isinstance(store, Linear):
            continue
        kept = store.rows * store.dims
        most = int(kept.argmax())
        if kept[most] > _MANY:
            learner, kernel = store.learners[most], store.kernels[most]
            warnings.warn(
                KernbrookWarning(
                    f"learner: {shown(learner)} keeps {kept[most]:,} numbers for "
                    f"{store.dims[most]:,} features of {kernel}, and each label goes over all of "
                    "them, which takes long; kernels such as kb.Gaussian(sigma=1), or the learner "
                    "on features=kb.RandomFeatures(100), take fewer"
                ),
                stacklevel=calls_inside(),
            )
