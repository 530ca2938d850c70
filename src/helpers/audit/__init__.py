"""Do the printed numbers of a paper agree with each other? Nothing but `data/published` is read."""
