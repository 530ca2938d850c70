"""The first page of a study without its notebooks: their analyses in this process, and what follows from them."""
