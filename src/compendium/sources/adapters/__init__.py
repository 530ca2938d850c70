"""How the files of single public studies are read."""
