"""Tables of notebook 10."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd

from judgebook.display import cells, tables
from judgebook.display.names import DisplayNames
from judgebook.display.views import Table
from judgebook.questions.quality_control.crowd import Crowd
from judgebook.questions.quality_control.worker_tests import OVERALL
from judgebook.study.results import Results, where

SETS = {"all": "No quality control", "passed": "Passed", "failed": "Failed", "once": "Passed, in one run"}
SCORES = {"z": "Standardised", "raw": "Raw"}
AMONG = {"systems": "{n} systems", "families": "{n} architectures", "variants": "Effect of {variant}, {n} pairs"}
#: what identifies a correlation between two given runs
CORRELATION = ["among", "scores", "workers"]
UNDEFINED = "Not defined: too few points, or one side is constant."


def repeat_rows(results: Results, corpus: str) -> pd.DataFrame:
    """r of overall means by rule, with either interval: `interval` workers and fisher."""
    rows = results.select("replication_r", corpus=corpus, label=OVERALL, interval=["workers", "fisher"], list=None)
    return rows[rows["standardised"].isna() | (rows["standardised"] == "all")]


def headings(rows: pd.DataFrame, crowd: Crowd) -> dict[str, str]:
    """What is correlated -> its heading with the number of points, in the order of figures."""
    n = rows.groupby("among")["n"].max()
    return {a: text.format(n=n[a], variant=crowd.options.variant) for a, text in AMONG.items() if a in n}


def repeat(results: Results, crowd: Crowd) -> Iterator[Table]:
    """r with both intervals, the bias of resampling, and r of as many random workers."""
    for i, corpus in enumerate(crowd.corpora[1:]):
        every = repeat_rows(results, corpus)
        rows = where(every, interval="workers").set_index(CORRELATION)
        random = results.select("replication_r", corpus=corpus, against=crowd.corpora[0], interval="random sets")
        random = random.assign(workers=random["workers"].str.removeprefix("random as ")).set_index(CORRELATION)
        bias = results.select("replication_bias", corpus=corpus, label=OVERALL).set_index(CORRELATION)["estimate"]
        fisher = where(every, interval="fisher").set_index(CORRELATION)
        titles = headings(every, crowd)
        out = pd.DataFrame(
            {
                "Correlated": [titles[a] for a, _, _ in rows.index],
                "Scores": [SCORES[s] for _, s, _ in rows.index],
                "Workers": [SETS[w] for _, _, w in rows.index],
                "r, other workers": tables.intervals(rows, 3),
                "Bias": bias,
                "CI, other systems": cells.ranges(fisher[["ci_low", "ci_high"]], 3, brackets=True),
                "As many at random": tables.intervals(random, 3),
            },
            index=rows.index,
        )
        caption = f"Correlation between {crowd.title(crowd.corpora[0])} and {crowd.title(corpus)}: r with its CI for"
        caption += " other workers (resampling bias removed), Fisher's CI for other systems, and median and"
        caption += " range for equally many workers drawn at random."
        why = {"As many at random": "Drawn for systems only, with as many workers as passed and as failed."}
        why |= dict.fromkeys(("r, other workers", "Bias", "CI, other systems"), UNDEFINED)
        yield Table(out, f"repeat_{i}", caption, 3, why)


def gain(results: Results, crowd: Crowd) -> Table | None:
    """What quality control buys, for every pair of runs: r with it, without it, and of as many random workers."""
    key, gains = ["corpus", "against", "scores"], results["replication_gain"]
    if gains.empty:
        return None
    rows = gains.set_index(key)
    share = results.select("replication_share", workers="passed").set_index(key).reindex(rows.index)
    r = results.select("replication_r", interval="point").set_index([*key, "workers"])["estimate"]
    random = results.select("replication_r", interval="random sets", workers="random as passed").set_index(key)
    out = pd.DataFrame({"Runs": [f"{crowd.title(a)}, {crowd.title(b)}" for b, a, _ in rows.index]}, index=rows.index)
    out["Scores"] = [SCORES[scores] for *_, scores in rows.index]
    for workers in ("passed", "all"):
        out[f"r, {SETS[workers].lower()}"] = [r.get((*place, workers)) for place in rows.index]
    out["Gain"] = tables.intervals(rows, 3)
    out["As many at random"] = tables.intervals(random.reindex(rows.index), 3)
    out["At least that of passed"] = cells.percents(share["estimate"], 1)
    out["p, adjusted"] = cells.p_values(share["p_adjusted"])
    caption = "What quality control buys. Gain: r of the workers who passed minus r of all, with its CI over workers,"
    caption += " not adjusted. As many at random: median and range of r of random sets of as many workers as passed. At"
    caption += " least that of passed: the share of these sets with at least the r of those who passed; its p-value is"
    caption += " adjusted for all pairs of runs and kinds of scores (Holm)."
    return Table(out, "gain", caption, 3, dict.fromkeys(out, UNDEFINED))


def label_titles(names: DisplayNames, crowd: Crowd) -> dict[str, str]:
    """Labels of the crowd's ratings -> display names."""
    by_label = crowd.scores.drop_duplicates("label")
    titles = {r.label: names.name("label", r.label, r.method) for r in by_label.itertuples()}
    return {OVERALL: "Overall"} | titles


