"""`--executor local:4`, `--executor dask://host:8786`: notebooks on the workers of a Dask cluster."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Executor

from judgebook.extras.cluster import LOCAL
from judgebook.plugins import Extra, Workers

_REMOTE = re.compile(r"(?:dask|tcp|tls)://\S+")


def _accepts(text: str) -> bool:
    return bool(LOCAL.fullmatch(text) or _REMOTE.fullmatch(text))


def _connect(text: str, home: Callable[[], Executor]) -> Executor:
    from judgebook.extras.cluster.executor import connect

    return connect(text, home)


DASK = Workers(
    forms="local:N (N Dask workers here), dask:// or tcp://host:port, or encrypted tls://host:port",
    accepts=_accepts,
    connect=_connect,
    examples="  python run_all.py --executor local:4                on four Dask workers (docs/cluster.md)\n",
)

EXTRA = Extra(workers=DASK)
