"""The page on where results of a study stand among those of public studies."""
