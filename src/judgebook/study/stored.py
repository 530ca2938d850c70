"""Results of a study that was run, for notebooks of one's own: `study = open_study("ji2022"); study.results("mean")`.

docs/results.md describes the columns; `examples/explore.ipynb` shows the use.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from judgebook import project
from judgebook.study import params, result_schema, store
from judgebook.study.results import stored_counts, unfold, where


def open_study(study: str) -> StoredStudy:
    """The study of this name as the last run left it, below the project's folder or `$COMPENDIUM_OUT`.

    Raises
    ------
    AbsentError, a FileNotFoundError : it was not run.
    ParamsError : there is no such study.

    Examples
    --------
    After `judgebook --study mine`:

    >>> import judgebook as jb
    >>> study = jb.open_study("mine")
    >>> study.scores.shape[0]  # judgements: a row each
    300
    >>> rows = study.results("mean", label="helpful", primary=True)
    >>> rows.set_index("system")["estimate"].round(1).to_dict()  # in points; ci_low and ci_high beside it
    {'old': 3.5, 'new': 4.5}
    """
    recorded = store.processed(study) / "params.yaml"
    if not recorded.is_file():
        params.find(study)  # a misspelt name is told first
        raise store.AbsentError(f"{recorded.parent} holds no study; run {project.made_by(study)}")
    return StoredStudy(params.load(recorded, key=study), recorded.parent)


@dataclass(frozen=True)
class StoredStudy:
    """params : the YAML as it was read, defaults filled in. folder : where frames and results lie."""

    params: params.Study
    folder: Path

    @property
    def scores(self) -> pd.DataFrame:
        """One row per judgement, people under pseudonyms: the frame `annotations`."""
        return self.frame("annotations")

    def frame(self, name: str) -> pd.DataFrame:
        """A frame of the study: annotations, dialogues, metric_scores, screening, work_units, dialogue_facts or counts.

        Raises AbsentError, a FileNotFoundError, with the names there are.
        """
        there = sorted(path.stem for path in self.folder.glob("*.parquet"))
        if name not in there:
            raise store.AbsentError(f"no frame {name!r} in {self.folder}; there are {', '.join(there)}")
        return pd.read_parquet(self.folder / f"{name}.parquet")

    @property
    def statistics(self) -> pd.DataFrame:
        """What the notebooks stored: notebook, statistic, its title, and how many rows."""
        rows = [
            {"notebook": path.stem, "statistic": name, "title": result_schema.statistic(name).title, "rows": n}
            for path in self._files()
            for name, n in stored_counts(path).items()
        ]
        return pd.DataFrame(rows, columns=["notebook", "statistic", "title", "rows"])

    def results(self, statistic: str, **keys: object) -> pd.DataFrame:
        """A statistic of all notebooks that stored it: one row per estimate, without columns that are empty.

        keys : column -> value, or a list of values; None means missing.

        Raises KeyError for a statistic that no notebook stored, or an unknown column.
        """
        parts = []
        for path in self._files():
            rows = pd.read_parquet(path, filters=[("statistic", "==", statistic)])
            if len(rows):
                rows_of_statistic = unfold(rows)[statistic]
                rows_of_statistic.insert(0, "notebook", path.stem)
                parts.append(where(rows_of_statistic, **keys).dropna(axis=1, how="all"))
        if not parts:
            raise KeyError(self._no_such(statistic))
        return pd.concat(parts, ignore_index=True)

    def _files(self) -> list[Path]:
        """Files of results; a name with a further dot holds a frame of another shape."""
        return sorted(p for p in (self.folder / "results").glob("*.parquet") if "." not in p.stem)

    def _no_such(self, statistic: str) -> str:
        there = [*dict.fromkeys(self.statistics["statistic"])]
        near = difflib.get_close_matches(statistic, there, n=1)
        known = (
            "was stored by no notebook that ran" if statistic in result_schema.statistics() else "is not a statistic"
        )
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(there) or 'none'}"
        return f"{statistic!r} {known}; {hint}"
