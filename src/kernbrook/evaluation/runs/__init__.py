"""One run over a stream, what it records, and what hindsight knows."""
