"""Why a model says what it says: which columns matter, and what each adds to one prediction."""
