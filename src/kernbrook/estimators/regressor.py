"""The composed machine as a scikit-learn regressor."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from kernbrook.checks import LARGEST, Flag, parameters, row_of_chunk, shown
from kernbrook.engine.learning import Answer
from kernbrook.errors import InputError
from kernbrook.estimators.base import OnlineMachine
from kernbrook.estimators.confidence import Residuals, check_coverage, covering, intervals_of
from kernbrook.estimators.labels import as_numbers, present
from kernbrook.estimators.pool import Pool, with_constants
from kernbrook.estimators.tasks import Outputs
from kernbrook.gram.arrays import Flags, Floats
from kernbrook.learners import Advice
from kernbrook.turns import changes, in_turn


@parameters
class OnlineMKRegressor(RegressorMixin, OnlineMachine):
    """Online regression with many kernels: kernels x learner x combiner x selection x labels.

    One learner for each kernel learns from a stream; a combiner weighs their predictions. Without
    arguments it is the recipe "kernbrook-regression" and needs no settings: it scales the features
    as they come, and has a fixed size. The result never depends on how the stream is cut into
    chunks.

    Parameters
    ----------
    {kernels}
    learner : learner of each kernel, or a list of them; None: the default
        By default ridge regressions and gradient steps on random features of kernels of all inputs
        and of few, of moments and of ranks, with and without forgetting, and the last label; on
        kernels that are given `GradientDescent(0.5, "normalized")` and `Ridge()`. An expert is a
        pair of a learner and a kernel; those of the first learner come first.
    combiner : what weighs the experts, on losses of numbers; `Stack()` by default
        Where a selection leaves experts out, `MLPoly("linearized", scale_free=True)`.
    {selection, labels, random_state, scaling}
    center : bool
        Learn the differences from the first label seen, which is added to all predictions after
        it: kernels of x - z fit a constant only slowly. And learn a constant where the functions of
        a kernel are all 0 at 0, as those of x.z are: 1 is added to such a kernel, also to a
        function of yours, which is called with rows of 0 and of 1 to see that. So a first label
        that is far from the others is made up for. Precomputed kernels are taken as they are.
    {judge_stored, missing_label, on_bad_rows, delay}

    Attributes
    ----------
    {kernels_, kernel_weights_, expert_weights_, experts_}
    expert_errors_ : (e,) squared error of each expert before each label was seen, times its sample
        weight; mean over the labels seen
    {n_support_stored_, n_support_active_, support_vectors_, dual_coef_, labels_asked_, n_rounds_}
    {n_rows_skipped_, memory_bytes_, why_not_quick_}
    offset_ : the first label, where `center` asks for it
    {n_features_in_}

    References
    ----------
    Shen, Chen, Giannakis (2019), Random feature-based online multi-kernel learning in environments
    with unknown dynamics. Hong and Chae (2020), Active learning with multiple kernels.

    Examples
    --------
    >>> import numpy as np
    >>> import kernbrook as kb
    >>> X = np.random.default_rng(0).uniform(0, 6, size=(300, 1))
    >>> model = kb.OnlineMKRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.05)
    True
    """

    _: KW_ONLY
    center: Annotated[bool, Flag()] = True
    _of_numbers, _scores, _no_label = True, 1, math.nan
    _learned = (*OnlineMachine._learned, "offset_")

    def _pool(self, width: int) -> Pool:
        pool = super()._pool(width)
        if not self.center:
            return pool
        if any(isinstance(member.learner, Advice) for member in pool.members):
            raise InputError("learner: Advice gives forecasts of the labels; set center=False")
        return with_constants(pool, width)

    @changes
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        return self if self._is_empty_chunk(X, y) else self._learn_all(X, y, None, sample_weight)

    @changes
    def learn(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[Floats, Flags]:
        return self._learn_rows(X, y, None, sample_weight)[:2]

    _learn_scored = OnlineMachine._learn_scored  # which goes with this `learn`, too

    @in_turn
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The number expected for each row.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix
        return_std : whether to return deviations too

        Returns
        -------
        predictions : (n,)
        deviations : (n,) of the errors of late, before each label was learned from; only with
            `return_std`. The same for all rows; infinite before the first label.
        """
        verdicts = self._decide(X)
        predictions = self._predictions(verdicts.decisions) + self._offset()
        if not return_std:
            return predictions
        deviations = np.empty(len(predictions))
        for rows, calibration in self._by_horizon(verdicts):
            deviations[rows] = calibration.deviation()
        return predictions, deviations

    @in_turn
    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Intervals that cover the labels as often as asked for, over the stream; see `Residuals`.

        Parameters
        ----------
        X : (n, d) array, frame or sparse matrix
        coverage : number in (0, 1), the share of labels inside

        Returns
        -------
        (n, 2) the lower and the upper end; infinite where the labels so far are too few, 9 for a
        coverage of 0.9

        Raises
        ------
        InputError
            The coverage does not lie in (0, 1).

        Examples
        --------
        >>> import numpy as np
        >>> import kernbrook as kb
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(0, 6, size=(1000, 1))
        >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, size=1000)
        >>> model = kb.OnlineMKRegressor(random_state=0).fit(X[:500], y[:500])
        >>> low, high = model.predict_interval(X[500:], coverage=0.8).T
        >>> bool(abs(np.mean((low <= y[500:]) & (y[500:] <= high)) - 0.8) < 0.1)
        True
        """
        check_coverage("coverage", coverage)
        with intervals_of(coverage):
            intervals = self._predict_outputs(X).intervals
        assert intervals is not None  # they were asked for
        return intervals

    @in_turn
    def _predict_outputs(self, X: Any) -> Outputs:
        """Numbers, and half widths of intervals where they are asked for; nobody was asked."""
        verdicts = self._decide(X)
        predictions, half = self._predictions(verdicts.decisions) + self._offset(), None
        if (coverage := covering.get()) is not None:
            half = np.empty(len(predictions))
            for rows, calibration in self._by_horizon(verdicts):
                half[rows] = calibration.half_width(float(coverage))
        none = np.zeros(len(predictions), dtype=bool)
        return Outputs(predictions, none, half_widths=half)

    @property
    @in_turn
    def expert_errors_(self) -> Floats:
        return self._model.progress.losses / max(self._model.asked, 1)

    # -- labels -----------------------------------------------------------------------------

    def _numbers(self, y: NDArray[Any]) -> Floats:
        labelled = present(y)
        numbers = np.full(len(y), self._no_label)
        numbers[labelled] = as_numbers(y[labelled])
        wrong = labelled & ~(np.abs(numbers) < 1e100)
        if wrong.any():
            raise InputError(
                f"y: expected numbers of size below 1e100, found {numbers[wrong][0]:g} "
                f"({row_of_chunk(wrong.argmax())})"
            )
        if self.center:
            if not hasattr(self, "offset_") and labelled.any():
                self.offset_ = float(numbers[labelled][0])
            numbers -= self._offset()
        return numbers

    def _offset(self) -> float:
        return getattr(self, "offset_", 0.0)

    def _learn(self, X: Any, y: Any, sample_weight: Any = None, given: bool = False) -> Outputs:
        centred = hasattr(self, "offset_")
        try:
            learned = super()._learn(X, y, sample_weight, given)
        except BaseException:
            if not centred and hasattr(self, "_model") and self._model.asked == 0:
                self.__dict__.pop("offset_", None)  # the label that it came from was not learned
            raise
        asked = learned.asked
        since = 0 if centred or not asked.any() else int(asked.argmax()) + 1
        learned.predictions[since:] += self._offset()
        return learned

    def _number_of(self, y: Any) -> float | None:
        if (
            not isinstance(y, (float, int, Real))
            or y == self.missing_label
            or (self.center and not hasattr(self, "offset_"))
        ):
            return None
        try:
            number = float(y) - self._offset()
        except OverflowError:  # of an int
            return None
        return number if abs(number) < 1e100 else None

    def _check_fitted(self, width: int) -> None:
        super()._check_fitted(width)
        offset = self._offset()
        if not (type(offset) is float and abs(offset) < LARGEST):
            raise InputError(f"offset_: expected a number of size below 1e100, got {shown(offset)}")

    def _asks_how_sure(self, given: bool) -> bool:
        return not given and covering.get() is not None

    def _sure(self, answer: Answer) -> dict[str, Any]:
        return {} if answer.certainty is None else {"half_widths": answer.certainty}

    def _new_calibration(self, inputs: int) -> Residuals:
        return Residuals()

    def _uninformed(self) -> float:
        return self._offset()

    def _no_rows(self, classes: Any) -> Outputs:
        return Outputs(np.empty(0), np.zeros(0, dtype=bool), None)

    def _predictions(self, decisions: Floats) -> Floats:
        return decisions[:, 0].copy()

    def _prediction(self, decision: Floats, sure: Any) -> Any:
        return decision[0] + self._offset()
