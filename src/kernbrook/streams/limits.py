"""What a data file may ask for at most; more is refused, with the place and the way out.

Those who read look here each time, so that tests can lower a limit.
"""

LONGEST_LINE = 1 << 26  # bytes
LONGEST_CELL = 1 << 20  # bytes of text
BATCH_BYTES = 1 << 24  # of the text of a table that is read at once
LONGEST_LABEL = 1000  # characters
MOST_COLUMNS = 100_000  # of a text file
WIDE = 10_000  # columns from which on pyarrow, which sets 8 KB aside for each, does not read CSV
MOST_CELLS = 1 << 20  # of objects of JSON that become a table at once
MOST_CLASSES = 1000  # of data that a model is to learn

# Without n_features, a greater index is taken for a slip: the width of a stream is room that models
# set aside.
GREATEST_INDEX = 1 << 24

# Without max_bytes, a compressed file may hold so much, or so many times its own size.
UNPACKED_BYTES = 1 << 28
UNPACKED_TIMES = 100

# Without max_bytes, a pipe may give so much.
COPIED_BYTES = 1 << 34
