"""Notebooks on the workers of a Dask cluster: `executor` sends them, `on_worker` is what runs in Dask's workers."""

import re

#: number of workers that a run starts on this machine
LOCAL = re.compile(r"local:([1-9][0-9]{0,2})")
