"""Bytes and lines of data files, plain and compressed, within limits."""
