"""A model that takes tables as they are: what makes numbers of their columns goes with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from kernbrook.checks import Such, check, or_none, shown
from kernbrook.engine.progress import MOST_ROUNDS
from kernbrook.errors import DataFileWarning, InputError, cut
from kernbrook.estimators.base import LEARNS, Kept, if_model_has, rows_seen
from kernbrook.estimators.labels import LARGEST_EXACT, number_of_rows
from kernbrook.estimators.late import rows_waiting
from kernbrook.estimators.tasks import Outputs, predict_outputs, task_of
from kernbrook.plain_values import expect
from kernbrook.snapshots import Snapshots
from kernbrook.streams import Stream, TableEncoder, open_stream
from kernbrook.streams.arrow import FrameRecords, frame_of, labels_as_arrow
from kernbrook.streams.bytes import DataFile
from kernbrook.streams.csv import checked_separator
from kernbrook.streams.opening import (
    check_on_bad_rows,
    find_file,
    is_frame,
    is_records,
    table_records,
)
from kernbrook.streams.records import MISSING, Records, quoted
from kernbrook.streams.stream import PositiveView, has_label
from kernbrook.streams.tables.encoder import stacked
from kernbrook.streams.tables.labels import (
    as_classes,
    as_numbers,
    check_some_known,
    listed,
    new_labels,
    note_new_labels,
)
from kernbrook.streams.tables.stream import TableStream, match_columns
from kernbrook.streams.tables.values import is_missing, warn_of_levels
from kernbrook.telling import warn_caller, warnings_together
from kernbrook.turns import changes, in_turn

CHUNK = 1024  # rows that are learned at a time; they do not change the result


class TableModel(Kept, Snapshots, BaseEstimator):
    """A model with its encoder: it learns from tables and predicts tables, as they are.

    `kb.fit_table` makes one; `kernbrook train` and `label` write one, with its history. A table is
    a frame of pandas, polars or pyarrow; records: a dict or a list of dicts; or a file of a table,
    or a folder of Parquet files, by its path. Columns go by
    their names, in any order. Where the encoder fills gaps, a column that is not there is one of
    gaps. A table to predict may have the label or not; its rows are taken to be far from the last
    label, unless `delay` of the model says otherwise. Rows without a label are rounds without one.

    Parameters
    ----------
    model : one of ours that learns from a stream; it learns in place, but for `fit`, which puts a
        new copy in its place
    encoder : TableEncoder, what the columns become; None: levels and dates as they seem to be,
        and gaps filled by means. It stays as it is; `encoder_` learns
    label : the name of the label's column; None for the column "label", else the last one

    Attributes
    ----------
    encoder_ : TableEncoder, as it is after the rows that were learned; None where these were rows
        of numbers, which then go to the model as they are
    label_ : the name of the label's column; None where that is not known
    named_classes_ : all labels that may come, where somebody has named them; else None
    positive_ : the label that is +1 for the model, all others being -1; None where that is none
    aside_ : names of columns that are neither learned from nor the label
    history_ : dict of plain values, what `train` has seen of its data, which `kernbrook show`
        says; None of a model that was made in Python
    classes_, n_rounds_, ... : those of the model

    Notes
    -----
    Records one by one go to `learn_one`, `predict_one` and `predict_proba_one`, to the same bits as
    a table of them; where labels come later, to a `LateLabels` around this model.

    `kb.importance` and `kb.explain` take it as it is, `kb.save` writes one file, and
    `kernbrook predict` and `kernbrook explain` read that. It is an estimator of scikit-learn, with
    `fit(frame, y)` and `score(frame, y)`: `cross_val_score`, `GridSearchCV`, whose parameters are
    called `model__...` and `encoder__...`, and `permutation_importance` take it with frames.

    Examples
    --------
    >>> import kernbrook as kb
    >>> rows = [{"age": 30, "sex": "f", "late": "no"}, {"age": None, "sex": "m", "late": "yes"}]
    >>> encoder = kb.TableEncoder({"sex": ["f", "m"]}, missing="mean")
    >>> model = kb.TableModel(kb.OnlineMKClassifier(random_state=0), encoder, label="late")
    >>> model.partial_fit(rows * 20).predict({"sex": "m", "age": 31})
    array(['yes'], dtype='<U3')
    """

    parameter_ranges: ClassVar = {
        "model": LEARNS,
        "encoder": or_none(Such("a TableEncoder", lambda value: isinstance(value, TableEncoder))),
        "label": or_none(Such("the name of a column", lambda value: isinstance(value, str))),
    }
    encoder_: TableEncoder | None
    label_: str | None
    named_classes_: NDArray[Any] | None
    positive_: str | None
    aside_: list[str]
    history_: dict[str, Any] | None
    _kept_around = True
    _kept_entries = ("encoder", "history")

    def __init__(self, model: Any, encoder: TableEncoder | None = None, label: str | None = None):
        self.model = model
        self.encoder = encoder
        self.label = label

    @classmethod
    def _with_learned(
        cls,
        model: Any,
        encoder: TableEncoder | None = None,
        label: str | None = None,
        *,
        positive: str | None = None,
        aside: Sequence[str] = (),
        classes: Any = None,
        history: dict[str, Any] | None = None,
    ) -> TableModel:
        """One around a model that has learned, or is about to, and an encoder that knows columns.

        The parameters are those attributes.
        """
        table = cls(model, None if encoder is None else clone(encoder), label)
        table._set_learned(encoder, label, None if classes is None else np.array(classes))
        table.positive_, table.aside_, table.history_ = positive, list(aside), history
        return table

    @classmethod
    def _of_stream(cls, model: Any, stream: Stream, positive: str | None = None) -> TableModel:
        """One around a model that is about to learn a stream."""
        encoder = None if stream.encoder is None else stream.encoder.copy()
        label = stream.label_name
        return cls._with_learned(model, encoder, label, positive=positive, aside=stream.aside)

    @classmethod
    def _around(cls, model: Any) -> TableModel:
        """One around a model of which nothing else is known, or the model where it is one."""
        if isinstance(model, TableModel):
            model._unwrapped()
            return model
        names = getattr(model, "feature_names_in_", None)
        encoder = None if names is None else TableEncoder().begin(names.tolist())
        return cls._with_learned(model, encoder)

    def _set_learned(
        self, encoder: TableEncoder | None, label: str | None, named: NDArray[Any] | None
    ) -> None:
        """Take up what is known of columns and labels, with what was learned by it."""
        self.encoder_, self.label_, self.named_classes_ = encoder, label, named
        for name, value in (("positive_", None), ("aside_", []), ("history_", None)):
            if name not in vars(self):
                setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """What the model has learned is seen through this one."""
        if name.endswith("_") and not name.startswith("_") and "model" in vars(self):
            return getattr(self.model, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @changes
    def fit(
        self,
        data: Any,
        y: Any = None,
        *,
        classes: Sequence[Any] | None = None,
        on_bad_rows: str = "error",
    ) -> TableModel:
        """Forget everything, then learn from a table; see `partial_fit`.

        Where something is raised, all that was learned before is still there.
        """
        check(self)
        new = TableModel(clone(self.model), self.encoder, self.label)
        new.partial_fit(data, y, classes=classes, on_bad_rows=on_bad_rows)
        self.__dict__.update({k: v for k, v in vars(new).items() if k != "_turn"})
        return self

    @changes
    def partial_fit(
        self,
        data: Any,
        y: Any = None,
        *,
        classes: Sequence[Any] | None = None,
        ignore_extra: bool = False,
        on_bad_rows: str = "error",
    ) -> TableModel:
        """Learn from one more table, after what was learned before.

        Parameters
        ----------
        data : a table
        y : (n,) its labels, of a frame or records; None where they are a column of the table
            Their name, which a Series has, is then that of the label, if `label` names none.
        classes : all labels of a classifier, where the first table has not all of them. No other
            is learned, of later tables neither, until all of these and others are named. Where
            nobody names them a new label is learned, with a warning, unless it seems to be a known
            one in other writing
        ignore_extra : whether columns that are not known are left out
        on_bad_rows : "error", or "skip": rows that cannot be read are left out, with a warning

        Raises
        ------
        InputError, DataFileError
            The table cannot be read, has other columns, or no labels that go with the model.
        """
        if self._takes_numbers(data):
            classes_ = {} if classes is None else {"classes": classes}
            self.model.partial_fit(data, y, **classes_)
            return self
        with warnings_together():
            stream = self._opened(data, True, ignore_extra, on_bad_rows, y)
            known, named = self._labels(stream, classes)
        self._learn(stream, known, named)
        return self

    def score(self, data: Any, y: Any = None, *, ignore_extra: bool = False) -> float:
        """The share of rows whose label is predicted, or of numbers R^2; rows without do not count.

        Parameters
        ----------
        data : a table
        y : (n,) its labels; None where they are a column of the table
        ignore_extra : whether columns that are not known are left out
        """
        stream = self._opened_to_predict(data, ignore_extra, y)
        if not stream.labelled:
            raise InputError(f"{stream.name}: expected labels to compare with, found none")
        with rows_waiting(MOST_ROUNDS):
            parts = [(self.model.predict(X), y) for X, y in self._signed(stream).chunks()]
        predictions, labels = (np.concatenate(part) for part in zip(*parts, strict=True))
        predictions, labels = predictions[labelled := has_label(labels)], labels[labelled]
        if task_of(self.model) == "classification":
            return float(np.mean(predictions == as_classes(labels, self.model.classes_)))
        from sklearn.metrics import r2_score

        return float(r2_score(as_numbers(labels), predictions))

    def _learn(self, stream: TableStream, known: Any, named: Any) -> Any:
        """Learn from a table that is opened, and what was said of its last rows before.

        known, named : as `_labels` gives them
        """
        predictions, rows = (), 0
        for X, y in self._signed(stream).chunks(CHUNK):
            before = rows_seen(self.model)
            try:
                if known is None:
                    predictions = self.model.learn(X, as_numbers(y))[0]
                elif hasattr(self.model, "classes_"):
                    predictions = self.model.learn(X, as_classes(y, self.model.classes_))[0]
                else:
                    predictions = self.model.learn(X, as_classes(y, known), classes=known)[0]
            finally:  # an error or Ctrl-C may come when some of the rows were learned
                if n_new := rows_seen(self.model) - before:
                    whole = n_new == len(y)
                    encoder = stream.encoder.copy() if whole else stream.taught(rows + n_new)
                    self._set_learned(encoder, stream.label_name, named)
            rows += len(y)
        return predictions

    def _signed(self, stream: Stream) -> Stream:
        """A stream of labels as the model has them: of one against the rest +1 and -1."""
        positive = vars(self).get("positive_")
        return stream if positive is None else PositiveView(stream, positive, False)

    @if_model_has("learn_one")
    @changes
    def learn_one(
        self,
        x: Mapping[str, Any],
        y: Any = None,
        classes: Any = None,
        *,
        ignore_extra: bool = False,
    ) -> Any:
        """Test, then train on one record: much quicker than on a table of one row.

        Parameters
        ----------
        x : a dict; where the encoder fills gaps, a key that is not there is one
        y : its label; None: what the record has as label, or else a round without one
        classes, ignore_extra : as `partial_fit` has them

        Returns
        -------
        the prediction made before the label was looked at
        """
        _check_record(x)
        name = self._label() or "label"
        if name in x and y is not None:
            raise InputError(f"y: the record has a label, too, as {quoted(name)}")
        y = x.get(name) if y is None else y
        if "encoder_" not in vars(self):
            with warnings_together():
                stream = self._opened([{**x, name: y}], True, ignore_extra)
                known, named = self._labels(stream, classes)
            return self._learn(stream, known, named)[-1]
        (label,), named = self._labels_of([y], classes)
        row = self._row(x, True, ignore_extra)
        return self._teach(row, [y], named, lambda X: self._learn_one(X, label))

    def _learn_one(self, X: Any, label: Any) -> Any:
        if isinstance(X, np.ndarray):
            return self.model.learn_one(X[0], label)
        prediction = self.model.predict(X)[0]  # words are no array
        if is_missing(label):
            self.model.learn(X, [None])
        else:
            self.model.partial_fit(X, [label])
        return prediction

    @if_model_has("predict_one")
    @in_turn
    def predict_one(self, x: Mapping[str, Any], *, ignore_extra: bool = False) -> Any:
        """What the model says of one record, as the next one to be learned; see `learn_one`."""
        return self._predict_record("predict_one", x, ignore_extra)

    @if_model_has("predict_proba_one")
    @in_turn
    def predict_proba_one(
        self, x: Mapping[str, Any], *, ignore_extra: bool = False
    ) -> NDArray[np.float64]:
        """(c,) the probability of each class, as `predict_one`."""
        chances: NDArray[np.float64] = self._predict_record("predict_proba_one", x, ignore_extra)
        return chances

    def _predict_record(self, verb: str, x: Mapping[str, Any], ignore_extra: bool) -> Any:
        _check_record(x)
        X = self._encodes().next_rows(self._row(x, False, ignore_extra))
        if isinstance(X, np.ndarray):
            return getattr(self.model, verb)(X[0])
        return getattr(self.model, verb.removesuffix("_one"))(X)[0]

    @if_model_has("predict")
    @in_turn
    def predict(self, data: Any, *, ignore_extra: bool = False) -> NDArray[Any]:
        """(n,) what the model says of each row of a table; see `partial_fit`."""
        return self._predict_rows("predict", data, ignore_extra)

    @if_model_has("predict_proba")
    @in_turn
    def predict_proba(self, data: Any, *, ignore_extra: bool = False) -> NDArray[np.float64]:
        """(n, c) the probability of each class."""
        return self._predict_rows("predict_proba", data, ignore_extra)

    @if_model_has("decision_function")
    @in_turn
    def decision_function(self, data: Any, *, ignore_extra: bool = False) -> NDArray[np.float64]:
        """(n,) or (n, c) the model's decisions."""
        return self._predict_rows("decision_function", data, ignore_extra)

    @if_model_has("predict_interval")
    @in_turn
    def predict_interval(
        self, data: Any, coverage: float = 0.9, *, ignore_extra: bool = False
    ) -> NDArray[np.float64]:
        """(n, 2) between which numbers the labels are, with this probability."""
        return self._predict_rows("predict_interval", data, ignore_extra, coverage=coverage)

    def _encodes(self) -> TableEncoder:
        """The encoder; InputError where rows are numbers, which go to the model as they are."""
        encoder = self._unwrapped()[1]
        if encoder is None:
            raise InputError("x: the model has learned rows of numbers; `model` of it takes these")
        return encoder

    def _takes_numbers(self, data: Any) -> bool:
        """Whether the data are rows of numbers for a model that has learned such rows."""
        return vars(self).get("encoder_", self) is None and not _is_table(data)

    def _unwrapped(self) -> tuple[Any, TableEncoder | None]:
        """The model on rows of numbers, and the encoder that makes these, where there is one."""
        if "encoder_" not in vars(self):
            raise NotFittedError("TableModel: nothing was learned yet, not even what columns are")
        return self.model, self.encoder_

    # -- records, and rows that wait in a `LateLabels` -----------------------------------------

    def _row(self, x: Mapping[str, Any], learns: bool, ignore_extra: bool = False) -> Any:
        """(1, w) a record as the encoder's `read_record` has it."""
        encoder, label = self._encodes(), self._label()
        names, row = [name for name in x if name != label], None
        fills, known = encoder.missing != "error", encoder.feature_names_in_
        if all(isinstance(name, str) for name in names):
            matched = match_columns(encoder.columns_, names, known, fills, ignore_extra)
            row = None if matched.problem else encoder.read_record(x, learns)
        if row is not None:
            return row
        with warnings_together():
            return self._opened([x], ignore_extra=ignore_extra).unfilled(learns)

    def _waiting_rows(self, X: Any) -> Any:
        """(n, w) the rows of a table that wait for their labels; their gaps stay gaps."""
        if self._encodes().lags is not None:
            raise InputError(
                "lags: of rows that wait for their labels those before are not known; "
                "`partial_fit` learns such tables, and `delay` of the encoder says how late"
            )
        if not is_records(X):
            return self._opened(X).unfilled()
        return stacked([self._row(x, False) for x in ([X] if isinstance(X, Mapping) else X)])

    @property
    def _waiting_form(self) -> tuple[bool, bool, int]:
        """Of such rows: whether they have gaps, whether they are sparse, and their width."""
        encoder = self._encodes()
        width = encoder.width + encoder.words_width
        return encoder.missing != "error", encoder.words_width > 0, width

    def _predict_outputs(self, rows: Any) -> Outputs:
        return predict_outputs(self.model, self._encodes().next_rows(rows))

    def _learn_waiting(self, rows: Any, y: Any, classes: Any = None) -> Any:
        labels, named = self._labels_of(list(y), classes)

        def learn(X: Any) -> Any:
            if len(labels) > 1 or getattr(self.model, "labels", None) != "all":
                return self.model.learn(X, labels)
            asked = np.array([not is_missing(labels[0])])
            return [self._learn_one(X, labels[0])], asked  # quicker, and the same

        return self._teach(rows, y, named, learn)

    def _teach(self, rows: Any, y: Any, named: Any, learn: Callable[[Any], Any]) -> Any:
        """Learn such rows, and know them then; y : their labels as they were given."""
        start = self._encodes()
        labels = labels_as_arrow(y) if start.lags_of_label else None
        encoder = start.branch()
        X, before = encoder.next_rows(rows, True, labels), rows_seen(self.model)
        try:
            return learn(X)
        finally:  # an error or Ctrl-C may come when some of the rows were learned
            n_new = rows_seen(self.model) - before
            if 0 < n_new < X.shape[0]:
                encoder = start.branch()
                encoder.next_rows(rows[:n_new], True, None if labels is None else labels[:n_new])
            if n_new:
                self.encoder_, self.named_classes_ = encoder, named

    def _labels_of(self, y: list[Any], classes: Any) -> tuple[Any, Any]:
        """Labels as the model takes them, and those that somebody named."""
        known = getattr(self.model, "classes_", None)
        if classes is None:
            quick = [_as_known(label, known) for label in y]
            if not any(label is NotImplemented for label in quick):
                return quick, vars(self).get("named_classes_")
        name, encoder = self.label_ or "label", self._encodes()
        table = frame_of([{f"{name} ": 0.0, name: label} for label in y]).to_native()
        plain = TableEncoder(decimal=encoder.decimal, thousands=encoder.thousands)
        with warnings_together():
            stream = TableStream(FrameRecords(table), plain, name)
            known, named = self._labels(stream, classes)
        labels = stream.read()[1]
        return as_numbers(labels) if known is None else as_classes(labels, known), named

    def _opened(
        self,
        data: Any,
        learns: bool = False,
        ignore_extra: bool = False,
        on_bad_rows: str = "error",
        y: Any = None,
    ) -> Any:
        """A table as a stream of rows of numbers; learns : whether it is to be learned."""
        check(self)
        new, label = learns and "encoder_" not in vars(self), self._label()
        known = None if new else self._unwrapped()[1]
        if self._takes_numbers(data):
            stream = open_stream((data, np.zeros(number_of_rows(data)) if y is None else y))
            stream.labelled = y is not None
            return stream
        if isinstance(data, np.ndarray) and known is not None:
            data = _as_table(data, known.feature_names_in_.tolist())
        if not _is_table(data):
            wanted = "a frame, records such as [{'a': 1}], or the path of a table"
            raise InputError(f"data: expected {wanted}, got {shown(data)}")
        if y is not None:
            data, label = _with_labels(data, y, label)
        if new:
            frame = frame_of(data).to_native() if is_records(data) else data
            seeming = TableEncoder("auto", "auto", missing="mean")
            encoder = seeming if self.encoder is None else self.encoder.copy()
            stream = open_stream(frame, label=label, encoder=encoder, on_bad_rows=on_bad_rows)
        else:
            named = label if y is not None else None
            stream = open_like(
                self, data, label=named, learns=learns, ignore_extra=ignore_extra,
                on_bad_rows=on_bad_rows,
            )  # fmt: skip
        if stream.records() is None:
            raise InputError(f"data: expected a table, and {stream.name} is none")
        return stream

    def _kept_parameters(self) -> dict[str, Any]:
        if "encoder_" not in vars(self):
            raise InputError("save: a TableModel that has learned nothing; learn a table before")
        return super()._kept_parameters()

    def _kept_elsewhere(self) -> set[str]:
        return super()._kept_elsewhere() | {"encoder_", "history_"}

    def _write_kept(self, writer: Any, place: str) -> dict[str, Any]:
        encoder = None if self.encoder_ is None else self.encoder_.described()
        return {"encoder": encoder, "history": self.history_}

    def _read_kept(self, body: Mapping[str, Any], reader: Any) -> None:
        super()._read_kept(body, reader)
        for name, kinds in {"encoder": (dict,), "history": (dict,), "label_": (str,)}.items():
            found = body if name in self._kept_entries else vars(self)
            if name not in found and name != "history":  # older files have none
                raise InputError(f"{name} is missing")
            expect(name, found.get(name), *kinds, type(None))
        self.history_, described = body.get("history"), body["encoder"]
        encoder = None if described is None else TableEncoder.from_description(described)
        self._set_learned(encoder, self.label_, vars(self).get("named_classes_"))
        if encoder is not None and "encoder" not in body["parameters"]:  # of older files
            self.encoder = clone(encoder)
        self._kept_read()

    def _kept_read(self) -> None:
        """InputError where what a file says of the data does not go with the model."""
        if self.encoder_ is not None:
            width = len(self.encoder_.get_feature_names_out())
            if (found := getattr(self.model, "n_features_in_", width)) != width:
                raise InputError(f"encoder: {width} columns, and the model has {shown(found)}")
            if self.label_ in self.encoder_.columns_:
                raise InputError("label_: a column that is learned from")
        named = self.named_classes_
        if not (named is None or (isinstance(named, np.ndarray) and named.ndim == 1)):
            raise InputError(f"named_classes_: expected None or labels, got {shown(named)}")
        for name in ("label_", "positive_"):
            expect(name, getattr(self, name), str, type(None))
        expect("aside_", self.aside_, list)
        for name in self.aside_:
            expect("aside_", name, str)

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()

    def _label(self) -> str | None:
        return vars(self).get("label_", self.label)

    def _opened_to_predict(self, data: Any, ignore_extra: bool, y: Any = None) -> Stream:
        """A table to be predicted, and a warning about what is odd in it."""
        with warnings_together():
            stream = self._opened(data, ignore_extra=ignore_extra, y=y)
            warn_of_levels(stream.level_counts, stream.name)
        return stream

    def _predict_rows(self, verb: str, data: Any, ignore_extra: bool, **named: Any) -> Any:
        stream, say = self._opened_to_predict(data, ignore_extra), getattr(self.model, verb)
        with rows_waiting(MOST_ROUNDS):  # all rows are far from the last label
            return np.concatenate([say(X, **named) for X, _ in stream.chunks()])

    def _labels(self, stream: Stream, classes: Sequence[Any] | None) -> tuple[Any, Any]:
        """(c,) the labels of a classifier, and those that somebody named; None for numbers.

        InputError where there are none, or do not go with them. What is odd about the table is
        told.
        """
        if not stream.labelled:
            label = self._label()
            where = "" if label is None else f" in a column {quoted(label)}"
            raise InputError(f"{stream.name}: expected labels to learn from{where}, found none")
        present = self._signed(stream).classes()
        known = getattr(self.model, "classes_", None)
        if task_of(self.model) == "regression":
            if classes is not None:
                raise InputError("classes: the model predicts numbers; give none")
            try:
                as_numbers(np.array([]) if present is None else present)
            except InputError:
                labels = listed(np.asarray(present))
                problem = f"expected numbers as labels, found {labels}"
                raise InputError(f"{stream.name}: {problem}") from None
            _warn_of_rows(stream, ())
            return None, None
        if present is None:
            raise InputError(f"{stream.name}: too many different labels for a classifier")
        named = None if classes is None else np.unique(np.asarray(classes))
        if known is None:
            known = present if named is None else named
        elif named is None:
            named = vars(self).get("named_classes_")
        elif not np.isin(known, named := _spelled(named, known)).all():
            raise InputError(f"classes were {listed(known)} and are {listed(named)}")
        _warn_of_rows(stream, note_new_labels(_new_labels(self._signed(stream), known, named)))
        return known, named


