"""More than one machine, more than one run, more than a minute: clusters, sweeps, how long a notebook takes."""
