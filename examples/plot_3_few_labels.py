"""
Fewer labels
============

A label policy says, before a label is seen, whether the model wants it. Here the labels of
handwritten digits are asked for at different rates: where two classes are close
(``MarginSampling``), and at random (``RandomLabels``). The mistakes are those on all rows, whether
their labels were asked for or not.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernbrook as kb

X, y = kb.open_stream("digits").read()
order = np.random.default_rng(0).permutation(len(y))
kernels = [kb.Gaussian(sigma=sigma) for sigma in (2, 4, 8)]


def points(policies):
    """(label rates, mistakes) in per cent, one pair a policy."""
    found = []
    for policy in policies:
        learner = kb.PassiveAggressive()
        model = kb.OnlineMKClassifier(kernels, learner=learner, labels=policy, random_state=0)
        record = kb.prequential(model, X, y, order=order)
        found.append((100 * record.labels_asked / len(y), 100 * record.error))
    return list(zip(*found, strict=True))


curves = {
    "where classes are close": points(kb.MarginSampling(s) for s in (0.02, 0.05, 0.1, 0.2, 0.5, 1)),
    "at random": points(kb.RandomLabels(rate) for rate in (0.05, 0.1, 0.2, 0.4, 0.6, 0.8)),
}

# %%
# Left and low is good: few labels, few mistakes.

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for name, (rates, mistakes) in curves.items():
    axes.plot(rates, mistakes, marker="o", label=name)
axes.set(xlabel="labels asked for (% of the rows)", ylabel="mistakes (%)", xlim=(0, 100))
axes.set_ylim(0, None)
axes.legend()
plt.show()
