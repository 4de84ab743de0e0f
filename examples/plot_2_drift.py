"""
When the stream changes
=======================

The rule behind the labels changes twice: a straight border, then stripes, then the straight border
again. A linear kernel can learn the border, but never the stripes; a narrow Gaussian kernel can
learn both. How fast does a combiner follow?
"""

import matplotlib.pyplot as plt
import numpy as np

import kernbrook as kb

n = 2000  # rows of each part
X = np.random.default_rng(0).uniform(-1, 1, (3 * n, 2))
straight, stripes = X.sum(axis=1) > 0, np.sin(4 * np.pi * X[:, 0]) > 0
part = np.arange(3 * n) // n
y = np.where(part == 1, stripes, straight).astype(int)

kernels = [kb.Linear(), kb.Gaussian(sigma=0.1)]
records = {}
for combiner in (kb.Uniform(), kb.Hedge(), kb.FixedShare()):
    model = kb.OnlineMKClassifier(kernels, learner=kb.Perceptron(), combiner=combiner, scaling=None)
    records[type(combiner).__name__] = kb.prequential(model, X, y)

# %%
# The mistakes of the last 300 rows, for each combiner. Vertical lines are the changes.

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for name, record in records.items():
    recent = np.convolve(record.mistakes, np.ones(300) / 300, "valid")
    axes.plot(np.arange(300, 3 * n + 1), 100 * recent, label=name)
for change in (n, 2 * n):
    axes.axvline(change, color="0.6", linewidth=0.8)
axes.set(xlabel="rows", ylabel="mistakes of the last 300 rows (%)", ylim=(0, None))
axes.legend()
plt.show()

# %%
# ``Uniform`` never learns which kernel to trust. ``Hedge`` follows the first change, but not the
# second: during the stripes the linear kernel lost so much that its weight does not come back
# before the end. ``FixedShare`` never takes all weight from a kernel, so the weights turn within a
# few rows. The default combiner of kernbrook builds on ``FixedShare``.

figure, panels = plt.subplots(1, 2, figsize=(7, 3), sharey=True, layout="constrained")
for axes, name in zip(panels, ("Hedge", "FixedShare"), strict=True):
    history = records[name].history
    axes.plot(history.rounds, history.kernel_weights, label=history.kernels)
    axes.set(title=name, xlabel="rows", ylim=(0, 1))
panels[0].set_ylabel("weight of the kernel")
panels[0].legend(fontsize="small", loc="center right")
plt.show()
