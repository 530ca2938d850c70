"""Tables of notebooks 04 and 06."""

from __future__ import annotations

import pandas as pd

from judgebook.annotations.dialogue_values import COMPARATIVE_QUALITY, DIALOGUE_QUALITY
from judgebook.display import tables
from judgebook.display.names import DisplayNames
from judgebook.display.text import listing, percent
from judgebook.display.views import Table
from judgebook.questions.validity.analysis import KEY
from judgebook.study.results import Results

TITLES = {DIALOGUE_QUALITY: "dialogue quality", COMPARATIVE_QUALITY: "comparative quality"}
#: target -> what its fit is called
STATISTICS = {t: "R²" if t == DIALOGUE_QUALITY else "pseudo-R²" for t in TITLES}
#: what a row of each design is
ROWS = {DIALOGUE_QUALITY: "dialogue", COMPARATIVE_QUALITY: "pair"}


def sampled(rows: pd.DataFrame) -> str:
    """What the intervals of these rows resample, in the plural: people, where it is known who talked."""
    units = listing(dict.fromkeys(rows["resample_unit"].dropna() + "s"))
    return units.replace("interactors", "people") or "people"


def correlations(results: Results, names: DisplayNames, target: str, confidence: float) -> Table:
    """Signed r with its interval and its rank: one row per label."""
    rows = names.sort(results.select("r", target=target)).set_index(KEY)
    out = rows[["n_annotators", "n"]].astype("Int64").set_axis(["Annotators", f"{ROWS[target].title()}s"], axis=1)
    out["r"] = tables.intervals(rows)
    out["Rank"] = tables.intervals(results.select("importance_rank", target=target).set_index(KEY), 0)
    caption = f"Correlation with {TITLES[target]}, {percent(confidence)} jackknife CI over {sampled(rows)}; rank by |r|"
    caption += " with simultaneous CI."
    frame = names.named(out.dropna(axis=1, how="all").reset_index())
    return Table(frame, target, caption, why={"Rank": "No variation."})


def stability(results: Results, names: DisplayNames, n_halves: int) -> Table:
    """Share of half-samples that select each label, by target."""
    rows = results.select("selection_frequency", kind="half_samples")
    columns = {t: title.capitalize() for t, title in TITLES.items() if t in set(rows["target"])}
    wide = names.sort(tables.pivot(rows, KEY, "target", columns).astype(dict.fromkeys(columns.values(), float)))
    why = dict.fromkeys(columns.values(), "Not a predictor of this target.")
    caption = f"Share of {n_halves} half-samples in which a label belongs to the subset with the highest adjusted fit."
    return Table(names.named(wide), "stability", caption, why=why)
