"""The command line: what it understands, and the commands that are not extras."""
