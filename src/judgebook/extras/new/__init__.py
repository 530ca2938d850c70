"""A first YAML from a data file: what its columns, keys and values seem to mean."""
