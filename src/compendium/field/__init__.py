"""What changed from week to week, and who."""
