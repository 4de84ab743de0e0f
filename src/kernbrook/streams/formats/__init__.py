"""Files of each format as rows: of numbers, or as tables of columns."""
