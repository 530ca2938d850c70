"""Which judgements can be compared between groups, and who made how many of them."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.annotations.summary import evaluated
from judgebook.questions.groups.effects import KEY
from judgebook.study.labels import METHODS
from judgebook.study.schema import unordered


def comparable(annotations: pd.DataFrame) -> pd.DataFrame:
    """Judgements of labels that two groups or more judged, each on two systems or more; no pilots, no gold units.

    Where no session is known, each dialogue (each pair, for comparisons) is a session.
    """
    main = evaluated(annotations)
    sides = pd.concat([main, main.dropna(subset=["system_b"]).assign(system=lambda f: f["system_b"])])
    systems = sides.groupby([*KEY, "group"])["system"].nunique()
    systems = systems[systems >= 2]
    enough = systems.index[(systems.groupby(KEY).transform("size") >= 2).to_numpy()]
    kept = main[pd.MultiIndex.from_frame(main[[*KEY, "group"]]).isin(enough)]
    ends = unordered(kept)
    alone = ends["low"].astype(str) + "\x1f" + ends["high"].fillna("").astype(str)
    return kept.assign(session=kept["session"].astype(object).where(kept["session"].notna(), alone))


def group_counts(annotations: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Dialogues (pairs) evaluated once or twice, those evaluated twice, and by whom, as Table 2 of Finch et al. 2024
    counts them, which leaves out what was judged more than twice: rows of `count`.

    `evaluators` is over all methods, `evaluators_of_method` within one; neither exists where annotators are positions.
    """
    who = ["corpus", "group", "annotator_kind"]
    for (corpus, group, kind), part in annotations.groupby(who, sort=False):
        head = {"statistic": "count", "corpus": corpus, "group": group, "kind": kind}
        if part["annotator_known"].all():
            yield head | {"what": "evaluators", "estimate": part["annotator"].nunique()}
        for method, own in part.groupby("method", sort=False):
            items = own.groupby(["label", "dialogue", "turn", "dialogue_b"], dropna=False).size()
            times = items.groupby(["dialogue", "dialogue_b"], dropna=False).max()
            counts = {"evaluated": (times <= 2).sum(), "doubly_annotated": (times == 2).sum()}
            if own["annotator_known"].all():
                counts["evaluators_of_method"] = own["annotator"].nunique()
            place = {"method": method, "level": METHODS[method].unit}
            yield from (head | place | {"what": what, "estimate": n} for what, n in counts.items())
