"""Tables of notebook 10, made from unfolded result rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from helpers import tables
from helpers.look import Look
from helpers.quality import OVERALL
from helpers.schema import read_condition
from helpers.tables import interval, number

AMONG = {
    "systems": "Between {n} systems",
    "families": "Between {n} architectures",
    "variants": "{variant}: with less without, {n} pairs",
}


def unfold(results: pd.DataFrame) -> pd.DataFrame:
    """Result rows with each key of their condition as a column, missing where a row does not have it."""
    parsed = {text: read_condition(text) for text in results["condition"].unique()}
    keys = pd.DataFrame([parsed[text] for text in results["condition"]], index=results.index)
    return results.join(keys[[k for k in keys if k not in results]])


def one(rows: pd.DataFrame, **values: object) -> pd.Series | None:
    """The row of unfolded results with these values; None: missing. None where there is no such row."""
    for column, value in values.items():
        if column not in rows:
            if value is None:
                continue
            return None
        rows = rows[rows[column].isna() if value is None else rows[column] == value]
    return rows.iloc[0] if len(rows) else None


def titles(results: pd.DataFrame, variant: str) -> dict[str, str]:
    """Headings of what is correlated, with the number of points, in the order of figures."""
    r = results[(results["statistic"] == "replication_r") & (results["interval"] == "fisher")]
    n = r.groupby("among")["n"].max()
    return {a: text.format(n=n[a], variant=variant.capitalize()) for a, text in AMONG.items() if a in n}


def repeat_rows(results: pd.DataFrame, corpus: str) -> pd.DataFrame:
    """r of overall means, all ratings standardised, by rule, with either interval: what the first figure shows."""
    r = results[
        (results["statistic"] == "replication_r") & (results["corpus"] == corpus) & (results["label"] == OVERALL)
    ]
    return by_rule(r[r["interval"].isin(["workers", "fisher"])])


def bias_table(
    results: pd.DataFrame, corpus: str, names: Mapping[str, str], headings: Mapping[str, str]
) -> pd.DataFrame:
    """r with both intervals, the bias of resampling, and r of as many random workers, by set and kind of score."""
    out, r = [], repeat_rows(results, corpus)
    for row in r[r["interval"] == "workers"].itertuples():
        keys = {"among": row.among, "scores": row.scores, "workers": row.workers, "corpus": corpus}
        fisher = one(r, interval="fisher", **keys)
        bias = one(results, statistic="replication_bias", label=OVERALL, **keys)
        cells = {
            "Correlated": headings[row.among],
            "Scores": row.scores,
            "Workers": names[row.workers],
            "n": int(row.n),
        }
        cells |= {
            "r": row.estimate,
            "Other workers": _ends(row),
            "Bias": bias["estimate"],
            "Other systems": _ends(fisher),
        }
        random = one(results, **keys | {"statistic": "replication_r", "workers": f"random as {row.workers}"})
        out.append(
            cells
            | {"As many at random": None if random is None else interval(*random[["estimate", "ci_low", "ci_high"]])}
        )
    return pd.DataFrame(out)


def _ends(row: object) -> str | None:
    low, high = getattr(row, "ci_low", None), getattr(row, "ci_high", None)
    return None if low is None or pd.isna(low) else f"{number(low)} to {number(high)}"


def label_table(results: pd.DataFrame, corpus: str, look: Look, method: str) -> pd.DataFrame:
    """r between systems by label (as printed below the paper's Tables 3, 8 and 9): a row a label, a column a kind of
    score and set of workers."""
    r = by_rule(results[(results["statistic"] == "replication_r") & (results["corpus"] == corpus)])
    r = r[(r["among"] == "systems") & (r["interval"] == "fisher")]
    sets = {"passed": "passed", "all": "everybody", "failed": "failed", "once": "passed, in one run"}
    out = {}
    for scores, name in {"z": "z", "raw": "Raw"}.items():
        for workers, title in sets.items():
            here = r[(r["scores"] == scores) & (r["workers"] == workers)]
            if len(here):
                out[f"{name}, {title}"] = here.set_index("label")["estimate"]
    wide = pd.DataFrame(out)
    order = [OVERALL, *(x for x in wide.index if x != OVERALL)]
    wide = wide.reindex(order)
    titles = ["Overall" if x == OVERALL else look.name("label", x, method) for x in order]
    wide.insert(0, "Label", titles)
    return wide.reset_index(drop=True)


def score_table(results: pd.DataFrame, corpus: str, statistic: str, look: Look, labels: Sequence[str]) -> pd.DataFrame:
    """Means of the workers who passed: a row a system, best first; overall with its interval, then each label."""
    rows = results[
        (results["statistic"] == statistic) & (results["corpus"] == corpus) & (results["workers"] == "passed")
    ]
    rows = rows[rows["list"].isna()] if "list" in rows else rows
    rows = rows[rows["standardised"].isna() | (rows["standardised"] == "all")] if "standardised" in rows else rows
    overall = rows[rows["label"] == OVERALL].set_index("system").sort_values("estimate", ascending=False)
    wide = rows.pivot_table(index="system", columns="label", values="estimate").reindex(overall.index)
    out = pd.DataFrame(
        {"System": [look.name("system", s) for s in overall.index], "n": overall["n"].astype(int).to_numpy()}
    )
    out["Overall"] = tables.intervals(overall).to_numpy()
    method = next((m for m, name in look.labels if name in labels), None)
    for label in (name for name in labels if name in wide):
        out[look.name("label", label, method)] = wide[label].to_numpy()
    return out


def concordance_table(results: pd.DataFrame, corpus: str, names: Mapping[str, str]) -> pd.DataFrame:
    """Agreement of conclusions with the first run, by set of workers, test and level."""
    rows = by_rule(results[results["statistic"] == "concordance"])
    out = []
    for (test, workers, alpha), part in rows.groupby(["test", "workers", "alpha"], sort=False):
        here = part[part["corpus"] == corpus].set_index("of")["estimate"]
        base = part[(part["corpus"] != corpus) & (part["of"] == "significant")]["estimate"]
        if "identical" in here:
            head = {
                "Test": {"rank_sum": "rank-sum", "wald": "workers resampled"}[test],
                "Level": alpha,
                "Workers": names[workers],
            }
            found = {"Found, first run": int(base.iloc[0]), "Found, second": int(here["significant"])}
            share = {
                "Identical (%)": 100 * here["identical"],
                "By chance (%)": 100 * here["chance"],
                "Kappa": here["kappa"],
            }
            apart = {"Contradictions": int(here["contradiction"]), "Power mismatches": int(here["power_mismatch"])}
            out.append(head | found | share | apart)
    return pd.DataFrame(out)


def by_rule(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows that rest on the rule, not on a list, and on z over all ratings."""
    for column, allowed in (("list", ()), ("standardised", ("all",))):
        if column in rows:
            rows = rows[rows[column].isna() | rows[column].isin(allowed)]
    return rows


def number_table(results: pd.DataFrame) -> pd.DataFrame:
    """Workers, dialogues, and minutes a dialogue with their interval, for all, passed and failed of each run."""
    rows = by_rule(results)
    count = rows[
        rows["statistic"].eq("qc_count") & rows["what"].isin(["workers", "dialogues"]) & rows["threshold"].isna()
    ]
    if count.empty:
        return pd.DataFrame()
    wide = count.pivot_table(index=["corpus", "workers"], columns="what", values="estimate", sort=False).astype("Int64")
    time = rows[rows["statistic"] == "minutes_per_dialogue"].set_index(["corpus", "workers"])
    wide["minutes"] = tables.intervals(time) if len(time) else None
    rate = rows[rows["statistic"] == "pass_rate"].pivot_table(index="corpus", columns="of", values="estimate") * 100
    for of in ("workers", "dialogues"):
        wide[f"{of} passed (%)"] = [rate[of].get(c) if w == "passed" else None for c, w in wide.index]
    names = {"corpus": "Run", "workers": "Of"}
    wide.columns = [c.capitalize() for c in wide.columns]
    return wide.reset_index().rename(columns=names)


def run_table(results: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Difference of every system's overall mean to the first run, standardised and raw."""
    rows = results[results["statistic"] == "run_difference"]
    if rows.empty:
        return pd.DataFrame()
    text = rows.assign(text=[interval(*r) for r in rows[["estimate", "ci_low", "ci_high"]].itertuples(index=False)])
    wide = text.pivot_table(index=["corpus", "system"], columns="scores", values="text", aggfunc="first", sort=False)
    wide = wide.reset_index().assign(system=lambda f: [look.name("system", s) for s in f["system"]])
    return wide.rename(columns={"corpus": "Run", "system": "System", "raw": "Raw", "z": "z"}).rename_axis(columns=None)


def opinion_table(results: pd.DataFrame) -> pd.DataFrame:
    """Share of each opinion on the topic, in percent."""
    rows = by_rule(results[results["statistic"] == "opinion_share"])
    if rows.empty:
        return pd.DataFrame()
    wide = rows.pivot_table(index=["corpus", "workers"], columns="opinion", values="estimate", sort=False) * 100
    out = wide.reset_index().rename(columns={"corpus": "Run", "workers": "Of"})
    return out.rename(columns={c: c.capitalize() for c in wide.columns}).rename_axis(columns=None)


def length_table(results: pd.DataFrame) -> pd.DataFrame:
    """Median words and characters of inputs and conversations."""
    rows = by_rule(results[results["statistic"] == "median_length"])
    rows = rows.assign(what=rows["unit"].str.capitalize() + ", " + rows["of"])
    wide = rows.pivot_table(index=["corpus", "workers"], columns="what", values="estimate", sort=False).reset_index()
    return wide.rename(columns={"corpus": "Run", "workers": "Of"}).rename_axis(columns=None)


def criteria_table(results: pd.DataFrame, corpus: str, look: Look, method: str) -> pd.DataFrame:
    """Correlation of labels over systems, raw means: Pearson above the diagonal, Spearman below."""
    rows = results[(results["statistic"] == "criteria_correlation") & (results["corpus"] == corpus)]
    if rows.empty:
        return pd.DataFrame()
    rows = rows[rows["scores"] == "raw"]
    order = list(dict.fromkeys(rows["label"]))
    name = {label: "Overall" if label == OVERALL else look.name("label", label, method) for label in order}
    wide = {
        c: part.pivot_table(index="label", columns="label_b", values="estimate", dropna=False).reindex(
            index=order, columns=order
        )
        for c, part in rows.groupby("coefficient")
    }
    out = pd.DataFrame(index=order, columns=order, dtype=float)
    for i, a in enumerate(order):
        for j, b in enumerate(order):
            out.loc[a, b] = wide["pearson" if j > i else "spearman"].loc[a, b] if i != j else None
    return out.rename(index=name, columns=name).rename_axis("Label").reset_index()


def differing(cells: pd.DataFrame) -> pd.DataFrame:
    """Printed cells that neither the rule nor a fitted list gives, and why: a row a place and reason."""
    rows = cells[cells["verdict"] == "differs"]
    places = [int(d) + 1 if d or v % 1 else 0 for d, v in zip(rows["decimals"], rows["here"], strict=True)]
    told = [
        f"{cell.row}, {cell.column}: {cell.printed} ({number(cell.here, decimals)})"
        for cell, decimals in zip(rows.itertuples(), places, strict=True)
    ]
    rows = rows.assign(told=told, place=rows["element"] + ", " + rows["panel"])
    out = rows.groupby(["place", "note"], sort=False)["told"].agg("; ".join).reset_index()
    out["note"] = out["note"].replace("", None)
    return out[["place", "told", "note"]].rename(columns={"place": "Place", "told": "Printed (here)", "note": "Why"})
