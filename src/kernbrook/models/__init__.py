"""scikit-learn estimators and the papers' recipes."""
