"""Notebooks, and heavy analyses in them, on the workers of a Dask cluster.

`executor` sends notebooks, `on_worker` is what runs in Dask's workers, and `helped` sends parts of an analysis from a
notebook to workers that are free.
"""

import re

#: number of workers that a run starts on this machine
LOCAL = re.compile(r"local:([1-9][0-9]{0,2})")
