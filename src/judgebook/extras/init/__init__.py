"""A project of one's own: a folder with data, a study, a notebook and what runs them."""
