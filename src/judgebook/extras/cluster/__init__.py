"""Notebooks on the workers of a Dask cluster: `executor` sends them, `on_worker` is what runs in Dask's workers."""
