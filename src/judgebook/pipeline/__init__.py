"""Runs the notebooks of a study: what must run and why, in worker processes, so that nothing half-made stays."""
