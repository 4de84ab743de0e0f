"""Models in files over days: trainings, labellings, predictions, and where they stopped."""
