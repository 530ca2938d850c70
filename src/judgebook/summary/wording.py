"""Facts of `analysis` as the passages of `text.md.j2` take them: names for ids, numbers with their units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from judgebook.display.names import DisplayNames
from judgebook.questions.agreement.items import SAMPLE
from judgebook.questions.performance.leading import PART
from judgebook.study.results import ResultRows, where
from judgebook.study.schema import ALL_RUNS
from judgebook.summary.evidence import Evidence


def method_of(label: str, names: DisplayNames) -> str:
    """The first method with a label of this id; empty where none has."""
    return next((method for method, key in names.labels if key == label), "")


def evaluation(part: tuple[str, str, str | None], evidence: Evidence, names: DisplayNames) -> str:
    """Method, group and run as prose names them, the latter two where there are several."""
    corpus, group, method = part
    several = {c: len(evidence.annotations[c].unique()) > 1 for c in ("corpus", "group")}
    words = [names.name("method", method)] if method else []
    words += [names.name("group", group)] if several["group"] else []
    run = ALL_RUNS if corpus == ALL_RUNS else names.name("corpus", corpus)
    return ", ".join(words + [run] * several["corpus"])


def run_and_group(part: tuple[str, ...], evidence: Evidence, names: DisplayNames) -> str:
    """Group and run as prose names them; '' where there is one of each."""
    return evaluation((part[0], part[1], None), evidence, names)


def label_of_order(rows: ResultRows, names: DisplayNames) -> str:
    """The label by which systems were ordered; empty where all were used."""
    row = rows.iloc[0]
    return "" if pd.isna(row["label"]) else names.name("label", row["label"], row["method"])


def spoken_of(rows: ResultRows, evidence: Evidence) -> dict[str, Any]:
    """Whom intervals of alpha are about: `people`, and `n_sample`, the labels on which they speak of other annotators,
    where that is otherwise than in the answers about systems (else None), as it hangs on who judged the same items."""
    page = evidence.population(*rows.iloc[0][["corpus", "group"]])
    n = int((rows["population"] == SAMPLE).sum())
    if n == len(rows) * page.others:
        return {"people": page, "n_sample": None}
    return {"people": replace(page, others=n > 0, why=""), "n_sample": n}


def titled(row: pd.Series, names: DisplayNames, several: bool) -> str:
    """The name of a row's label, with its method where `several` were judged."""
    title = names.name("label", row["label"], row["method"])
    return f"{title} ({names.name('method', row['method'])})" if several else title


def analysed(facts: Mapping[str, Any], evidence: Evidence, names: DisplayNames) -> str:
    """Group and run as prose names them, and the methods that could be analysed where there are others, too."""
    where_, rows = run_and_group(facts["part"], evidence, names), facts["rows"]
    judged = where(evidence.people, **dict(zip(PART[:2], facts["part"][:2], strict=True)))["method"].unique()
    some = [names.name("method", m) for m in rows["method"].unique()] if rows["method"].nunique() < len(judged) else []
    return ", ".join([*some, where_] if where_ else some)


def failed(evidence: Evidence) -> dict[str, int] | None:
    """Workers whose judgements do not count, of all, by run; None where all count."""
    frames = (evidence.counted, evidence.annotations)
    counted, n = (len(frame[["corpus", "annotator"]].drop_duplicates()) for frame in frames)
    runs = evidence.annotations["corpus"].nunique()
    return {"out": n - counted, "n": n, "runs": runs} if counted < n else None
