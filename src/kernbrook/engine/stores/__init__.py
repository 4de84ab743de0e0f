"""Stores, which keep what experts learn."""
