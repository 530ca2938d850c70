"""Tables of notebook 92."""

from __future__ import annotations

import pandas as pd

from compendium.field.figures import word
from judgebook.display import cells
from judgebook.display.views import Table
from judgebook.study.results import Results


def findings(results: Results) -> Table:
    """The numbers of the five findings."""
    rows = results["field_finding"]
    out = pd.DataFrame({"Finding": rows["finding"].map(word), "Summary": rows["summary"]})
    out = out.assign(Value=cells.intervals(rows), Studies=rows["n_clusters"])
    caption = (
        "The five findings. Brackets hold 95% intervals over studies, which are resampled; of fewer than five, there is"
        " none. Pooled counts every claim alike; in the mean, studies with few claims count less; both is the mean of"
        " those studies where annotators can be a sample."
    )
    return Table(out, "five", caption)


def means(results: Results) -> Table:
    """Means over studies, and what to expect of another one."""
    rows, expected = results["field_mean"], results["field_prediction"]
    out = pd.DataFrame({"Quantity": rows["quantity"].map(word), "Labels": rows["category"].map(word)})
    out["Mean"] = cells.intervals(rows)
    out["Another study"] = cells.ranges(expected[["ci_low", "ci_high"]])
    out = out.assign(Studies=rows["n_clusters"], **{"Number of labels": rows["n"]})
    caption = (
        "Means over studies, by what is told of a label, with 95% intervals, and the range in which 95% of labels of"
        " another study are expected. Random effects of studies, labels within them; values are cut at the ends of the"
        " scale, and design effects averaged as logarithms. Left out where fewer than five studies have such labels."
    )
    return Table(out, "means", caption)


def differences(results: Results) -> Table:
    """How alpha differs between labels of one kind and others."""
    rows = results["field_difference"]
    out = pd.DataFrame({"By": rows["moderator"].map(word), "Labels": rows["category"].map(word)})
    out = out.assign(Difference=cells.intervals(rows), **{"Studies with such labels": rows["n"]})
    out = out.assign(**{"All studies": rows["n_clusters"]})
    caption = (
        "Alpha of these labels less that of all others (of experts, less that of crowd workers): differences of means"
        " over studies, with 95% intervals over resampled studies, not adjusted for their number. Different kinds of"
        " labels come from different studies, so each difference is also one between tasks."
    )
    return Table(out, "differences", caption)
