"""What predictions cost, beside trivial rules, and which rules and recipes go with labels."""
