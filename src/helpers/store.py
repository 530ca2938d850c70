"""Where a study's files are read and written.

Everything made goes below one folder, the project's own unless `$COMPENDIUM_OUT` names another:
`data/processed/<study>`, `figures/<study>`, `tables/<study>`, `reports/<study>`. Files appear whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from helpers import params

if TYPE_CHECKING:
    import pandas as pd

ROOT = params.ROOT


def out_root() -> Path:
    """The folder below which everything is written."""
    return Path(os.environ.get("COMPENDIUM_OUT") or ROOT)


def processed(study: str) -> Path:
    return out_root() / "data" / "processed" / study


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that replaces it when the block ends well and vanishes when it does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame as parquet (or csv, by suffix); the same content gives the same bytes."""
    with atomic(path) as temporary:
        if path.suffix == ".csv":
            frame.to_csv(temporary, index=False, lineterminator="\n")
        else:
            frame.to_parquet(temporary, index=False)


@dataclass(frozen=True)
class Run:
    """One notebook at work on one study. `run_id` is None when somebody runs it by hand: then all goes to scratch.

    of_study : whether what it shows is about the study. A notebook about something else (the papers' printed numbers)
    reads no frames, and is not called simulated where the study is.
    """

    study: params.Study
    notebook: str
    run_id: str | None
    of_study: bool = True

    @property
    def simulated(self) -> bool:
        """Whether figures and tables say that their data are simulated."""
        return self.study.simulated and self.of_study

    @property
    def key(self) -> str:
        return self.study.key

    @property
    def _base(self) -> Path:
        return processed(self.key) if self.run_id else processed(self.key) / "scratch"

    @property
    def figures(self) -> Path:
        return out_root() / "figures" / self.key if self.run_id else self._base / "figures"

    @property
    def tables(self) -> Path:
        return out_root() / "tables" / self.key if self.run_id else self._base / "tables"

    def read(self, name: str) -> pd.DataFrame:
        """A frame of the study: annotations, dialogues, metric_scores, screening, work_units or counts."""
        import pandas as pd

        if not self.of_study:
            raise ValueError(f"{self.notebook} was started with of_study=False: it must not read {name!r}")
        path = processed(self.key) / f"{name}.parquet"
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing; run `python run_all.py --study {self.key} --only annotations`")
        return pd.read_parquet(path)

    def results(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Check result rows against the schema, store them as parquet and csv, and return them."""
        from helpers import schema

        out = schema.make_results(frame, study=self.key, notebook=self.notebook)
        for suffix in (".parquet", ".csv"):
            write_frame(out, self._base / "results" / f"{self.notebook}{suffix}")
        return out

    def results_of(self, notebook: str) -> pd.DataFrame:
        """Result rows that another notebook of the same run stored."""
        import pandas as pd

        return pd.read_parquet(processed(self.key) / "results" / f"{notebook}.parquet")

    def results_elsewhere(self, study: str, notebook: str) -> pd.DataFrame | None:
        """Result rows that a notebook stored for another study; None where it was not run.

        Raises ValueError in a study that has data of its own, and for a simulated study.
        """
        import pandas as pd

        if not self.study.across:
            raise ValueError(f"study {self.key!r} has data of its own: it must not read results of {study!r}")
        if params.load(study).simulated:
            raise ValueError(f"results of {study!r} are simulated: nothing printed can be held against them")
        path = processed(study) / "results" / f"{notebook}.parquet"
        return pd.read_parquet(path) if path.is_file() else None

    def cached(self, name: str) -> pd.DataFrame | None:
        """What `cache` stored under this name in an earlier run; None where there is nothing."""
        import pandas as pd

        path = processed(self.key) / "cache" / f"{name}.parquet"
        return pd.read_parquet(path) if path.is_file() else None

    def cache(self, frame: pd.DataFrame, name: str) -> None:
        """Keep a frame for later runs, whatever becomes of this one; it must say itself for what it is valid."""
        write_frame(frame, processed(self.key) / "cache" / f"{name}.parquet")

    def frame(self, frame: pd.DataFrame, name: str) -> pd.DataFrame:
        """Store something that is not one number a row as `<notebook>.<name>.parquet`, and return it."""
        write_frame(frame, self._base / "results" / f"{self.notebook}.{name}.parquet")
        return frame


def start(study: str, notebook: str, run_id: str | None = None, *, of_study: bool = True) -> Run:
    """What a notebook calls first. In a pipeline run the parameters are those the run recorded; by hand, the YAML's."""
    if run_id:
        return Run(params.load(processed(study) / "params.yaml", key=study), notebook, run_id, of_study)
    return Run(params.load(study), notebook, None, of_study)