def overall_first(labels: Iterable[str], names: DisplayNames) -> list[str]:
    """The overall mean, then the labels in the order of the YAML."""
    place = {label: i for i, (_, label) in enumerate(names.labels)}
    return sorted(labels, key=lambda label: (label != OVERALL, place.get(label, len(place))))


def numbers(results: Results, crowd: Crowd) -> Table | None:
    """Workers, dialogues, and minutes per dialogue, for all, passed and failed of each run."""
    count = results.select("qc_count", what=["workers", "dialogues"], list=None, threshold=None)
    if count.empty:
        return None
    key = ["corpus", "workers"]
    out = tables.pivot(count, key, "what", {"workers": "Workers", "dialogues": "Dialogues"}).set_index(key)
    for of in ("workers", "dialogues"):
        rate = results.select("pass_rate", of=of, list=None).assign(workers="passed").set_index(key)
        out[f"{of.capitalize()} passed"] = cells.percents(rate["estimate"], 1)
    time = results.select("minutes_per_dialogue", list=None)
    out["Minutes per dialogue"] = tables.intervals(time.set_index(key), 1)
    caption = "Before and after quality control; CI of minutes over workers. “All” includes workers without answers."
    why = {"Minutes per dialogue": "Not timed, or no worker."}
    why |= dict.fromkeys(("Workers passed", "Dialogues passed"), "Only for workers who passed.")
    return Table(_by_run(out.reset_index(), crowd), "numbers", caption, 1, why)


def _by_run(frame: pd.DataFrame, crowd: Crowd) -> pd.DataFrame:
    """Corpora and sets of workers as readers know them."""
    frame = frame.assign(corpus=frame["corpus"].map(crowd.title))
    if "workers" in frame:
        frame["workers"] = frame["workers"].replace(SETS | {"all": "All"})
    return frame.rename(columns={"corpus": "Run", "workers": "Of"}).rename_axis(columns=None)


def scores(results: Results, names: DisplayNames, crowd: Crowd) -> Iterator[Table]:
    """Overall means of the workers who passed, with intervals: a row per system, best first."""
    every = {"mean_z": ("Standardised", 3), "mean_raw": ("Raw", 1)}
    for i, corpus in enumerate(crowd.corpora):
        parts = {s: results.select(s, corpus=corpus, interval="workers", label=OVERALL) for s in every}
        parts = {s: rows.set_index("system").sort_values("estimate", ascending=False) for s, rows in parts.items()}
        out = pd.DataFrame({"Dialogues": parts["mean_z"]["n"]})
        for statistic, (what, decimals) in every.items():
            out[what] = tables.intervals(parts[statistic], decimals)
        out.insert(0, "System", [names.name("system", s) for s in out.index])
        caption = f"Overall scores in {crowd.title(corpus)}, workers who passed; CIs over workers."
        if len(out):
            yield Table(out, f"scores_{i}", caption)


