"""For your paper: what an author takes from a finished study."""

NAME, TITLE = "paper", "For your paper"
