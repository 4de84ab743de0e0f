"""Predictions far from the last label: committees by horizon."""
