"""Requirements on a study, decided from its intervals: an exit code for CI."""