def _spelled(named: NDArray[Any], known: NDArray[Any]) -> NDArray[Any]:
    try:
        return as_classes(named, known)
    except InputError as error:  # it says which row of these
        raise InputError(f"classes: {str(error).partition(': ')[2]}") from None


def _new_labels(stream: Stream, known: NDArray[Any], named: NDArray[Any] | None) -> dict[Any, int]:
    """The first row of each label that a model does not know; InputError where it is refused."""
    present: Any = stream.classes()
    with suppress(InputError):
        if np.isin(as_classes(present, known), known).all():
            return {}
    allowed, rows, found = None if named is None else named.tolist(), 0, dict[Any, int]()
    try:
        for _, y in stream.chunks(CHUNK):
            for label, row in new_labels(y, known, rows, allowed)[1].items():
                found.setdefault(label, row)
            rows += len(y)
    except InputError as error:
        raise InputError(f"{stream.name}: {error}") from None
    if named is None:
        check_some_known(present, known, stream.name)
    return found


def _is_table(data: Any) -> bool:
    return isinstance(data, (str, PathLike)) or is_frame(data) or is_records(data)


def _check_record(x: Any) -> None:
    if not isinstance(x, Mapping):
        raise InputError(f"x: expected a record such as {{'a': 1}}, got {shown(x)}")


