"""Notebooks, and heavy analyses in them, on the workers of a Dask cluster.

`executor` sends notebooks, `on_worker` is what runs in Dask's workers, and `helped` sends parts of an analysis from a
notebook to workers that are free.
"""
