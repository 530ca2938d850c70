"""What became of every line of a file: lines, rows, judgements, and those kept, with a reason for each difference."""
