"""What notebooks say of printed numbers beside their own: a module for each notebook that compares with a paper or
computes from its numbers alone."""
