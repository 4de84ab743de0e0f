"""
Kernels at the end of River's pipeline
======================================

Scaler, machine, metrics, late labels, drift, few labels.

The stream is River's own data set of phishing sites: 1,250 rows of two classes.

1. Test, then train, on each row; and the same where each label comes 100 rows late. The machines:
   the default, and 16 kernels with 50 support vectors each; and River's logistic regression.
2. The two classes change places in the middle. River's ADWIN sees it, and a new machine begins;
   beside it one that goes on, and follows by itself.
3. A tenth of the labels, chosen by a policy of ours, in the form of River's active learning; and
   drawn at random.

    python examples/river_pipeline.py [rows, 1,250 by default]
"""

import sys

from river import datasets, drift, evaluate, linear_model, metrics, preprocessing

import kernbrook as kb


def machine(**choices):
    return kb.river.MKClassifier(learner=kb.BPAS(50), seed=0, **choices)


def late_labels(rows):
    print(f"{'right, in per cent':34} {'at once':>9} {'100 late':>9}")
    for title, model in (
        ("the default", kb.river.MKClassifier(seed=0)),
        ("16 kernels, budget 50", machine()),
        ("logistic regression", linear_model.LogisticRegression()),
    ):
        found = [
            evaluate.progressive_val_score(
                rows, preprocessing.StandardScaler() | model.clone(), metrics.Accuracy(), delay=wait
            )
            for wait in (None, 100)
        ]
        print(f"  {title:32} " + " ".join(f"{100 * one.get():9.1f}" for one in found))


def drifting(rows):
    half = len(rows) // 2
    changed = [(x, y if t < half else not y) for t, (x, y) in enumerate(rows)]
    print(f"\n{'right after the classes change':34} {'%':>9}  begins anew")
    for title, begins_anew in (("goes on", False), ("begins anew by ADWIN", True)):
        model = preprocessing.StandardScaler() | machine()
        detector, after, seen = drift.ADWIN(), metrics.Accuracy(), []
        for t, (x, y) in enumerate(changed):
            said = model.predict_one(x)
            detector.update(said != y)
            if begins_anew and detector.drift_detected and t > half:
                model = model.clone()
                seen.append(f"after {t - half} rows")
            if t >= half:
                after.update(y, said)
            model.learn_one(x, y)
        print(f"  {title:32} {100 * after.get():9.1f}  {', '.join(seen)}")


def few_labels(rows):
    print(f"\n{'right, in per cent':34} {'%':>9}  labels")
    for policy in (kb.LabelBudget(0.1), kb.RandomLabels(0.1)):
        model = kb.river.PolicySampler(preprocessing.StandardScaler() | machine(labels=policy))
        metric, asked = metrics.Accuracy(), 0
        for x, y in rows:
            said, ask = model.predict_one(x)
            metric.update(y, said)
            if ask:
                asked += 1
                model.learn_one(x, y)
        print(f"  {policy!s:32} {100 * metric.get():9.1f} {asked:7}")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1250
    rows = [*datasets.Phishing().take(count)]
    late_labels(rows)
    drifting(rows)
    few_labels(rows)