def concordance(results: Results, crowd: Crowd) -> Iterator[Table]:
    """Agreement of conclusions by t tests over workers with those of the first run, by set of workers and level."""
    key = ["workers", "alpha"]
    rows = results.select("concordance", test="wald")
    first = where(rows, corpus=crowd.corpora[0], of="significant").set_index(key)["estimate"].astype("Int64")
    shown = {"significant": "Significant, this run", "identical": "Identical", "chance": "By chance", "kappa": "Kappa"}
    shown |= {"contradiction": "Contradictions", "power_mismatch": "Power mismatches"}
    for i, corpus in enumerate(crowd.corpora[1:] if len(rows) else ()):
        wide = tables.pivot(where(rows, corpus=corpus), key, "of", shown).set_index(key)
        wide.insert(0, "Significant, first run", first)
        for share in ("Identical", "By chance"):
            wide[share] = cells.percents(wide[share], 1)
        wide = wide.reset_index().assign(workers=lambda f: f["workers"].map(SETS))
        wide["alpha"] = wide["alpha"].map("{:g}".format)
        caption = f"Conclusions about pairs of systems in {crowd.title(crowd.corpora[0])} and {crowd.title(corpus)},"
        caption += " by t tests over workers."
        caption += " Contradiction: significant in both, with opposite signs. Power mismatch: significant in one only."
        caption += " By chance: conclusions permuted within each run."
        wide = wide.rename(columns={"workers": "Workers", "alpha": "Level"})
        yield Table(wide, f"conclusions_{i}", caption, why={"Kappa": "All conclusions are the same."})


def signal(results: Results, crowd: Crowd) -> Table | None:
    """Spread of system means in standard errors, by run and kind of score, with quality control and without."""
    keys = ["corpus", "scores", "workers"]
    spread, error = (results[s].set_index(keys)["estimate"] for s in ("spread", "standard_error"))
    ratio = (spread / error.where(error > 0)).unstack("workers")  # noqa: PD010
    if not {"passed", "all"} <= set(ratio):
        return None
    ratio = ratio[["passed", "all"]].dropna().reindex(SCORES, level="scores").reindex(crowd.corpora, level="corpus")
    out = (
        ratio.reset_index()
        .replace({"scores": SCORES})
        .rename(columns={"scores": "Scores", "passed": "With quality control", "all": "Without"})
    )
    caption = "Signal to noise: the standard deviation of the means of systems in units of their standard error."
    return Table(_by_run(out, crowd), "signal", caption, 1)


def thresholds(results: Results, crowd: Crowd) -> Table:
    """r between the runs as the threshold changes."""
    rows = results["replication_r"].dropna(subset="threshold")
    wide = tables.pivot(rows, ["threshold"], "corpus", {c: crowd.title(c) for c in crowd.corpora[1:]})
    wide["threshold"] = wide["threshold"].map("{:g}".format)
    caption = f"Correlation of system means with {crowd.title(crowd.corpora[0])} for each threshold."
    return Table(wide.rename(columns={"threshold": "Threshold"}), "threshold", caption, 3)


def opinions(results: Results, crowd: Crowd) -> Table:
    """Share of each opinion on the topic."""
    rows = results.select("opinion_share", list=None)
    titles = {o: o.capitalize() for o in rows["opinion"].unique()}
    wide = tables.pivot(rows.assign(estimate=100 * rows["estimate"]), ["corpus", "workers"], "opinion", titles)
    return Table(_by_run(wide, crowd), "opinions", "Opinions of workers on the topic of a dialogue (%).", 1)


def lengths(results: Results, crowd: Crowd) -> Table:
    """Median words and characters of inputs and conversations."""
    rows = results.select("median_length", list=None)
    rows = rows.assign(what=rows["unit"].str.capitalize() + " per " + rows["of"])
    wide = tables.pivot(rows, ["corpus", "workers"], "what", {w: w for w in rows["what"].unique()})
    return Table(_by_run(wide, crowd), "lengths", "Median lengths; conversations: only what the person wrote.", 1)


def costs(results: Results, crowd: Crowd) -> Table:
    """What a run cost, and what it is divided by."""
    titles = {
        "run": "Total",
        "system": "Per system",
        "dialogue": "Per dialogue",
        "passed dialogue": "Per dialogue kept",
    }
    wide = tables.pivot(results["crowd_cost"].dropna(subset="corpus"), ["corpus"], "per", titles)
    caption = f"Payments in {crowd.options.currency}, excluding fees. Workers who failed were also paid."
    return Table(_by_run(wide, crowd), "cost", caption)
