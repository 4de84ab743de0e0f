"""
A pool of different learners
============================

``learner=`` takes a list, and the list holds anything: learners of kernbrook, models of
scikit-learn, the last label. The combiner says which of them earn their weight, and when.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeClassifier

import kernbrook as kb

X, y = kb.open_stream("checkerboard:4000").read()
tree = kb.External(DecisionTreeClassifier(random_state=0), every=200, window=1000)
pool = {
    "budget of 200": kb.BPAS(budget=200),
    "ridge on random features": kb.Ridge(),
    "last label": kb.LastLabel(),
    "decision tree": tree,
}
model = kb.OnlineMKClassifier([kb.Gaussian(sigma=0.3)], learner=list(pool.values()), random_state=0)

# %%
# ``learn`` predicts each row before its label, and gives the predictions back. The rows may come
# in chunks of any size: here the weights of the experts are read after each 100 rows.

weights, wrong = [], []
for begin in range(0, len(y), 100):
    rows = slice(begin, begin + 100)
    said, _ = model.learn(X[rows], y[rows], classes=np.unique(y))
    wrong.append(np.mean(said != y[rows]))
    weights.append(model.expert_weights_.copy())

figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
axes.stackplot(np.arange(100, len(y) + 1, 100), np.transpose(weights), labels=pool)
axes.set(xlabel="rows", ylabel="share of the vote", xlim=(100, len(y)), ylim=(0, 1))
figure.legend(loc="outside upper center", ncols=2)
plt.show()
