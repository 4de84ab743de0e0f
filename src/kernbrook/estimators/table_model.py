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
from sklearn.utils.metaestimators import available_if

from kernbrook.checks import Other, check, shown
from kernbrook.engine.progress import MOST_ROUNDS
from kernbrook.errors import DataFileWarning, InputError
from kernbrook.estimators.base import Kept, rows_met
from kernbrook.estimators.late import so_many_wait
from kernbrook.estimators.tasks import Learned, read, task_of
from kernbrook.plain_values import expect
from kernbrook.snapshots import Snapshots
from kernbrook.streams import TableEncoder, open_stream
from kernbrook.streams.formats.arrow_records import FrameRecords, frame_of, labels_as_arrow
from kernbrook.streams.formats.csv_header import MISSING, quoted
from kernbrook.streams.opening import check_on_bad_rows, is_frame, is_records, table_records
from kernbrook.streams.stream import has_label
from kernbrook.streams.tables.column_kinds import is_missing
from kernbrook.streams.tables.encoded_columns import stacked
from kernbrook.streams.tables.label_spelling import as_classes, as_numbers, listed
from kernbrook.streams.tables.levels import warn_of
from kernbrook.streams.tables.matching import match_columns
from kernbrook.streams.tables.new_labels import check_some_known, new_labels, told_of_new
from kernbrook.streams.tables.table_stream import TableStream
from kernbrook.telling import at_once, tell
from kernbrook.turns import changes, in_turn

_EXACT = 2**53  # below it a float holds all integers
CHUNK = 1024  # rows that are learned at a time; they do not change the result


def _has(verb: str) -> Any:
    return lambda self: hasattr(self.model, verb)


