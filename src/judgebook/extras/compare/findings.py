"""What a comparison of two runs says: facts from its results, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.extras.compare import tables
from judgebook.extras.compare.analysis import CLEARLY, LARGE, NOT, OPEN, STANDARDISED, WEAKLY, Comparison
from judgebook.extras.compare.tables import label_name, over

_PHRASES = Phrases(__package__)


def answer(runs: Comparison, names: DisplayNames) -> Prose:
    """How far did the repetition reproduce? The labels by verdict, in one sentence."""
    rows = tables.ordered(runs).loc[lambda f: f.index.isin(runs.deciding.index)]
    ends = rows["r_high"].fillna(rows["fisher_high"])
    graded = {
        verdict: [label_name(r, names) for r in rows[rows["verdict"] == verdict].to_dict("records")]
        for verdict in (CLEARLY, WEAKLY, NOT, OPEN)
    }
    weak = rows[rows["verdict"] == WEAKLY]
    facts = {
        "a": runs.a.title,
        "b": runs.b.title,
        "n": len(rows),
        "differ": len(runs.settings),
        "identical": runs.identical,
        "copies": runs.copies,
        "turned": bool(((rows["sure_opposite"] > 0) | (ends < 0))[rows["verdict"] == NOT].all()),
        "itself": runs.a.spec == runs.b.spec,
        "study": runs.a.study.title,
        "least": float(weak["r_low"].fillna(weak["fisher_low"]).min()),
        "large": LARGE,
        "confidence": runs.confidence,
    }
    return Prose(_PHRASES.say("answer", labels=graded, **facts))


def findings(runs: Comparison, names: DisplayNames) -> Iterator[Prose]:
    """Correlation and order, conclusions, levels; nothing where the judgements are the same."""
    if runs.identical:
        return
    one = runs.overall
    rows = runs.deciding
    places = rows.sort_values("r", kind="stable").dropna(subset="r")
    ends = [{"name": label_name(r, names)} | r for r in places.iloc[[0, -1]].to_dict("records")] if len(places) else []
    about = {"one": None if one is None else one.to_dict(), "over": over(rows), "confidence": runs.confidence}
    yield Prose(_PHRASES.say("agreement", ends=ends, **about))
    counted = rows[["tested", "same_sign", "opposite", "only_a", "only_b", "changed"]].sum().astype(int).to_dict()
    yield Prose(_PHRASES.say("conclusions", a=runs.a.title, b=runs.b.title, n=len(rows), **counted))
    raw = runs.labels[runs.labels["scores"] == "raw"].dropna(subset="cv")
    cells = runs.variation.dropna(subset="cv")
    if len(raw):
        higher = float((cells["b"] > cells["a"]).mean())
        facts = {**runs.spread, "n": len(raw), "higher": higher}
        yield Prose(_PHRASES.say("levels", over=over(raw), a=runs.a.title, b=runs.b.title, **facts))


def rule(runs: Comparison) -> Prose:
    """The rule by which labels are graded."""
    facts = {"standardised": runs.primary == STANDARDISED, "over": over(runs.deciding)}
    return Prose(_PHRASES.say("rule", **facts, large=LARGE, confidence=runs.confidence))