def _as_known(label: Any, known: NDArray[Any] | None) -> Any:
    """A label as a model takes it; NotImplemented where it has to be looked at more closely.

    known : (c,) classes; None for numbers
    """
    label = label.item() if isinstance(label, np.generic) else label
    if is_missing(label) or type(label).__name__ == "NAType":
        return None
    if known is None:
        plain = type(label) in (int, float) and abs(label) < LARGEST_EXACT
        return float(label) if plain else NotImplemented
    if isinstance(label, str) != (known.dtype.kind == "U") or label in MISSING:
        return NotImplemented
    same = np.flatnonzero(known == label)
    return known[same[0]] if len(same) else NotImplemented


def _as_table(X: NDArray[Any], names: list[str]) -> Any:
    """Rows of an array as a frame: what scikit-learn makes of frames that are not of pandas."""
    if X.ndim != 2 or X.shape[1] != len(names):
        columns = f"an array of the {len(names)} columns that were learned"
        wanted = f"a frame, records such as [{{'a': 1}}], or {columns}"
        raise InputError(f"data: expected {wanted}, got an array of shape {X.shape}")
    note = f"an array: its columns are taken as {cut(', '.join(names), 1000)}, in this order"
    warn_caller(DataFileWarning("table", note))
    return frame_of([dict(zip(names, row, strict=True)) for row in X.tolist()]).to_native()


