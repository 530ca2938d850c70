"""Tables and sentences of notebook 05, from result rows of `systems_apart`.

Sentences speak of the permutation test on all dialogues with Holm's adjustment, which is the primary analysis.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers import tables
from helpers.look import Look
from helpers.schema import read_condition
from helpers.systems_apart import Cell

#: test -> name in tables, figures and sentences
TESTS = {
    "z": "z test on turns",
    "student": "Student's t",
    "welch": "Welch's t",
    "sign": "sign test",
    "dialogue_welch": "Welch's t on dialogues",
    "session": "permutation test",
}
PUBLISHED = ("z", "student", "sign")
ALPHAS = (0.01, 0.05, 0.1)


def unfold(results: pd.DataFrame) -> pd.DataFrame:
    """Result rows with the keys of their condition as columns, all of them text, missing where a row lacks one; the key
    `family` becomes `over`."""
    known = {text: read_condition(text) for text in results["condition"].dropna().unique()}
    keys = pd.DataFrame([known.get(text, {}) for text in results["condition"]], index=results.index)
    names = ("test", "alpha", "family", "adjust", "n_dialogues", "summary", "sample", "scale", "effect")
    return results.join(keys.reindex(columns=list(names)).rename(columns={"family": "over"}))


def of_cell(rows: pd.DataFrame, cell: Cell) -> pd.DataFrame:
    """The rows of one corpus and group."""
    return rows[(rows["corpus"] == cell.corpus) & (rows["group"] == cell.group)]


def _counts(rows: pd.DataFrame, test: str, family: str, alpha: float, drawn: bool, summary: str) -> pd.Series:
    """Pairs told apart, by (method, label). test : 'published' or 'session'."""
    here = rows[(rows["statistic"] == "n_significant") & (rows["alpha"] == f"{alpha:g}") & (rows["summary"] == summary)]
    here = here[here["n_dialogues"].notna() == drawn]
    here = here[here["test"].isin(PUBLISHED) if test == "published" else here["test"] == test]
    adjust = "none" if family == "none" else "holm"
    here = here[(here["over"] == family) & (here["adjust"] == adjust)]
    return here.set_index(["method", "label"])["estimate"]


def count_table(rows: pd.DataFrame, look: Look, drawn: bool) -> pd.DataFrame:
    """Pairs of systems told apart, a row a label, by both tests: one draw, mean and range over draws, all dialogues."""
    out = look.sort(rows[rows["statistic"] == "n_significant"].drop_duplicates(["method", "label"]))
    out = out.set_index(["method", "label"])[["n"]].rename(columns={"n": "Pairs"})
    if drawn:
        for alpha in ALPHAS:
            out[f"One draw, .{f'{alpha:g}'[2:]}"] = _whole(_counts(rows, "published", "none", alpha, True, "first"))
        for name, test in {"Draws, .05": "published", "Draws, .05, permuted": "session"}.items():
            mean, low, high = (_counts(rows, test, "none", 0.05, True, s) for s in ("mean", "smallest", "largest"))
            if len(mean):
                out[name] = mean.map("{:.1f} (".format) + low.map("{:.0f}–".format) + high.map("{:.0f})".format)
    out["All, .05"] = _whole(_counts(rows, "published", "none", 0.05, False, "first"))
    out["All, permuted"] = _whole(_counts(rows, "session", "none", 0.05, False, "first"))
    out["Holm, label"] = _whole(_counts(rows, "session", "label", 0.05, False, "first"))
    out["Holm, all"] = _whole(_counts(rows, "session", "all", 0.05, False, "first"))
    return look.named(out.reset_index())


def _whole(values: pd.Series) -> pd.Series:
    return values.astype("Int64")


def difference_table(rows: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Pairs of systems that a label tells apart by the permutation test with Holm's adjustment within the label."""
    here = look.sort(primary(rows))
    here = here[here["p_adjusted"] < 0.05]
    out = here[["method", "label", "estimate"]].rename(columns={"estimate": "Difference"})
    names = zip(here["system"], here["system_b"], strict=True)
    out.insert(2, "Systems", [f"{look.name('system', a)} − {look.name('system', b)}" for a, b in names])
    out["p"] = here["p_value"].map(tables.p_value)
    out["Holm"] = here["p_adjusted"].map(tables.p_value)
    return look.named(out)


def primary(rows: pd.DataFrame) -> pd.DataFrame:
    """The permutation tests of all dialogues."""
    return rows[(rows["statistic"] == "system_difference") & (rows["test"] == "session") & rows["sample"].isna()]