class TableModel(Kept, Snapshots, BaseEstimator):
    """A model with its encoder: it learns from tables and predicts tables, as they are.

    `kb.fit_table` makes one. A table is a frame of pandas, polars or pyarrow; records: a dict or a
    list of dicts; or a file of a table, or a folder of Parquet files, by its path. Columns go by
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
    encoder_ : TableEncoder, as it is after the rows that were learned
    label_ : the name of the label's column
    named_classes_ : all labels that may come, where somebody has named them; else None
    classes_, n_rounds_, n_rows_skipped_ : those of the model

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
        "model": Other("a model of ours", lambda value: _model(value)),
        "encoder": Other("None or a TableEncoder", lambda value: _encoder(value)),
        "label": Other("None or the name of a column", lambda value: _name(value)),
    }
    encoder_: TableEncoder
    label_: str
    named_classes_: NDArray[Any] | None
    _kept_around = True
    _kept_entries = ("encoder",)

    def __init__(self, model: Any, encoder: TableEncoder | None = None, label: str | None = None):
        self.model = model
        self.encoder = encoder
        self.label = label

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
        with at_once():
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
        stream = self._told(data, ignore_extra, y)
        if not stream.labelled:
            raise InputError(f"{stream.name}: expected labels to compare with, found none")
        with so_many_wait(MOST_ROUNDS):
            parts = [(self.model.predict(X), own) for X, own in stream.chunks()]
        said, labels = (np.concatenate(part) for part in zip(*parts, strict=True))
        said, labels = said[there := has_label(labels)], labels[there]
        if task_of(self.model) == "classification":
            return float(np.mean(said == as_classes(labels, self.model.classes_)))
        from sklearn.metrics import r2_score

        return float(r2_score(as_numbers(labels), said))

    def _learn(self, stream: TableStream, known: Any, named: Any) -> Any:
        """Learn from a table that is opened, and what was said of its last rows before.

        known, named : as `_labels` gives them
        """
        assert stream.label_name is not None
        said: Any = ()
        for X, y in stream.chunks(CHUNK):
            before = rows_met(self.model)
            try:
                if known is None:
                    said = self.model.learn(X, as_numbers(y))[0]
                elif hasattr(self.model, "classes_"):
                    said = self.model.learn(X, as_classes(y, self.model.classes_))[0]
                else:
                    said = self.model.learn(X, as_classes(y, known), classes=known)[0]
            finally:  # an error or Ctrl-C may come when some of the rows were learned
                if rows_met(self.model) != before:
                    self.encoder_, self.label_ = stream.encoder.copy(), stream.label_name
                    self.named_classes_ = named
        return said

    @available_if(_has("learn_one"))
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
            with at_once():
                stream = self._opened([{**x, name: y}], True, ignore_extra)
                known, named = self._labels(stream, classes)
            return self._learn(stream, known, named)[-1]
        (label,), named = self._labels_of([y], classes)
        row = self._row(x, True, ignore_extra)
        return self._teach(row, [y], named, lambda X: self._learn_one(X, label))

    def _learn_one(self, X: Any, label: Any) -> Any:
        """`learn_one` of the model, of rows (1, d)."""
        if isinstance(X, np.ndarray):
            return self.model.learn_one(X[0], label)
        said = self.model.predict(X)[0]  # words are no array
        if is_missing(label):
            self.model.learn(X, [None])
        else:
            self.model.partial_fit(X, [label])
        return said

    @available_if(_has("predict_one"))
    @in_turn
    def predict_one(self, x: Mapping[str, Any], *, ignore_extra: bool = False) -> Any:
        """What the model says of one record, as the next one to be learned; see `learn_one`."""
        return self._say_one("predict_one", x, ignore_extra)

    @available_if(_has("predict_proba_one"))
    @in_turn
    def predict_proba_one(
        self, x: Mapping[str, Any], *, ignore_extra: bool = False
    ) -> NDArray[np.float64]:
        """(c,) the probability of each class, as `predict_one`."""
        said: NDArray[np.float64] = self._say_one("predict_proba_one", x, ignore_extra)
        return said

    def _say_one(self, verb: str, x: Mapping[str, Any], ignore_extra: bool) -> Any:
        _check_record(x)
        X = self._unwrapped()[1].next_rows(self._row(x, False, ignore_extra))
        if isinstance(X, np.ndarray):
            return getattr(self.model, verb)(X[0])
        return getattr(self.model, verb.removesuffix("_one"))(X)[0]

    @available_if(_has("predict"))
    @in_turn
    def predict(self, data: Any, *, ignore_extra: bool = False) -> NDArray[Any]:
        """(n,) what the model says of each row of a table; see `partial_fit`."""
        return self._said("predict", data, ignore_extra)

    @available_if(_has("predict_proba"))
    @in_turn
    def predict_proba(self, data: Any, *, ignore_extra: bool = False) -> NDArray[np.float64]:
        """(n, c) the probability of each class."""
        return self._said("predict_proba", data, ignore_extra)

    @available_if(_has("decision_function"))
    @in_turn
    def decision_function(self, data: Any, *, ignore_extra: bool = False) -> NDArray[np.float64]:
        """(n,) or (n, c) the model's decisions."""
        return self._said("decision_function", data, ignore_extra)

    @available_if(_has("predict_interval"))
    @in_turn
    def predict_interval(
        self, data: Any, coverage: float = 0.9, *, ignore_extra: bool = False
    ) -> NDArray[np.float64]:
        """(n, 2) between which numbers the labels are, with this probability."""
        return self._said("predict_interval", data, ignore_extra, coverage=coverage)

    def _unwrapped(self) -> tuple[Any, TableEncoder]:
        """The model on rows of numbers, and the encoder that makes these.

        Raises
        ------
        NotFittedError
            Nothing was learned yet.
        """
        if "encoder_" not in vars(self):
            raise NotFittedError("TableModel: nothing was learned yet, not even what columns are")
        return self.model, self.encoder_

    # -- records, and rows that wait in a `LateLabels` -----------------------------------------

    def _row(self, x: Mapping[str, Any], learns: bool, ignore_extra: bool = False) -> Any:
        """(1, w) a record as the encoder's `read_record` has it."""
        encoder, label = self._unwrapped()[1], self._label()
        names, row = [name for name in x if name != label], None
        fills, known = encoder.missing != "error", encoder.feature_names_in_
        if all(isinstance(name, str) for name in names):
            matched = match_columns(encoder.columns_, names, known, fills, ignore_extra)
            row = None if matched.problem else encoder.read_record(x, learns)
        if row is not None:
            return row
        with at_once():
            return self._opened([x], ignore_extra=ignore_extra).unfilled(learns)

    def _waiting_rows(self, X: Any) -> Any:
        """(n, w) the rows of a table that wait for their labels; their gaps stay gaps."""
        if self._unwrapped()[1].lags is not None:
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
        encoder = self._unwrapped()[1]
        encoded = encoder.encoded
        width = encoded.width + encoded.words_width
        return encoder.missing != "error", encoded.words_width > 0, width

    def _read(self, rows: Any) -> Learned:
        """All that the model says now of such rows."""
        return read(self.model, self._unwrapped()[1].next_rows(rows))

    def _learn_waiting(self, rows: Any, y: Any, classes: Any = None) -> Any:
        """`learn` of the model, of such rows."""
        labels, named = self._labels_of(list(y), classes)

        def learn(X: Any) -> Any:
            if len(labels) > 1 or getattr(self.model, "labels", None) != "all":
                return self.model.learn(X, labels)
            asked = np.array([not is_missing(labels[0])])
            return [self._learn_one(X, labels[0])], asked  # quicker, and the same

        return self._teach(rows, y, named, learn)

    def _teach(self, rows: Any, y: Any, named: Any, learn: Callable[[Any], Any]) -> Any:
        """Learn such rows, and know them then; y : their labels as they were given."""
        labels = labels_as_arrow(y) if self.encoder_.lags_of_label else None
        encoder = self.encoder_.branch()
        X, before = encoder.next_rows(rows, True, labels), rows_met(self.model)
        try:
            return learn(X)
        finally:  # an error or Ctrl-C may come when some of the rows were learned
            met = rows_met(self.model) - before
            if 0 < met < X.shape[0]:
                encoder = self.encoder_.branch()
                encoder.next_rows(rows[:met], True, None if labels is None else labels[:met])
            if met:
                self.encoder_, self.named_classes_ = encoder, named

    def _labels_of(self, y: list[Any], classes: Any) -> tuple[Any, Any]:
        """Labels as the model takes them, and those that somebody named."""
        known = getattr(self.model, "classes_", None)
        if classes is None:
            quick = [_as_known(label, known) for label in y]
            if not any(label is NotImplemented for label in quick):
                return quick, vars(self).get("named_classes_")
        name, encoder = self.label_, self.encoder_
        table = frame_of([{f"{name} ": 0.0, name: label} for label in y]).to_native()
        plain = TableEncoder(decimal=encoder.decimal, thousands=encoder.thousands)
        with at_once():
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
    ) -> TableStream:
        """A table as a stream of rows of numbers; learns : whether it is to be learned."""
        check(self)
        new = learns and "encoder_" not in vars(self)
        encoder = _copied(self.encoder) if new else self._unwrapped()[1]
        skips, label = check_on_bad_rows(on_bad_rows), self._label()
        if isinstance(data, np.ndarray) and not new:
            data = _as_table(data, encoder.feature_names_in_.tolist())
        if not (isinstance(data, (str, PathLike)) or is_frame(data) or is_records(data)):
            wanted = "a frame, records such as [{'a': 1}], or the path of a table"
            raise InputError(f"data: expected {wanted}, got {shown(data)}")
        if y is not None:
            data, label = _with_labels(data, y, label)
        named = encoder.named_columns()
        optional = named if encoder.missing != "error" else ()
        known = named if label is None else [*named, label]
        least = 2 if learns else 1
        records = table_records(data, None, None, known, least, optional, skips)
        if records is None:
            name = open_stream(data).name  # which says so where there is no such file
            raise InputError(f"data: expected a table, and {name} is none")
        there = new or label in records.columns
        return TableStream(
            records, encoder, label if there else None, there, trained=not new, learns=learns,
            ignore_extra=ignore_extra, skips=skips,
        )  # fmt: skip

    def _kept_parameters(self) -> dict[str, Any]:
        if "encoder_" not in vars(self):
            raise InputError("save: a TableModel that has learned nothing; learn a table before")
        parameters = super()._kept_parameters()
        parameters.pop("encoder")  # that follows from what it has learned
        return parameters

    def _kept_elsewhere(self) -> set[str]:
        return super()._kept_elsewhere() | {"encoder_"}

    def _write_kept(self, writer: Any, place: str) -> dict[str, Any]:
        return {"encoder": self.encoder_.described()}

    def _read_kept(self, body: Mapping[str, Any], reader: Any) -> None:
        super()._read_kept(body, reader)
        encoder = TableEncoder.from_description(body.get("encoder"))
        width = len(encoder.get_feature_names_out())
        found = getattr(self.model, "n_features_in_", None)
        if found != width:
            raise InputError(f"encoder: {width} columns, and the model has {shown(found)}")
        expect("label_", vars(self).get("label_"), str)
        if self.label_ in encoder.columns_:
            raise InputError("label_: a column that is learned from")
        named = self.__dict__.setdefault("named_classes_", None)  # older files have none
        if not (named is None or (isinstance(named, np.ndarray) and named.ndim == 1)):
            raise InputError(f"named_classes_: expected None or labels, got {shown(named)}")
        self.encoder_, self.encoder = encoder, clone(encoder)

    classes_ = property(lambda self: self.model.classes_)
    n_rounds_ = property(lambda self: self.model.n_rounds_)
    n_rows_skipped_ = property(lambda self: self.model.n_rows_skipped_)

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()

    def _label(self) -> str | None:
        return vars(self).get("label_", self.label)

    def _told(self, data: Any, ignore_extra: bool, y: Any = None) -> TableStream:
        """A table to be predicted, and a warning about what is odd in it."""
        with at_once():
            stream = self._opened(data, ignore_extra=ignore_extra, y=y)
            for told in stream.matched.told(stream.n_rows or 0):
                tell(DataFileWarning(stream.name, told))
            warn_of(stream.level_counts, stream.name)
        return stream

    def _said(self, verb: str, data: Any, ignore_extra: bool, **named: Any) -> Any:
        """What a method of the model gives, row by row."""
        stream, say = self._told(data, ignore_extra), getattr(self.model, verb)
        with so_many_wait(MOST_ROUNDS):  # all rows are far from the last label
            return np.concatenate([say(X, **named) for X, _ in stream.chunks()])

    def _labels(self, stream: TableStream, classes: Sequence[Any] | None) -> tuple[Any, Any]:
        """(c,) the labels of a classifier, and those that somebody named; None for numbers.

        InputError where there are none, or do not go with them. What is odd about the table is
        told.
        """
        if not stream.labelled:
            label = self._label()
            where = "" if label is None else f" in a column {quoted(label)}"
            raise InputError(f"{stream.name}: expected labels to learn from{where}, found none")
        present, known = stream.classes(), getattr(self.model, "classes_", None)
        if task_of(self.model) == "regression":
            if classes is not None:
                raise InputError("classes: the model predicts numbers; give none")
            try:
                as_numbers(np.array([]) if present is None else present)
            except InputError:
                labels = listed(np.asarray(present))
                problem = f"expected numbers as labels, found {labels}"
                raise InputError(f"{stream.name}: {problem}") from None
            _tell(stream, ())
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
        _tell(stream, told_of_new(_new_labels(stream, known, named)))
        return known, named