def _with_labels(data: Any, y: Any, label: str | None) -> tuple[Any, str]:
    """A frame, or records, with a column of labels more, and its name."""
    import narwhals as nw

    if isinstance(data, (str, PathLike)):
        raise InputError("y: goes with a frame or records; the labels of a file are a column of it")
    series_name, frame = getattr(y, "name", None), frame_of(data)
    name = label or (series_name if isinstance(series_name, str) and series_name else "label")
    if name in frame.columns:
        raise InputError(
            f"y: the table has a column {quoted(name)}, too; leave it out, or call the labels "
            "otherwise: TableModel(..., label='...')"
        )
    labels = labels_as_arrow(y).to_pylist()
    if len(labels) != len(frame):
        raise InputError(f"y: expected {len(frame)} labels, one for each row, got {len(labels)}")
    column = nw.new_series(name, labels, backend=frame.implementation)
    return frame.with_columns(column).to_native(), name


def _warn_of_rows(stream: Stream, labels: Sequence[str]) -> None:
    """Tell what was left out of a table that is about to be learned, or filled.

    labels : what there is to say of these
    """
    matched = stream.matched
    notes = [*([] if matched is None else matched.notes(stream.n_rows or 0)), *labels]
    if stream.n_unlabelled:
        rows = f"{stream.n_unlabelled:,} row{'s' * (stream.n_unlabelled > 1)}"
        notes.append(f"{rows} without a label: rounds without one")
    lines = [] if stream.bad_rows is None else stream.bad_rows.lines()
    notes += ["\n".join(lines)] if lines else []
    for note in notes:
        warn_caller(DataFileWarning(stream.name, note))
    warn_of_levels(stream.level_counts, stream.name)


