"""What does somebody else need to check or reuse a finished study? An RO-Crate: `run_all.py bundle STUDY`."""
