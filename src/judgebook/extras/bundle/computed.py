"""What may be shared of texts and ids that are not: scores of texts, and which ids are spelt alike."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judgebook.extras.bundle.finished import Finished
from judgebook.questions.metrics import text_metrics
from judgebook.sources.ids import look_alikes
from judgebook.sources.ids.naming import OWN_IDS
from judgebook.study import escape


def text_scores(of: Finished, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Scores of turns by the text metrics that notebook 09 computed: corpus, dialogue, turn, metric, score. Empty where
    it computed none."""
    path = of.folder / "cache" / "text_metrics.parquet"
    earlier = pd.read_parquet(path) if path.is_file() else pd.DataFrame({"metric": []})
    if earlier.empty or "dialogues" not in frames:
        return pd.DataFrame()
    metrics = [m for m in text_metrics.METRICS if m in set(earlier["metric"])]
    items = text_metrics.items(frames["dialogues"], frames["annotations"])
    return text_metrics.compute(items, metrics, earlier)[0]


def spellings(of: Finished, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Annotators and whom each is called like in the source, by pseudonyms: annotator, like. Like itself: nobody."""
    path, marks = of.folder / OWN_IDS, frames["annotations"]
    names = {a: a for a in marks.loc[marks["annotator_known"], "annotator"].unique()}
    if not path.is_file():
        return pd.DataFrame()
    own = escape.read_csv(path).query("kind == 'person'").set_index("pseudonym")["own_id"]
    names |= {a: own[a] for a in names if a in own.index}
    like = {a: ids[0] for ids in look_alikes.groups(names) for a in ids}
    people = [a for a in names if a in own.index or a in like]
    return pd.DataFrame({"annotator": people, "like": [like.get(a, a) for a in people]})
