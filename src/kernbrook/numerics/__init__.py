"""Compiled arithmetic: pair values, kernel values and their sums, draws, scaling, calibration.

Arrays in, arrays out. Nothing here knows of estimators, learners or files.
"""
