"""Tasks of one analysis with notes on progress, and what is kept of an analysis."""
