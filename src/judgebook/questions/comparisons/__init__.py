"""What decides votes on pairs besides the systems."""
