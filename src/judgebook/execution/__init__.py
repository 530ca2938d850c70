"""Tasks of one analysis: `statistics.run_tasks` with notes on progress, and what is kept of an analysis."""
