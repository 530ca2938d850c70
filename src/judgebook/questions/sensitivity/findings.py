"""What notebook 05 says: facts from its results and the fits of notebook 07, put into words by `text.md.j2`."""

from __future__ import annotations

from collections.abc import Sequence

from judgebook.display.names import DisplayNames
from judgebook.display.text import Phrases
from judgebook.display.views import Prose
from judgebook.questions.performance.fitted import POWER
from judgebook.questions.sensitivity.analysis import JudgedGroup, compared, of_group
from judgebook.study.labels import METHODS
from judgebook.study.results import Results

_PHRASES = Phrases(__package__)


def who(one: JudgedGroup, judged: Sequence[JudgedGroup], names: DisplayNames) -> str:
    """What tells one group or corpus from the others; '' where there is one."""
    where = [names.name("corpus", one.corpus)] if len({x.corpus for x in judged}) > 1 else []
    return ", ".join([*where, *([] if one.group == "all" else [names.name("group", one.group)])])


def findings(results: Results, judged: Sequence[JudgedGroup], names: DisplayNames) -> Prose:
    """The headline. results : of notebook 07."""
    parts = [(who(one, judged, names), of_group(results, one)) for one in judged]
    groups = [{"who": name, **tally(of_part)} for name, of_part in parts]
    points = _points([of_part for _, of_part in parts], names)
    return Prose(_PHRASES.say("headline", groups=groups, power=POWER, **points))


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
        "others": bool(results["contrast"]["resample_unit"].str.contains("annotator").any()),
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
