"""Public studies in formats of their own: how their files are read, and made of what is upstream."""
