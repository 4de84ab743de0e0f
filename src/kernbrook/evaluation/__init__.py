"""Prequential runs, comparisons of recipes, and the papers' tables again."""
