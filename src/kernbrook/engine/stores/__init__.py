"""Where experts keep what they learn."""