def _spelled(named: NDArray[Any], known: NDArray[Any]) -> NDArray[Any]:
    """Labels that the call names as the classes of the model are written."""
    try:
        return as_classes(named, known)
    except InputError as error:  # it says which row of these
        raise InputError(f"classes: {str(error).partition(': ')[2]}") from None


def _new_labels(
    stream: TableStream, known: NDArray[Any], named: NDArray[Any] | None
) -> dict[Any, int]:
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
        plain = type(label) in (int, float) and abs(label) < _EXACT
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
    told = f"an array: its columns are taken as {', '.join(names)}, in this order"
    tell(DataFileWarning("table", told))
    return frame_of([dict(zip(names, row, strict=True)) for row in X.tolist()]).to_native()


def _with_labels(data: Any, y: Any, label: str | None) -> tuple[Any, str]:
    """A frame, or records, with a column of labels more, and its name."""
    import narwhals as nw

    if isinstance(data, (str, PathLike)):
        raise InputError("y: goes with a frame or records; the labels of a file are a column of it")
    own, frame = getattr(y, "name", None), frame_of(data)
    name = label or (own if isinstance(own, str) and own else "label")
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


def _copied(encoder: TableEncoder | None) -> TableEncoder:
    """An encoder that is about to learn a table, or to go on; by default what seems right."""
    if encoder is None:
        return TableEncoder("auto", "auto", missing="mean")
    return encoder.copy()


def _tell(stream: TableStream, labels: Sequence[str]) -> None:
    """Tell what was left out of a table that is about to be learned, or filled.

    labels : what there is to say of these
    """
    told = [*stream.matched.told(stream.n_rows or 0), *labels]
    if stream.n_unlabelled:
        rows = f"{stream.n_unlabelled:,} row{'s' * (stream.n_unlabelled > 1)}"
        told.append(f"{rows} without a label: rounds without one")
    told += ["\n".join(lines)] if (lines := stream.bad_rows.lines()) else []
    for one in told:
        tell(DataFileWarning(stream.name, one))
    warn_of(stream.level_counts, stream.name)


def _model(value: Any) -> None:
    if isinstance(value, type) or not hasattr(value, "learn"):
        raise InputError(
            f"model: expected one of ours that learns from a stream, got {shown(value)}"
        )


def _encoder(value: Any) -> None:
    if not (value is None or isinstance(value, TableEncoder)):
        raise InputError(f"encoder: expected None or a TableEncoder, got {shown(value)}")


def _name(value: Any) -> None:
    if not (value is None or isinstance(value, str)):
        raise InputError(f"label: expected None or the name of a column, got {shown(value)}")