def open_like(
    like: TableModel | None,
    data: Any,
    *,
    n_features: int | None = None,
    label: str | None = None,
    aside: Sequence[str] = (),
    seed: int = 0,
    max_bytes: int | None = None,
    sep: str | None = None,
    encoder: TableEncoder | None = None,
    written: Mapping[str, Any] | None = None,
    learns: bool = False,
    ignore_extra: bool = False,
    on_bad_rows: str = "error",
) -> Stream:
    """New data in the form of those that a model learned; a table needs no label.

    Parameters
    ----------
    like : a model that has learned; None for a new one, whose table has a label only in a column
        that is named here or called "label"
    data : what `open_stream` takes; or records
    n_features, seed, max_bytes, sep, on_bad_rows : see `open_stream`
    label : a table's column with the label; None for the one that the model learned
    aside : a table's columns that are neither features nor the label, besides those that were so
        in the data that the model learned
    encoder : of a new model's table; what it fills gaps with comes from the whole table
    written : how values are written where it is not as they were for the model, see
        `TableEncoder.rewritten`
    learns : whether the model is to learn the rows: what fills gaps then goes on learning, too
    ignore_extra : whether a table's columns that the model does not know are left out

    Returns
    -------
    Stream, which is not `labelled` where a table has no label, or none in any row

    Raises
    ------
    DataFileError
        The file cannot be read, or has other features.
    UnknownNameError
        Neither a file nor a name, or no such column.
    InputError
        The data have other features.

    Examples
    --------
    >>> import kernbrook as kb
    >>> rows = [{"km": 3.0, "late": "no"}, {"km": 9.0, "late": "yes"}] * 20
    >>> model = kb.fit_table(rows, label="late", model=kb.recipes.make("bpas"))
    >>> kb.evaluation.open_like(model, [{"km": 4.0}, {"km": 8.0}]).read()[0].tolist()
    [[4.0], [8.0]]
    """
    sep, skips = checked_separator(sep), check_on_bad_rows(on_bad_rows)
    wanted: str | None = "label"
    new_encoder = encoder
    known: list[str] = [] if encoder is None else encoder.named_columns()
    if like is not None:
        encoder, wanted, new_encoder = like._unwrapped()[1], like.label_, None
        if encoder is not None:  # which remembers what is odd in data
            encoder = TableEncoder.from_description(encoder.described())
        n_features = getattr(like.model, "n_features_in_", n_features)
        known = [] if encoder is None else encoder.columns_
    filled = like is not None and encoder is not None and encoder.missing != "error"
    trained = like is not None and (encoder is not None or n_features is not None)
    named, optional = [*known, *([] if label is None else [label])], known if filled else ()
    least, place = 1 if n_features == 1 else 2, data  # of a CSV file: it need not have a label
    if isinstance(data, (str, PathLike)) and (file := find_file(str(data), max_bytes)) is not None:
        data = file  # a pipe gives its rows once
    records = data if isinstance(data, Records) else None
    if isinstance(data, DataFile) or _is_table(data):
        records = table_records(data, max_bytes, sep, named, least, optional, skips)
    if records is None:
        if aside:
            raise InputError(f"column {quoted(aside[0])}: {place} is no table")
        of_tables = [name for name, value in (written or {}).items() if value]
        if of_tables := of_tables + ["ignore_extra"] * ignore_extra:
            raise InputError(f"{of_tables[0]}: goes with a table, and {place} is none")
        return open_stream(
            data, n_features=n_features, label=label, seed=seed, max_bytes=max_bytes, sep=sep,
            encoder=new_encoder, on_bad_rows=on_bad_rows,
        )  # fmt: skip
    columns = records.columns
    before = [] if like is None else [name for name in like.aside_ if name in columns]
    aside = list(dict.fromkeys([*aside, *before]))
    label = wanted if label is None and wanted in columns else label
    by_number = trained and encoder is None and len(columns) - len(aside) != n_features
    if written is not None:
        encoder = (TableEncoder() if encoder is None else encoder).rewritten(**written)
    options: dict[str, Any] = {
        "n_features": n_features, "aside": aside, "learns": learns, "ignore_extra": ignore_extra,
        "skips": skips,
    }  # fmt: skip
    labelled = label is not None or by_number
    stream = TableStream(records, encoder, label, labelled, trained=trained, **options)
    if not trained and stream.encoder.missing != "error":
        return TableStream(records, stream.encoder, label, labelled, **options)
    if not learns and stream.n_rows is not None:
        for note in stream.matched.notes(stream.n_rows):
            warn_caller(DataFileWarning(stream.name, note))
    return stream
