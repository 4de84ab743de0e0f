"""Comparisons and reproductions made of seeded numbers, in the shape of real ones."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
from beside import beside_the_tests, module_of

from kernbrook.evaluation.record import Comparison, History, Record, Row

# recipe, title, final error in per cent, support vectors a round, active share, many kernels
RECIPES = [
    ("omkc-dd", "OMKC(D,D)", 21.97, 5.10, 1.0, True),
    ("omkc-ds", "OMKC(D,S)", 22.57, 5.10, 0.06, True),
    ("omkc-sd", "OMKC(S,D)", 20.19, 2.60, 1.0, True),
    ("omkc-ss", "OMKC(S,S)", 20.49, 2.60, 0.4, True),
    ("omkc-u", "OMKC(U)", 23.40, 5.10, 1.0, True),
    ("perceptron", "Perceptron", 22.55, 0.225, 1.0, False),
    ("perceptron-u", "Perceptron(u)", 22.09, 0.221, 1.0, True),
    ("perceptron-best", "Perceptron(*)", 22.07, 0.221, 1.0, False),
    ("om2", "OM-2", 20.23, 0.27, 1.0, True),
    ("majority", "Majority", 24.30, 0.0, 1.0, False),
    ("last-label", "Last label", 36.80, 0.0, 1.0, False),
]
KERNELS = tuple(f"(x·z)^{p}" for p in (1, 2, 3)) + tuple(
    f"exp(−‖x−z‖²/(2·{2.0**k:g}²))" for k in range(-6, 7)
)


def make_comparison(
    names=None, *, permutations=5, n_rows=3185, samples=40, data="a3a", best=("omkc-sd", "om2"),
    asked=1.0, kernels=KERNELS, seed=0,
):  # fmt: skip
    random = np.random.default_rng(seed)
    rows = []
    for recipe in RECIPES:
        if names is None or recipe[0] in names:
            runs = tuple(
                _record(random, recipe, n_rows, samples, asked, kernels)
                for _ in range(permutations)
            )
            rows.append(Row(recipe[0], recipe[1], runs))
    manifest = {
        "command": f"kernbrook compare {data} --permutations {permutations} --seed {seed}",
        "versions": {"kernbrook": "0.1.0", "numpy": "2.4.6", "python": "3.11.2"},
        "seed": seed,
        "data_sha256": "9f2c" * 16,
    }
    kept = tuple(name for name in best if names is None or name in names)
    return Comparison(data, n_rows, 123, permutations, tuple(rows), kept, manifest)


def _record(random, recipe, n_rows, samples, asked, kernels):
    _, _, percent, per_round, share, many = recipe
    rounds = np.unique(np.linspace(0, n_rows, samples + 1).astype(np.int64)[1:])
    final = percent / 100 + 0.004 * random.standard_normal()
    start = 0.25 * np.exp(-rounds / (0.1 * n_rows))
    error = final + start * (0 if per_round == 0 else 1)
    error = error + 0.3 * random.standard_normal(len(rounds)) * np.sqrt(0.2 / rounds) * (
        1 - rounds / n_rows
    )
    error = np.clip(error, 0, 1)
    mistakes = np.zeros(n_rows, dtype=bool)
    mistakes[: round(float(error[-1]) * n_rows)] = True
    stored = (per_round * rounds * (1 + 0.03 * random.standard_normal())).astype(np.int64)
    active = (stored * (1 - (1 - share) * (1 - np.exp(-rounds / 500)))).astype(np.int64)
    m = len(kernels) if many else 0
    quality = random.standard_normal(m) * 0.1 + np.linspace(0, 1, m) * (1 + (per_round < 4))
    logits = quality[None, :] * 6 * (rounds / n_rows)[:, None]
    weights = np.exp(logits)
    weights = weights / weights.sum(axis=1, keepdims=True) if many else weights
    count = np.full(len(rounds), 0) + (asked * rounds).astype(np.int64)
    history = History(rounds, error, stored, active, count, weights, kernels if many else ())
    return Record(
        predictions=np.ones(n_rows),
        mistakes=mistakes,
        error=float(mistakes.mean()),
        labels_asked=int(count[-1]),
        n_support_stored=int(stored[-1]),
        n_support_active=int(active[-1]),
        seconds=float(0.02 + 0.1 * per_round * random.uniform(0.9, 1.1)),
        history=history,
    )


# recipe, title, final mean squared error, support vectors a round, share of labels, many kernels
OF_NUMBERS = [
    ("kl-poly", "POLY2", 0.0251, 1.0, 1.0, False),
    ("raker", "Raker", 0.0134, 0.0, 1.0, True),
    ("kernbrook-active", "kernbrook, half of the labels", 0.01281, 0.0, 0.48, True),
    ("mean", "mean so far", 0.0283, 0.0, 1.0, False),
    ("last-value", "last value", 0.0145, 0.0, 1.0, False),
]


def make_numbers(names=None, *, permutations=5, scale=1.0, best=("kernbrook-active",), **options):
    """Squared errors, `scale` times those above; the label shares are those above too."""
    random = np.random.default_rng(3)
    n_rows, samples = options.get("n_rows", 3185), options.get("samples", 40)
    rows = []
    for recipe, title, error, per_round, asked, many in OF_NUMBERS:
        if names is None or recipe in names:
            runs = []
            for _ in range(permutations):
                drawn = recipe, title, 0.0, per_round, 1.0, many
                run = _record(random, drawn, n_rows, samples, asked, KERNELS)
                final = scale * error * (1 + 0.01 * random.standard_normal())
                errors = final * (1 + 2 * np.exp(-run.history.rounds / (0.1 * n_rows)))
                errors[-1] = final
                history = replace(run.history, error=errors)
                predictions = np.zeros(n_rows)
                runs.append(replace(
                    run, predictions=predictions, mistakes=None, error=final, history=history
                ))  # fmt: skip
            rows.append(Row(recipe, title, tuple(runs)))
    kept = tuple(name for name in best if names is None or name in names)
    return Comparison("energy", n_rows, 25, permutations, tuple(rows), kept, {"seed": 0})


def stored(table):
    """Results of a published table, as the repository has them."""
    text = beside_the_tests(f"results/{table}.json").read_text("utf-8")
    return module_of("docs/write_results.py").results_of(json.loads(text))
