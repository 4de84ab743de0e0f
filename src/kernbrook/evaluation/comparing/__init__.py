"""Recipes and models beside each other: which, in which orders, and who is best."""
