"""Where independent tasks of one analysis run: in the notebook's process, or on the workers of a Dask cluster.

`statistics.run_tasks` takes an executor and a progress callback; `tasks.run` gives it those of the run. `scheduler`
connects an analysis to a cluster, and `seats` are the processes beside its workers in which the work is done.
"""
