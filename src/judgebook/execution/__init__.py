"""Where independent tasks of one analysis run: in the notebook's process, or by an executor that an extra brings.

`statistics.run_tasks` takes an executor and a progress callback; `tasks.run` gives it those of the run.
"""
