"""What notebook 01 shows and says, made from the result rows of `pilot` and `screening`."""

from __future__ import annotations

import pandas as pd

from helpers import tables
from helpers.look import Look
from helpers.screening import ALL_TASKS
from helpers.views.performance_tables import by

#: the rate that is drawn and told: by the rule, of all who tried, in any attempt
SHOWN = {"by": "rule", "of": "tried", "tries": "any"}
SCREENED = "passed the training"


def _kind(rows: pd.DataFrame, interval: str) -> pd.DataFrame:
    return rows[(rows["statistic"] == "mean") & (by(rows, "interval") == interval)]


def bot_rows(results: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Mean ratings of systems, best first, as `grid_plots.grid_figure` wants them: people left out one at a time thick,
    dialogues as independent thin."""
    means = _kind(results, "independent").sort_values("estimate", ascending=False, kind="stable")
    keys = ["group", "system"]
    ends = means.set_index(keys)[["ci_low", "ci_high"]].set_axis(["light_low", "light_high"], axis=1)
    thick = _kind(results, "annotator").set_index(keys).loc[ends.index].reset_index().join(ends, on=keys)
    several = len(set(thick["group"])) > 1
    return thick.assign(
        panel=[look.name("group", g) if several else "" for g in thick["group"]],
        block=[look.name("system", s) for s in thick["system"]],
        hue="mean rating",
    )


def bot_table(results: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Table 1 of Finch et al. 2023: dialogues, people, mean rating with both intervals, and whether a system passes."""
    keys = ["group", "system"]
    means = _kind(results, "independent").sort_values("estimate", ascending=False, kind="stable").set_index(keys)
    people = _kind(results, "annotator").set_index(keys)
    out = pd.DataFrame({"Mean, dialogues independent": tables.intervals(means)})
    out["People left out"] = tables.intervals(people).reindex(out.index)
    for what in ("dialogues", "annotators"):
        rows = results[(results["statistic"] == "count") & (by(results, "what") == what)]
        out.insert(0, what.capitalize(), rows.set_index(keys)["estimate"].astype(int))
    passed = results[results["statistic"] == "pilot_passed"].set_index(keys)["estimate"]
    out["Passes"] = passed.map({1.0: "yes", 0.0: "no"})
    return look.named(out.reset_index())


def of_bots(results: pd.DataFrame, look: Look, least: float) -> str:
    """Which systems pass, and which of them, or of the others, not beyond doubt."""
    means = _kind(results, "independent").sort_values("estimate", ascending=False, kind="stable")
    sides = {"pass": means[means["estimate"] >= least], "do not": means[means["estimate"] < least]}
    said = [
        f"{tables.listing(look.name('system', s) for s in rows['system'])} {verb if len(rows) > 1 else _singular(verb)}"
        for verb, rows in sides.items()
        if len(rows)
    ]
    text = f"With a mean of at least {least:g}, {'; '.join(said)}."
    people = _kind(results, "annotator")
    near = people[(people["ci_low"] < least) & (people["ci_high"] > least)]
    if len(near):
        names = tables.listing(look.name("system", s) for s in near["system"])
        text += f" When people are left out one at a time, the interval of {names} holds {least:g}:"
        text += " other students might have decided otherwise."
    without = people[people["ci_low"].isna()]
    if len(without):
        text += f" Of {tables.listing(look.name('system', s) for s in without['system'])} no interval can be given."
    return text


def _singular(verb: str) -> str:
    return {"pass": "passes", "do not": "does not"}[verb]


def agreement_rows(results: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Alpha of each pilot as `grid_plots.grid_figure` wants it: dialogues left out thick, turns and labels thin."""
    rows = results[results["statistic"] == "alpha"].assign(
        resample=lambda f: by(f, "resample"), scope=lambda f: by(f, "scope")
    )
    keys = ["corpus", "group", "method", "scope"]
    rows["scope"] = rows["scope"].fillna("")
    ends = rows[rows["resample"] == "item"].set_index(keys)[["ci_low", "ci_high"]]
    ends = ends.set_axis(["light_low", "light_high"], axis=1)
    out = rows[rows["resample"] == "dialogue"].join(ends, on=keys)
    number = out["corpus"].str.extract(r"(\d+)$")[0]
    several = len(set(out["method"])) > 1
    who = [_who(g, s, look) for g, s in zip(out["group"], out["scope"], strict=True)]
    panel = [look.name("method", m) if several else "" for m in out["method"]]
    return out.assign(panel=panel, block="Pilot " + number, hue=who)


def _who(group: str, scope: str | None, look: Look) -> str:
    name = "all annotators" if group == "all" else look.name("group", group)
    return f"{name}, {SCREENED}" if scope == "screened" else name


def agreement_table(results: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Table 8 of Finch et al. 2023, with three intervals of alpha."""
    rows = results[results["statistic"].isin(["alpha", "count"])]
    rows = rows.assign(scope=by(rows, "scope").fillna(""), resample=by(rows, "resample"), what=by(rows, "what"))
    keys = ["corpus", "group", "method", "scope"]
    alpha = rows[rows["statistic"] == "alpha"]
    out = alpha[alpha["resample"] == "dialogue"].set_index(keys)[["n", "estimate"]].astype({"n": int})
    for what in ("labels", "annotators", "dialogues"):
        out.insert(0, what.capitalize(), rows[rows["what"] == what].set_index(keys)["estimate"].astype(int))
    heads = {"dialogue": "Dialogues left out", "annotator": "People left out", "item": "Turns and labels"}
    for unit, head in heads.items():
        own = alpha[alpha["resample"] == unit].set_index(keys).reindex(out.index)
        ends = zip(own["ci_low"], own["ci_high"], strict=True)
        out[head] = [f"{tables.number(lo)} to {tables.number(hi)}" if pd.notna(lo) else None for lo, hi in ends]
    out = out.reset_index().rename(columns={"n": "Items", "estimate": "Alpha"})
    out.insert(0, "Pilot", out["corpus"].str.extract(r"(\d+)$")[0])
    out.insert(1, "Annotators are", [_who(g, s, look) for g, s in zip(out["group"], out["scope"], strict=True)])
    if len(set(out["method"])) > 1:
        out.insert(1, "Method", [look.name("method", m) for m in out["method"]])
    return out.drop(columns=keys)


def of_agreement(results: pd.DataFrame, gains: pd.DataFrame, look: Look) -> str:
    """How alpha differs between pilots and by screening, and whether more than by chance."""
    rows = pd.concat([results[results["statistic"] == "alpha_gain"], gains]) if len(gains) else results
    rows = rows[rows["statistic"] == "alpha_gain"]
    lines = []
    for row in rows.assign(scope=by(rows, "scope"), against=by(rows, "against")).itertuples():
        number = row.corpus.rsplit("_", 1)[1]
        if row.scope == "screened":
            what = f"Pilot {number}, {SCREENED} less everybody, on the same turns and labels"
        else:
            what = f"Pilot {number} less pilot {row.against.rsplit('_', 1)[1]}, {_who(row.group, None, look)}"
        value = tables.interval(row.estimate, row.ci_low, row.ci_high)
        if pd.isna(row.ci_low):
            lines.append(f"- {tables.plain(what)}: {value}; {row.note}, so that chance cannot be told apart")
        else:
            sure = row.ci_low > 0 or row.ci_high < 0
            lines.append(f"- {tables.plain(what)}: {value}{'' if sure else ', which chance can explain'}")
    return "\n".join(["Differences of alpha, dialogues left out one at a time:", "", *lines]) if lines else ""


def _shown(results: pd.DataFrame) -> pd.DataFrame:
    keys = {k: by(results, k) for k in ("task", *SHOWN)}
    here = pd.Series(True, index=results.index)
    for key, value in SHOWN.items():
        here &= keys[key] == value
    return results.assign(task=keys["task"])[here]


def task_name(task: str) -> str:
    """`personal_information` as a reader sees it."""
    return "All tasks" if task == ALL_TASKS else task.replace("_", " ").capitalize()


def screening_rows(results: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Pass rates as `grid_plots.grid_figure` wants them: a block a task, a hue a workforce, all tasks last."""
    rows = _shown(results)
    order = {g: look.position("group", g) for g in rows["group"].unique()}
    tasks = [t for t in dict.fromkeys(rows["task"]) if t != ALL_TASKS] + [ALL_TASKS]
    rows = rows.assign(place=rows["task"].map(tasks.index), who=rows["group"].map(order)).sort_values(["place", "who"])
    return rows.assign(panel="", block=rows["task"].map(task_name), hue=[look.name("group", g) for g in rows["group"]])


def screening_table(results: pd.DataFrame, look: Look) -> pd.DataFrame:
    """Percent that passed, by task and workforce, by each way of counting over all tasks."""
    rows = results.assign(**{k: by(results, k) for k in ("task", *SHOWN)})
    rows = rows.assign(text=[f"{tables.interval(100 * e, 100 * lo, 100 * hi, 0)}" for e, lo, hi in _ends(rows)])
    shown = _shown(rows)
    wide = shown.set_index(["task", "group"])["text"].unstack("group")  # noqa: PD010 (twice must raise)
    wide = wide.reindex(list(dict.fromkeys(screening_rows(results, look)["task"])))
    wide.index = [task_name(t) for t in wide.index]
    others = {("rule", "tried", "first"): "at the first try", ("rule", "finished", "any"): "of those who finished"}
    others[("platform", "tried", "any")] = "as the platform recorded"
    every = rows[rows["task"] == ALL_TASKS]
    for (how, of, tries), name in others.items():
        own = every[(every["by"] == how) & (every["of"] == of) & (every["tries"] == tries)]
        wide.loc[f"All tasks, {name}"] = own.set_index("group")["text"]
    people = shown[shown["task"] == ALL_TASKS].set_index("group")["n_annotators"]
    wide.loc["People"] = people.astype(int).astype(str)
    groups = sorted(wide.columns, key=lambda g: look.position("group", g))
    wide = wide[groups].rename(columns=lambda g: look.name("group", g)).rename_axis(columns=None)
    return wide.rename_axis("Task").reset_index()


def _ends(rows: pd.DataFrame):
    return rows[["estimate", "ci_low", "ci_high"]].itertuples(index=False, name=None)


def of_screening(results: pd.DataFrame, look: Look) -> str:
    """How many of each workforce pass, on which task fewest."""
    rows, lines = _shown(results), []
    for group, own in rows.groupby("group", sort=False):
        every, tasks = own[own["task"] == ALL_TASKS].iloc[0], own[own["task"] != ALL_TASKS]
        low = tasks.loc[tasks["estimate"].idxmin()]
        share = tables.interval(*(100 * every[c] for c in ("estimate", "ci_low", "ci_high")), 0)
        who = f"{every['n_annotators']:.0f} people"
        text = f"- {tables.plain(look.name('group', group))}: {share} % of the tasks that {who} tried"
        lines.append(f"{text}; fewest in {task_name(low['task']).lower()} ({100 * low['estimate']:.0f} %)")
    return "\n".join(["Passed by the rule, people resampled:", "", *lines])
