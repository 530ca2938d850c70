"""What notebook 05 says: facts from its results and the fits of notebook 07, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.performance.fitted import POWER
from judgebook.questions.sensitivity.analysis import compared, of_group, others
from judgebook.questions.sensitivity.judged_groups import JudgedGroup
from judgebook.questions.sensitivity.shown import who
from judgebook.study.labels import METHODS
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)


def findings(results: Results, judged: Sequence[JudgedGroup], names: DisplayNames) -> Iterator[Prose]:
    """The headline, and what was counted. results : those of the fits (`analysis.with_fits`)."""
    parts = [(who(one, judged, names), of_group(results, one)) for one in judged]
    groups = [{"who": name, **tally(of_part), "pairs": _most_often(of_part, names)} for name, of_part in parts]
    yield Prose(_PHRASES.say("headline", groups=groups, power=POWER, **_points([p for _, p in parts], names)))
    yield Prose(_PHRASES.say("counted", groups=groups))


def tally(results: Results) -> dict:
    """How many labels and comparisons can be compared by the fits, how many are decided, and for whom."""
    rows = compared(results)
    sure = rows[rows["sure"]]
    n_labels, n_apart = (len(frame[["method", "label"]].drop_duplicates()) for frame in (rows, sure))
    return {
        "n_labels": n_labels,
        "n_apart": n_apart,
        "n": len(rows),
        "n_sure": len(sure),
        "full": n_apart == n_labels,
        "share": len(sure) / max(len(rows), 1),
        "others": others(results),
    }


def shares(method: str, label: str, names: DisplayNames) -> bool:
    """Whether differences are told in percentage points: of marks and comparisons."""
    return METHODS[method].unit == "pair" or names.labels[method, label].binary


def _points(parts: Sequence[Results], names: DisplayNames) -> dict[str, list[float]]:
    """Medians over labels, by method and group, of the difference that is decided with 80% power: of marks and
    comparisons (percentage points), and of ratings (points on their scales)."""
    out: dict[str, list[float]] = {"shares": [], "points": []}
    for results in parts:
        rows = results["difference_found"].dropna(subset="estimate")
        for method, of_method in rows.groupby("method", sort=False):
            share = all(shares(str(method), label, names) for label in of_method["label"])
            out["shares" if share else "points"].append((100 if share else 1) * of_method["estimate"].median())
    return out


def sample(judged: Sequence[JudgedGroup], names: DisplayNames, *, n: int) -> Prose:
    """How many dialogues per system each group judged, and how many a draw has."""
    groups = [
        {"who": who(one, judged, names), "few": min(one.dialogues), "many": max(one.dialogues)}
        | {"drawn": one.draw_size(n)}
        for one in judged
    ]
    return Prose(_PHRASES.say("sample", groups=groups, n=n, weighted=any(one.weighted for one in judged)))


def _most_often(results: Results, names: DisplayNames) -> dict | None:
    """The pairs of systems that differ on most labels."""
    rows = compared(results)
    sizes = names.pairs(rows[rows["sure"]]).groupby(["system", "system_b"]).size()
    if sizes.empty:
        return None
    first = [" and ".join(names.name("system", s) for s in pair) for pair in sizes.index[sizes == sizes.max()]]
    return {"first": first, "n_labels": int(sizes.max())}
