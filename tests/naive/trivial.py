"""The trivial baselines, one label at a time."""


def last_label(labels, classes):
    predictions, last = [], classes[-1]
    for label in labels:
        predictions.append(last)
        last = label
    return predictions


def majority(labels, classes):
    """The most frequent label so far; the last of the classes where several are."""
    predictions, count = [], dict.fromkeys(classes, 0)
    for label in labels:
        most = max(count.values())
        predictions.append([c for c in classes if count[c] == most][-1])
        count[label] += 1
    return predictions


def mean(labels):
    """The mean of the labels so far, 0 before the first."""
    predictions, total = [], 0.0
    for count, label in enumerate(labels):
        predictions.append(total / count if count else 0.0)
        total += label
    return predictions


def last_value(labels):
    return [0.0, *labels][: len(labels)]
