"""Slow, obvious twins of the compiled code: one example at a time, as the papers print it."""