def as_published(rows: pd.DataFrame) -> pd.DataFrame:
    """Tests of the first draw by the paper's tests; of all dialogues where nothing was drawn."""
    here = rows[(rows["statistic"] == "system_difference") & rows["test"].isin(PUBLISHED)]
    drawn = here[here["sample"] == "draw"]
    return drawn if len(drawn) else here[here["sample"].isna()]


def error_table(rows: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Mean and range over labels of the share of true nulls rejected, by method and test, at each level."""
    here = rows[rows["statistic"] == "null_rejection"].dropna(subset=["estimate"])
    out = []
    for (method, test), part in look.sort(here).groupby(["method", "test"], sort=False):
        row = {"method": method, "Test": TESTS[test], "Dialogues": int(part["n_dialogues"].iloc[0])}
        for alpha in ALPHAS:
            share = part.loc[part["alpha"] == f"{alpha:g}", "estimate"]
            row[f"At .{f'{alpha:g}'[2:]}"] = f"{share.mean():.3f} ({share.min():.3f}–{share.max():.3f})"
        out.append(row)
    return look.named(pd.DataFrame(out))


def power_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean power over the labels and pairs of systems of each method, by number of dialogues."""
    here = rows[rows["statistic"] == "power"]
    here = here.assign(n_dialogues=here["n_dialogues"].astype(int))
    return here.groupby(["method", "n_dialogues"], sort=False, as_index=False)["estimate"].mean()


def power_table(rows: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Expected number of pairs told apart by number of dialogues, a row a label; and the detectable difference."""
    here = rows[rows["statistic"] == "power"].assign(n_dialogues=lambda f: f["n_dialogues"].astype(int))
    wide = here.groupby(["method", "label", "n_dialogues"])["estimate"].sum().unstack()  # noqa: PD010
    found = rows[(rows["statistic"] == "detectable_effect") & (rows["scale"] == "label")]
    names = {n: f"{n} dialogues" for n in wide.columns}
    out = wide.rename(columns=names).rename_axis(columns=None)
    if len(found):
        out["Detectable"] = found.set_index(["method", "label"])["estimate"]
    return look.named(look.sort(out.reset_index()))


def verdict(rows: pd.DataFrame, cell: Cell, look: Look) -> str:
    """What the primary test finds: labels that tell systems apart, and which systems."""
    tests = primary(rows)
    known, sure = tests[tests["p_value"].notna()], tests[tests["p_adjusted"] < 0.05]
    labels = known[["method", "label"]].drop_duplicates()
    if labels.empty:
        return "No two systems can be compared: nothing can be exchanged between their dialogues."
    apart = sure[["method", "label"]].drop_duplicates()
    over_all = _counts(rows, "session", "all", 0.05, False, "first").sum()
    text = f"By the permutation test on all dialogues, with Holm's adjustment within a label, {len(apart) or 'none'} of"
    text += f" {_many(len(labels), 'label')} tell{'s' if len(apart) < 2 else ''} at least one pair of systems apart"
    text += f" ({len(sure)} of {len(known)} comparisons; {over_all:.0f} when adjusted over all of them)."
    if len(sure):
        pairs = sure.groupby(["system", "system_b"]).size().sort_values(ascending=False, kind="stable")
        (a, b), n = pairs.index[0], int(pairs.iloc[0])
        text += f" Most often told apart: {tables.listing([look.name('system', a), look.name('system', b)])}, by"
        text += f" {_many(n, 'label')}."
    if cell.blocks == "none":
        text += " The data do not say which dialogues share a session or a context: all dialogues were exchanged."
    elif cell.blocks == "context":
        text += " Dialogues were exchanged within contexts, since the data know no sessions."
    return text


def by_method(rows: pd.DataFrame, look: Look) -> str:
    """Mean number of pairs told apart by a label, by method: primary test, published test, and draws."""
    lines = []
    found = _counts(rows, "session", "label", 0.05, False, "first")
    drawn = _counts(rows, "published", "none", 0.05, True, "mean")
    ends = [_counts(rows, "published", "none", 0.05, True, s) for s in ("smallest", "largest")]
    n = rows.loc[rows["statistic"] == "n_significant"].groupby("method")["n"].first()
    for method in sorted(found.index.unique("method"), key=lambda m: look.position("method", m)):
        line = f"- {tables.plain(look.name('method', method))}: {found[method].mean():.1f} of {n[method]} pairs a label"
        if method in drawn.index:
            low, high = (e[method].mean() for e in ends)
            line += f"; as published {drawn[method].mean():.1f} on average over draws"
            line += f" ({low:.1f} to {high:.1f})" if high > low else ", the same in every draw"
        lines.append(line)
    head = "Pairs of systems told apart at .05, averaged over labels: by the permutation test on all dialogues, with"
    head += (
        " Holm's adjustment within a label; as published, by draws without adjustment (from the fewest to the most):"
    )
    return "\n".join([head, "", *lines])


def luck(rows: pd.DataFrame, n: int | None, n_draws: int) -> str:
    """How much one draw decides; empty where nothing was drawn."""
    low, high = (_counts(rows, "published", "none", 0.05, True, s) for s in ("smallest", "largest"))
    if n is None or low.empty or n_draws < 2:
        return ""
    gap = high - low
    gap = gap[gap.groupby("method").transform("max") > 0]  # where a draw takes all there is, draws cannot differ
    if gap.empty:
        return ""
    text = f"One draw of {n} conversations a system, of the kind that Finch et al. 2023 made, is partly luck: over"
    text += f" {n_draws:,} draws"
    text += " the number of pairs that a label tells apart at .05 by the published test moves by"
    text += (
        f" {gap.median():g} for the median label of methods whose draws differ, and by up to {gap.max():.0f}. That is"
    )
    text += " a range over draws from the same dialogues, not an"
    return text + " interval."


def errors(rows: pd.DataFrame, look: Look, n_runs: int) -> str:
    """How often the tests err, and what that means for counts."""
    here = rows[(rows["statistic"] == "null_rejection") & (rows["alpha"] == "0.05")].dropna(subset=["estimate"])
    if here.empty:
        return "No system has enough dialogues to be compared with itself."
    share = here.groupby(["method", "test"])["estimate"].mean()
    said, methods = [], sorted(here["method"].unique(), key=lambda m: look.position("method", m))
    for method in methods:
        tests = [t for t in share[method].index if t in PUBLISHED]
        parts = [f"{TESTS[t]} {100 * share[method, t]:.0f} %" for t in [*tests, "session"] if t in share[method].index]
        said.append(f"{tables.plain(look.name('method', method))}: {', '.join(parts)}")
    worst = share[[t in PUBLISHED for _, t in share.index]]
    chance = 100 * 1.96 * np.sqrt(0.05 * 0.95 / n_runs)
    text = (
        "Where there is nothing to find (one system against itself), the tests find a difference at .05 all the same in"
    )
    text += (
        f" this share of {n_runs} comparisons, averaged over labels: {'; '.join(said)}. Chance moves such a share by"
    )
    text += f" up to {chance:.0f} points."
    if worst.max() > 0.075:
        text += " A test that rejects a true null more often than its level makes its labels look more sensitive than"
        text += " they are: counts by the published tests compare tests as much as labels."
    elif worst.min() < 0.025:
        text += " A test that rejects a true null less often than its level makes its labels look less sensitive."
    return text


def planning(rows: pd.DataFrame, look: Look) -> str:
    """What more conversations would find."""
    means = power_rows(rows)
    if means.empty:
        return ""
    sizes = sorted(means["n_dialogues"].unique())
    wide = means.pivot_table(index="method", columns="n_dialogues", values="estimate")
    ends = sorted({sizes[0], sizes[-1]})
    said = [
        f"{tables.plain(look.name('method', m))} {' and '.join(f'{100 * part[n]:.0f} %' for n in ends)}"
        for m, part in sorted(wide.iterrows(), key=lambda pair: look.position("method", pair[0]))
    ]
    text = f"If the observed differences were the true ones, {' and '.join(map(str, ends))} dialogues a system would"
    text += f" tell this share of all pairs apart (unadjusted, at .05): {'; '.join(said)}. Observed differences contain"
    return text + " noise, which makes them too large on average: expect less."


def beside(rows: pd.DataFrame, printed: pd.DataFrame, panels: dict[str, str], same_size: bool) -> pd.DataFrame:
    """Printed counts beside ours by the published tests: first draw, range over draws, and the verdict.

    printed : cells whose panel is a method (`panels`), row a level like alpha_0_05, column a label. Verdicts:
    match (the only value over draws), within_noise (inside their range), differs; none unless draws are of the paper's
    size (`same_size`).
    """
    out = []
    for cell in printed.itertuples():
        key, alpha = (panels.get(cell.panel), cell.column), float(cell.row.removeprefix("alpha_").replace("_", "."))
        found = {
            s: _counts(rows, "published", "none", alpha, True, s).get(key) for s in ("first", "smallest", "largest")
        }
        drawn = found["first"] is not None
        here = found["first"] if drawn else _counts(rows, "published", "none", alpha, False, "first").get(key)
        verdict = None
        if drawn and same_size:
            inside = found["smallest"] is not None and found["smallest"] <= cell.value <= found["largest"]
            verdict = "within_noise" if inside else "differs"
            verdict = "match" if found["smallest"] == cell.value == found["largest"] else verdict
        out.append({"method": key[0], "label": key[1], "Level": alpha, "Printed": cell.printed, "here": here,
                    "smallest": found["smallest"], "largest": found["largest"], "value": cell.value,
                    "Verdict": verdict})  # fmt: skip
    return pd.DataFrame(out).dropna(subset=["here"]).reset_index(drop=True)


def wrong_cells(cells: pd.DataFrame) -> float:
    """How often the printed count of *another* label of the same method and level lies inside a label's range: what
    lying inside is worth."""
    hits, n = 0, 0
    for _, part in cells.dropna(subset=["smallest"]).groupby(["method", "Level"]):
        value, low, high = (part[c].to_numpy(float) for c in ("value", "smallest", "largest"))
        inside = (low[:, None] <= value[None, :]) & (value[None, :] <= high[:, None])
        hits, n = hits + inside.sum() - np.trace(inside), n + inside.size - len(part)
    return hits / n if n else np.nan


def beside_table(cells: pd.DataFrame, look: Look) -> pd.DataFrame:
    """`beside` ready to be shown; a range only where there were draws."""
    out = look.sort(cells).assign(Here=lambda f: f["here"].astype("Int64"))
    if out["smallest"].notna().any():
        out["Over draws"] = [f"{a:.0f}–{b:.0f}" for a, b in zip(out["smallest"], out["largest"], strict=True)]
    out = out.drop(columns=["here", "value", "smallest", "largest", *([] if out["Verdict"].any() else ["Verdict"])])
    return look.named(out)


def beside_text(cells: pd.DataFrame) -> str:
    """How many printed counts agree, and what agreeing is worth."""
    gap = (cells["here"] - cells["value"]).abs()
    if cells["Verdict"].isna().all():
        return (
            f"Of {_many(len(cells), 'printed count')} of the labels judged here, {int((gap == 0).sum())} are equal and"
            f" {int((gap <= 1).sum())} within one. The paper's counts come from other conversations, and other numbers"
            " of them, so that neither is a reproduction."
        )
    said = "; ".join(f"{n} {verdict}" for verdict, n in cells["Verdict"].value_counts().items())
    text = (
        f"Of {_many(len(cells), 'printed count')}: {said}. Which conversations the paper drew is not known, so that a"
    )
    text += " printed count can only lie inside the range over our draws or outside it."
    wrong = wrong_cells(cells)
    if not np.isnan(wrong):
        text += (
            f" Another label's printed count lies inside a label's range in {100 * wrong:.0f} %, which is what being"
        )
        text += " inside is worth."
    return text


def scope(cells: Sequence[Cell], drawn: int | None, n: int, look: Look) -> str:
    """Whose judgements are shown, and what was drawn."""
    main = cells[0]
    names = [look.name("group", c.group) for c in cells if c.corpus == main.corpus]
    text = "" if main.group == "all" else f"Judgements by {tables.plain(names[0])}"
    others = names[1:]
    text += f" (tables below: also by {tables.listing(others)})." if others else "." if text else ""
    sizes = [s for p in main.panels if p.unit != "pair" for s in pd.Series(p.system).value_counts()]
    if sizes:
        few, many = min(sizes), max(sizes)
        text += f" {few} dialogues a system" if few == many else f" {few} to {many} dialogues a system"
        text += f", {drawn} of them in a draw." if drawn else f": no more than {n}, so that nothing is drawn."
    return text.strip()


def count_caption(drawn: int | None, n_draws: int) -> str:
    """Caption of `count_table`."""
    ours = "on all dialogues at .05 by the published and the permutation test, and the latter with Holm's adjustment"
    if not drawn:
        return f"Pairs of systems told apart {ours}."
    text = f"Pairs of systems told apart: one draw of {drawn} dialogues a system by the published tests;"
    return f"{text} mean (range) over {n_draws:,} draws by the published and the permutation test; {ours}."


def _many(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
