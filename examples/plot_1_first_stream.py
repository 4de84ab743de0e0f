"""
A first stream
==============

Sixteen kernels learn side by side on the breast cancer data, one row after the other. Which kernel
fits is not known before. The combiner finds it on the way: after each label, the weight of a kernel
that erred is multiplied by 0.8.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernbrook as kb

X, y = kb.open_stream("wdbc").read()
order = np.random.default_rng(0).permutation(len(y))
model = kb.recipes.make("omkc-dd", scaling="moments")
record = kb.prequential(model, X, y, order=order)
print(f"{100 * record.error:.1f} % of the {len(y)} predictions were wrong")

# %%
# Each label was predicted before the model learned it. So the error is honest without a test set.
#
# A record has a history: the error, the support vectors and the weights of the kernels, at some
# rounds of the stream.

history = record.history
figure, (above, below) = plt.subplots(2, 1, figsize=(7, 6), sharex=True, layout="constrained")
above.plot(history.rounds, 100 * history.error)
above.set(ylabel="mistakes so far (%)", ylim=(0, None))
best = np.argsort(history.kernel_weights[-1])[::-1][:4]
for k in range(len(history.kernels)):
    name, colour = (history.kernels[k], None) if k in best else (None, "0.8")
    below.plot(history.rounds, history.kernel_weights[:, k], label=name, color=colour)
below.set(xlabel="rows", ylabel="weight of the kernel", ylim=(0, None))
below.legend(title="the four heaviest at the end")
plt.show()

# %%
# Some kernels lose their weight within a hundred rows: the grey lines that fall to 0. The others
# share the vote, and their weights move as long as their mistakes differ.
