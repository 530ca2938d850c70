"""Tables of notebook 05."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from judgebook.display import cells
from judgebook.display.cells import Cell, intervals
from judgebook.display.names import DisplayNames
from judgebook.display.text import number, span
from judgebook.display.views import Table
from judgebook.questions.sensitivity.analysis import (
    PRIMARY,
    PUBLISHED,
    counts,
    detectable,
    of_group,
    primary,
    primary_name,
    verdicts,
    with_people,
)
from judgebook.questions.sensitivity.contrasts import ALPHAS
from judgebook.questions.sensitivity.differences import TEST, WEIGHTED
from judgebook.questions.sensitivity.equivalence import within
from judgebook.questions.sensitivity.judged_groups import JudgedGroup
from judgebook.questions.sensitivity.power import SAMPLE
from judgebook.questions.sensitivity.shown import TESTS, who
from judgebook.study.results import Results

LABEL = ["method", "label"]


def count_tables(
    results: Results, judged: Sequence[JudgedGroup], names: DisplayNames, *, n: int, n_draws: int
) -> Iterator[Table]:
    """`count_table` of each corpus and group. n, n_draws : dialogues per system in a draw, and draws."""
    for i, one in enumerate(judged):
        part = who(one, judged, names)
        drawn = one.draw_size(n)
        caption = "Pairs of systems that differ at 0.05" + (f", {part}" if part else "")
        if drawn:
            caption += f": one draw of {drawn} dialogues per system, and the mean (range) over {one.n_draws(n_draws):,}"
            caption += " draws"
        caption += ". All dialogues: unadjusted, and with Holm's adjustment within the label or over all labels."
        name = f"counts_{i}" if i else "counts"
        yield Table(count_table(of_group(results, one), names), name, caption)


def count_table(results: Results, names: DisplayNames) -> pd.DataFrame:
    """Pairs of systems that differ, one row per label, by the published and by the permutation test."""
    rows = names.sort(results["n_significant"].drop_duplicates(LABEL)).set_index(LABEL)
    weighted = (results["n_significant"]["test"] == WEIGHTED).any()
    out = rows[["n"]].rename(columns={"n": "Pairs"})
    for alpha in ALPHAS:
        once = counts(results, PUBLISHED, "none", "first", alpha)
        if len(once):
            out[f"One draw, {alpha:g}"] = once.astype("Int64")
    for heading, test in {"Draws, published": PUBLISHED, "Draws, permutation": "session"}.items():
        mean, low, high = (counts(results, test, "none", s) for s in ("mean", "smallest", "largest"))
        if len(mean):
            ends = pd.DataFrame({"low": low, "high": high}).reindex(mean.index)
            out[heading] = cells.numbers(mean, 1) + " (" + cells.ranges(ends, 0) + ")"
    for heading, test, over in (
        ("All, published", PUBLISHED, "none"),
        (f"All, {'weighted t' if weighted else 'permutation'}", PRIMARY, "none"),
        ("Holm, label", PRIMARY, "label"),
        ("Holm, all labels", PRIMARY, "all"),
    ):
        out[heading] = counts(results, test, over).astype("Int64")
    return names.named(out.reset_index())


def differences(results: Results, names: DisplayNames, part: str = "", name: str = "differences") -> Table:
    """Pairs of systems that differ by the permutation test with Holm's adjustment within the label, with intervals.

    part, name : what the results are of, where there are several groups; of the file.
    """
    rows = names.sort(names.pairs(primary(results).query("p_adjusted < 0.05")))
    keys = [*LABEL, "system", "system_b"]
    by_pair = names.pairs(results.select("system_difference", test=TEST)).set_index(keys)
    shown = by_pair[["estimate", "ci_low", "ci_high", "p_adjusted"]].reindex(pd.MultiIndex.from_frame(rows[keys]))
    pairs = zip(rows["system"], rows["system_b"], strict=True)
    people = len(with_people(results)) > 0
    these = ", these annotators" if people else ""
    columns = {
        "Systems": [names.pair_name(a, b) for a, b in pairs],
        "Difference" + (", CI for other annotators" if people else ""): intervals(shown, 3).to_numpy(),
        "p" + these: cells.p_values(rows["p_value"]),
        "Holm" + these: cells.p_values(rows["p_adjusted"]),
    }
    out = rows[LABEL].assign(**columns)
    if people:
        out["Holm, other annotators"] = cells.p_values(shown["p_adjusted"]).to_numpy()
    test = primary_name(results)
    caption = f"Pairs that differ{', ' + part if part else ''}, by the {test} with Holm's adjustment within the"
    caption += (
        " label. Difference: of means (of shares, for marks; wins minus losses as a share, for comparisons), with"
    )
    caption += f" CI over sessions{' and annotators' if people else ''}."
    if people:
        caption += " The permutation test is about these annotators, the CI and the last column about others like them,"
        caption += " too: a CI may include 0 although p is small."
    why = {heading: "No variation." for heading in columns if heading.startswith("Difference")}
    why["Holm, other annotators"] = "Annotators not known, or no variation."
    return Table(names.named(out), name, caption, decimals=3, why=why)


def type_i_errors(results: Results, names: DisplayNames, *, n_runs: int, part: str = "", name: str = "errors") -> Table:
    """Mean and range over labels of the type I error, by method and test, at each level."""
    rows = names.sort(results["null_rejection"].dropna(subset="estimate"))
    out = []
    for (method, test), of_test in rows.groupby(["method", "test"], sort=False):
        row = {"method": method, "Test": TESTS[test], "Dialogues": int(of_test["n_dialogues"].iloc[0])}
        for alpha in ALPHAS:
            share = of_test.loc[of_test["alpha"] == alpha, "estimate"]
            ends = {"": share.mean(), "low": share.min(), "high": share.max()}
            row[f"At {alpha:g}"] = Cell(f"{number(share.mean(), 3)} ({span(share, 3)})", ends)
        out.append(row)
    caption = f"Type I error{', ' + part if part else ''}: mean (range) over labels, from {n_runs} placebo comparisons"
    return Table(names.named(pd.DataFrame(out)), name, f"{caption} per label.")


def power(results: Results, names: DisplayNames, part: str = "", name: str = "power") -> Table:
    """Expected power by number of dialogues, one row per label; and the detectable differences."""
    rows = results["power"].assign(n_dialogues=lambda f: f["n_dialogues"].astype(int))
    rows = rows.assign(text=intervals(rows, 2))
    out = rows.set_index([*LABEL, "n_dialogues"])["text"].unstack()  # noqa: PD010
    out = out.rename(columns=lambda n: f"{n} dialogues").rename_axis(columns=None)
    single = results.select("detectable_effect", n_dialogues=None)
    columns = {
        "Single test": single,
        "Holm": detectable(results),
        "Holm, other annotators": detectable(results, people=SAMPLE),
    }
    columns = {heading: rows.set_index(LABEL)["estimate"] for heading, rows in columns.items() if len(rows)}
    out = out.assign(**{heading: values.reindex(out.index) for heading, values in columns.items()})
    caption = (
        f"Share of pairs of systems significant at 0.05 (a single test){', ' + part if part else ''}, by dialogues"
    )
    caption += " per system, if true differences vary as estimated here once noise is removed. CI: from that of their"
    caption += " variance; 0.05: no two systems differ. Then the difference detected with 80% power with the present"
    caption += " dialogues, by a single test and at the first step of Holm's adjustment within the label."
    caption += " Other annotators: annotators are a sample." if "Holm, other annotators" in columns else ""
    why = dict.fromkeys([*out.columns], "No variation between sessions, or one session.")
    why["Holm, other annotators"] = "Annotators not known, or no variation."
    return Table(names.named(names.sort(out.reset_index())), name, caption, dict.fromkeys(columns, 3), why)


def printed_counts(results: Results, printed: pd.DataFrame, panels: dict[str, str]) -> pd.DataFrame:
    """Printed counts (value) and ours by the published tests: of the first draw or of all dialogues (here), and the
    smallest and largest over draws.

    printed : cells with a method as panel (`panels`), a level like `alpha_0_05` as row, a label as column.
    """
    alpha = printed["row"].str.removeprefix("alpha_").str.replace("_", ".").astype(float)
    cells = printed.assign(method=printed["panel"].map(panels), label=printed["column"], alpha=alpha)
    counted = results.select("n_significant", test=PUBLISHED, adjusted_over="none").astype({"alpha": float})
    counted["what"] = counted["summary"].where(counted["n_dialogues"].notna(), "every")
    wide = counted.set_index([*LABEL, "alpha", "what"])["estimate"].unstack("what")  # noqa: PD010 (twice must raise)
    wide = wide.reindex(columns=["first", "smallest", "largest", "every"])
    out = cells[[*LABEL, "alpha", "printed", "value"]].join(wide, on=[*LABEL, "alpha"])
    return out.assign(here=out["first"].fillna(out["every"])).dropna(subset="here").reset_index(drop=True)


def printed(counted: pd.DataFrame, names: DisplayNames, element: str) -> Table:
    """`printed_counts` ready to be shown; a range only where there were draws."""
    rows = names.sort(counted)
    out = rows[LABEL].assign(Level=rows["alpha"], Printed=rows["printed"], Here=rows["here"].astype("Int64"))
    if rows["smallest"].notna().any():
        out["Over draws"] = cells.ranges(rows[["smallest", "largest"]], 0)
    caption = f"Printed counts ({element}) and counts in this study by the published tests."
    return Table(names.named(out), "beside", caption)


def equivalence(results: Results, names: DisplayNames, *, part: str = "", name: str = "equivalence") -> Table | None:
    """How many pairs of systems differ, are shown to be alike, both or neither: one row per label."""
    rows = verdicts(results)
    if rows.empty:
        return None
    differ, alike = rows["differ"], rows["alike"]
    kinds = {"Differ": differ & ~alike, "Differ, but equivalent": differ & alike, "Equivalent": alike & ~differ}
    rows = rows.assign(**kinds, Undecided=~differ & ~alike)
    counted = rows.groupby(LABEL, sort=False)[[*kinds, "Undecided"]].sum().astype(int)
    on_label = (
        results.select("smallest_margin", scale="label").groupby(LABEL, sort=False)["estimate"].agg(["min", "max"])
    )
    smallest, on_label = (
        cells.ranges(f) for f in (rows.groupby(LABEL, sort=False)["smallest"].agg(["min", "max"]), on_label)
    )
    out = pd.concat(
        [counted, smallest.rename("Smallest margin (SD)"), on_label.rename("In units of the label")], axis=1
    )
    test = primary_name(results)
    caption = f"{part + ': p' if part else 'P'}airs of systems that differ ({test}), and that are shown to be"
    caption += f" equivalent within {within(rows)} (two one-sided tests), both with Holm's adjustment within the label."
    caption += " Smallest margin: the range over pairs of the smallest margin within which a pair is shown to be"
    caption += " equivalent (unadjusted). For comparisons: wins minus losses."
    return Table(names.named(names.sort(out.reset_index())), name, caption)
