"""Where raw files come from and how each format is read."""
