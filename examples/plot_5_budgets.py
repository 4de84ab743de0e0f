"""
What a budget costs
===================

A budget bounds memory and time: an expert keeps so many support vectors and no more. What goes when
a new one comes is called the upkeep. Three upkeeps at five budgets, beside the perceptron that
keeps all.
"""

import matplotlib.pyplot as plt

import kernbrook as kb

X, y = kb.open_stream("checkerboard:4000").read()
kernels = [kb.Gaussian(sigma=0.3)]
budgets = (25, 50, 100, 200, 400)
upkeeps = {
    "RBP: a random one goes": kb.RBP,
    "BPAS: the cheapest one goes": kb.BPAS,
    "Projectron: put into the others": kb.Projectron,
}


def mistakes(learner):
    """In per cent of the rows, each predicted before its label."""
    model = kb.OnlineMKClassifier(kernels, learner=learner, random_state=0)
    return 100 * kb.prequential(model, X, y).error


# %%
# ``docs/budgets.md`` has the same on real streams.

figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
curves = {name: [mistakes(kind(budget=b)) for b in budgets] for name, kind in upkeeps.items()}
for name, errors in curves.items():
    axes.plot(budgets, errors, marker="o", label=name)
whole = mistakes(kb.Perceptron())
axes.axhline(whole, color="0.5", linestyle=":", label="Perceptron: keeps all")
axes.set(xscale="log", xticks=budgets, xticklabels=budgets, xlabel="budget (support vectors)")
axes.set(ylabel="mistakes (%)", ylim=(0, None))
axes.minorticks_off()
axes.legend()
plt.show()
