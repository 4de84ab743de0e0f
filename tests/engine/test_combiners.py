"""Combiners against their naive twins, and against the bounds of their papers."""

import math

import hard_streams
import numpy as np
import plain
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import Combining
from naive import combiners as naive
from naive import regression

import kernbrook as kb
from kernbrook.evaluation.oracles import best_fixed, best_shifting

PAIRS = {
    "Hedge": (kb.Hedge(0.8), lambda m: naive.Hedge(m, 0.8)),
    "Hedge, slow": (kb.Hedge(0.99), lambda m: naive.Hedge(m, 0.99)),
    "FixedShare": (kb.FixedShare(0.8, 0.05), lambda m: naive.FixedShare(m, 0.8, 0.05)),
    "FixedShare, variable": (
        kb.FixedShare(0.8, 0.05, variable=True),
        lambda m: naive.FixedShare(m, 0.8, 0.05, True),
    ),
    "FixedShare, rare": (kb.FixedShare(0.9, 1e-9), lambda m: naive.FixedShare(m, 0.9, 1e-9)),
    "MLPoly": (kb.MLPoly(), naive.MLPoly),
    "MLPoly, scale-free": (kb.MLPoly(scale_free=True), regression.MLPoly),
    "EXP": (kb.EXP(2.0), lambda m: regression.EXP(m, 2.0)),
    "EXP, horizon": (kb.EXP(3.0, horizon=80), lambda m: regression.EXP(m, 3.0, 80)),
}


def stream(kind, rng, T, m):
    """Losses (T, m) of one kind."""
    if kind == "mistakes":
        return rng.integers(0, 2, (T, m)).astype(float)
    if kind == "hinge":
        return np.maximum(0, 1 - rng.normal(rng.normal(size=m), 1.0, (T, m)))
    if kind == "heavy tails":
        return np.minimum(rng.pareto(0.6, (T, m)), 1e6)
    if kind == "huge":
        return 1e6 * rng.integers(0, 2, (T, m)) * rng.random((T, m))
    if kind == "tiny":
        return 1e-9 * rng.random((T, m))
    if kind == "mostly zeros":
        return np.where(rng.random((T, m)) < 0.1, rng.random((T, m)), 0.0)
    if kind == "equal":
        return np.repeat(10 ** rng.uniform(-3, 6, (T, 1)), m, axis=1)
    if kind == "tenths":  # sums and regrets that are equal, or 0, but for rounding
        return rng.integers(0, 4, (T, m)) / 10
    assert kind == "weighted"  # sample weights
    return rng.choice([0.0, 0.25, 1.0, 3.0], (T, 1)) * rng.integers(0, 2, (T, m))


KINDS = ["mistakes", "hinge", "heavy tails", "huge", "tiny", "mostly zeros", "equal", "tenths"]
KINDS += ["weighted"]


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=25, deadline=None)
@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=3),
    m=st.sampled_from([1, 2, 3, 5, 16]),
    T=st.integers(1, 60),
    seed=st.integers(0, 2**31 - 1),
)
def test_compiled_equals_its_twin(name, kinds, m, T, seed):
    """Kinds one after the other: small losses after 1e6, ties after a lead."""
    rng = np.random.default_rng(seed)
    losses = np.concatenate([stream(kind, rng, T, m) for kind in kinds])
    combiner, twin = PAIRS[name]
    expected = naive.run(twin(m), losses)
    got = naive.run(Combining(combiner, m), losses)
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", PAIRS)
def test_many_rounds(name):
    """Neither underflow nor drift from the twin over 2,000 rounds."""
    rng = np.random.default_rng(0)
    losses = np.concatenate([stream(kind, rng, 1000, 4) for kind in ("hinge", "mistakes")])
    combiner, twin = PAIRS[name]
    fast, slow = Combining(combiner, 4), twin(4)
    for t, loss in enumerate(losses):
        fast.learn(loss)
        slow.learn(loss)
        if t % 100 == 99:
            np.testing.assert_allclose(fast.weights(), slow.weights().astype(float), atol=1e-9)


