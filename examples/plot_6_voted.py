"""
Voted kernels
=============

Voted kernel regularization learns from all data at once. A linear program chooses examples and
kernels together, and complex kernels cost more. The model rests on few examples: a support vector
machine that errs as often keeps many more.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC

import kernbrook as kb

X, y = make_moons(400, noise=0.25, random_state=0)
new, truth = make_moons(2000, noise=0.25, random_state=1)
kernels = [kb.Gaussian(gamma=gamma) for gamma in (0.3, 1.0, 3.0)]
voted = kb.VotedKernelClassifier(kernels, lam=0.001, beta=0.003).fit(X, y)
machine = SVC(gamma=1.0).fit(X, y)

# %%
# Rings are the examples that each model keeps; the line is where its prediction changes.

figure, panels = plt.subplots(1, 2, figsize=(8, 3.8), sharey=True, layout="constrained")
grid = np.stack(np.meshgrid(np.linspace(-2, 3, 120), np.linspace(-1.5, 2, 120)), axis=-1)
for axes, model, title in ((panels[0], voted, "voted kernels"), (panels[1], machine, "SVC")):
    kept = np.asarray(model.support_vectors_)
    error = 100 * np.mean(model.predict(new) != truth)
    scores = model.decision_function(grid.reshape(-1, 2)).reshape(120, 120)
    axes.scatter(*X.T, c=y, s=12, cmap="coolwarm", alpha=0.6)
    axes.scatter(*kept.T, s=60, facecolors="none", edgecolors="black", linewidths=0.8)
    axes.contour(grid[..., 0], grid[..., 1], scores, levels=[0], colors="black")
    axes.set_title(f"{title}: {len(kept)} examples kept,\n{error:.1f} % of new rows wrong")
plt.show()
