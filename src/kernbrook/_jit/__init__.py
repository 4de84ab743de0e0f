"""Compiled code only: arrays in, arrays out.

Nothing here knows of estimators or of files. A kernel, learner or combiner is an integer code
with a row of parameters, so that every function compiles once and is read from the disk cache
afterwards.
"""
