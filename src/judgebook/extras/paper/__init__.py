"""For your paper: what an author takes from a finished study."""
