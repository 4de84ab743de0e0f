"""Columns of tables as numbers."""
