"""What stands in for raw files that are not here."""
