"""Reference values for the judge-assisted estimates, by ppi-python.

Run in an environment of its own, as it needs numba and gdown: `pip install ppi-python==0.2.3`, then, in this folder,
`python ppi.py`. It writes ppi_data.csv (made-up scores of 300 dialogues by people, of 120 only, and by a model) and
ppi.csv: the estimate and 95% interval for some lambdas and for the lambda of PPI++ (missing).
"""

from importlib.metadata import version

import numpy as np
import pandas as pd
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

rng = np.random.default_rng(1)
model = rng.normal(3, 1, 300).round(3)
people = (0.5 + 0.8 * model + rng.normal(0, 0.7, 300)).round(3)
known = np.arange(300) < 120
pd.DataFrame({"people": np.where(known, people, np.nan), "model": model}).to_csv("ppi_data.csv", index=False)

arrays = people[known], model[known], model[~known]
rows = []
for weight in (0.0, 0.3, 0.6, None):
    low, high = (float(end[0]) for end in ppi_mean_ci(*arrays, alpha=0.05, lam=weight))
    estimate = float(np.ravel(ppi_mean_pointestimate(*arrays, lam=weight))[0])
    rows.append({"lambda": weight, "estimate": estimate, "low": low, "high": high})
pd.DataFrame(rows).assign(source=f"ppi-python {version('ppi-python')}").to_csv("ppi.csv", index=False)