@pytest.mark.parametrize("name", PAIRS)
def test_all_equal_losses_leave_the_weights_equal(name):
    run = Combining(PAIRS[name][0], 7)
    for loss in (0.0, 0.1, 1.0, 1e6, 1e300, 0.0):
        run.learn(np.full(7, loss))
        np.testing.assert_allclose(run.weights(), 1 / 7, rtol=1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_losses_of_any_size(name):
    """1e300 counts as 1e100, whose square can be summed."""
    rng = np.random.default_rng(1)
    run = Combining(PAIRS[name][0], 3)
    for t in range(300):
        run.learn(rng.random(3) * 10.0 ** rng.integers(-300, 301, 3))
        assert np.isfinite(run.weights()).all(), t


@pytest.mark.parametrize("name", PAIRS)
def test_cap(name):
    combiner = PAIRS[name][0]
    losses = stream("heavy tails", np.random.default_rng(2), 50, 4)
    capped = type(combiner)(**(combiner.get_params() | {"cap": 2.0}))
    np.testing.assert_array_equal(
        naive.run(Combining(capped, 4), losses),
        naive.run(Combining(combiner, 4), np.minimum(losses, 2.0)),
    )


@pytest.mark.parametrize("name", PAIRS)
def test_whose_losses_count(name):
    """Under drawn updates Hedge takes the losses of the drawn ones; the others take all."""
    run, everyone = Combining(PAIRS[name][0], 2), Combining(PAIRS[name][0], 2)
    run.learn([1.0, 0.0], counted=np.array([False, True]))
    everyone.learn([1.0, 0.0])
    if name.startswith("Hedge"):
        assert run.weights()[0] == 0.5
    else:
        np.testing.assert_array_equal(run.weights(), everyone.weights())
        assert run.weights()[0] < 0.5


def test_no_share_is_hedge():
    """Weights far below the smallest float come back as they do under Hedge."""
    losses = np.concatenate([np.tile([1.0, 0.0], (5000, 1)), np.tile([0.0, 1.0], (5000, 1))])
    np.testing.assert_array_equal(
        naive.run(Combining(kb.FixedShare(0.8, share=0), 2), losses),
        naive.run(Combining(kb.Hedge(0.8), 2), losses),
    )


# -- bounds ---------------------------------------------------------------------------------------


def against_the_heaviest(weights, rng, t):
    return np.eye(len(weights))[weights.argmax()]


def against_the_heavier_half(weights, rng, t):
    return (weights > np.median(weights)).astype(float)


def by_weight(weights, rng, t):
    return weights / weights.max() * rng.random(len(weights))


def alternating(weights, rng, t):
    """The worst case of follow-the-leader."""
    losses = np.ones(len(weights))
    losses[:2] = (0.5, 0.0) if t == 0 else (t % 2, (t + 1) % 2)
    return losses


def at_random(weights, rng, t):
    return rng.random(len(weights))


def mistakes_at_random(weights, rng, t):
    return (rng.random(len(weights)) < np.linspace(0.2, 0.6, len(weights))).astype(float)


def in_turns(weights, rng, t):
    """The best expert changes every 50 rounds."""
    losses = (rng.random(len(weights)) < 0.7).astype(float)
    losses[(t // 50) % len(weights)] = float(rng.random() < 0.05)
    return losses


ADVERSARIES = [
    *(against_the_heaviest, against_the_heavier_half, by_weight, alternating),
    *(at_random, mistakes_at_random, in_turns),
]


def play(combiner, adversary, m, T, seed, scales=(1.0,)):
    """Losses (T, m), and the weights (T, m) that met them."""
    run, rng = Combining(combiner, m), np.random.default_rng(seed)
    losses, weights = np.empty((T, m)), np.empty((T, m))
    for t in range(T):
        weights[t] = run.weights()
        losses[t] = rng.choice(scales) * adversary(weights[t], rng, t)
        run.learn(losses[t])
    return losses, weights


few = settings(max_examples=100, deadline=None)
GAME = {
    "adversary": st.sampled_from(ADVERSARIES), "m": st.sampled_from([2, 3, 10]),
    "T": st.sampled_from([1, 20, 300]), "seed": st.integers(0, 10**6),
}  # fmt: skip


@few
@given(discount=st.sampled_from([0.3, 0.8, 0.99]), **GAME)
def test_bound_of_hedge(adversary, discount, m, T, seed):
    """Freund, Schapire (1997), theorem 2: (ln(1/beta) min L + ln m) / (1 - beta)."""
    losses, weights = play(kb.Hedge(discount), adversary, m, T, seed)
    bound = (math.log(1 / discount) * best_fixed(losses).loss + math.log(m)) / (1 - discount)
    assert (losses * weights).sum() <= bound + 1e-9


@few
@given(scales=st.sampled_from([(1.0,), (1e6,), (1e-3, 1.0, 1e3)]), **GAME)
def test_bound_of_ml_poly(adversary, scales, m, T, seed):
    """Gaillard et al. (2014), for losses in [0, 1]; and its proof's last line for any losses."""
    losses, weights = play(kb.MLPoly(), adversary, m, T, seed, scales)
    r = (losses * weights).sum(axis=1, keepdims=True) - losses
    R, squares = r.sum(axis=0), (r**2).sum(axis=0)
    earlier = np.cumsum(r**2, axis=0) - r**2
    proved = (1 + squares) * (r**2 / (1 + earlier)).sum()
    assert (np.sqrt(proved) * (1 + 1e-9) >= R).all()
    if max(scales) <= 1:
        printed = np.sqrt(m * (1 + math.log(1 + T)) * (1 + squares))
        assert (printed * (1 + 1e-9) >= R).all()


@few
@given(weights=st.sampled_from([(0.5, 0.02), (0.8, 0.3), (0.99, 1e-4)]), **GAME)
def test_bound_of_fixed_share(adversary, weights, m, T, seed):
    """Herbster, Warmuth (1998): against the best sequence with k shifts, for every k."""
    discount, share = weights
    losses, weights = play(kb.FixedShare(discount, share), adversary, m, T, seed)
    loss = (losses * weights).sum()
    for k in range(min(T, 8)):
        oracle = best_shifting(losses, k)
        path = math.log(m) + oracle.shifts * math.log((m - 1) / share)
        path += (T - 1 - oracle.shifts) * math.log(1 / (1 - share))
        bound = (math.log(1 / discount) * oracle.loss + path) / (1 - discount)
        assert loss <= bound + 1e-9


def test_fixed_share_tracks_where_hedge_does_not():
    """What it is for: three experts that are the best in turns."""
    totals = {}
    for combiner in (kb.Hedge(0.5), kb.FixedShare(0.5, 0.02)):
        losses, weights = play(combiner, in_turns, 3, 1500, 0)
        totals[type(combiner).__name__] = (losses * weights).sum()
    tracked = best_shifting(losses, 29).loss
    assert tracked < totals["FixedShare"] < 4 * tracked < totals["Hedge"]


# -- in a model ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kb.FixedShare, kb.MLPoly])
def test_one_kernel(kind):
    X, y = hard_streams.gaussian_clouds(60)
    model = plain.classifier([kb.Gaussian(sigma=1)], kb.Perceptron(), kind()).fit(X, y)
    assert model.kernel_weights_ == [1.0]
