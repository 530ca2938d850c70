"""What notebook 13 shows and says of judges, made from its result rows. Sentences speak from intervals with dialogues
resampled, and hold a model against what changes when one person takes the place of another."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from helpers import tables
from helpers.figure import PAGE, handle, subplots
from helpers.judges import SECOND
from helpers.look import COLORS, Look
from helpers.tables import interval, number

#: keys of the condition that tables and sentences select by
KEYS = ("against", "pair", "raters", "by", "verdict", "test", "cost")
CASE = ["corpus", "method", "label", "metric"]
LABEL = CASE[:3]


def titles(study_groups: Mapping, annotations: pd.DataFrame) -> dict[str, str]:
    """Display name of each model: that of the YAML's group that holds it alone, else its id."""
    models = annotations.loc[annotations["annotator_kind"] != "human", "annotator"].unique()
    alone = {g.annotators[0]: g.title for g in study_groups.values() if len(g.annotators) == 1 and g.title}
    return {model: alone.get(model, model) for model in sorted(models)}


def detection(rows: pd.DataFrame, look: Look, names: Mapping[str, str]) -> pd.DataFrame:
    """Precision, recall, F1 and negative agreement of each label and model, and what two people reach."""
    found = rows[rows["against"].eq("people")]
    if found.empty:
        return pd.DataFrame()
    out = found.drop_duplicates(CASE)[CASE].set_index(CASE)
    headings = {"precision": "Precision", "recall": "Recall", "positive_agreement": "F1"}
    for statistic, title in headings.items():
        out[title] = tables.intervals(found[found["statistic"] == statistic].set_index(CASE))
    out["Negative"] = found[found["statistic"] == "negative_agreement"].set_index(CASE)["estimate"]
    people = rows[rows["against"].eq("each other") & rows["statistic"].eq("positive_agreement")].set_index(LABEL)
    text = tables.intervals(people)
    out = out.reset_index()
    out["F1 of two people"] = [text.get(key) for key in out[LABEL].itertuples(index=False, name=None)]
    return _named(out, look, names)


def agreement(rows: pd.DataFrame, look: Look, names: Mapping[str, str]) -> pd.DataFrame:
    """Alpha of the model with each person, among people, and the difference."""
    found = rows[rows["statistic"] == "judge_alpha"]
    out = found.drop_duplicates(CASE)[CASE].set_index(CASE)
    people = [p for p in dict.fromkeys(found["pair"]) if p not in ("people", "mean", "difference")]
    for pair in people:
        out[f"With {pair}"] = found[found["pair"] == pair].set_index(CASE)["estimate"]
    headings = {"mean": "Mean with people", "people": "Among people", "difference": "Difference"}
    for pair, title in headings.items():
        out[title] = tables.intervals(found[found["pair"] == pair].set_index(CASE))
    return _named(out.reset_index(), look, names)


def consequences(rows: pd.DataFrame, look: Look, names: Mapping[str, str]) -> pd.DataFrame:
    """What becomes of rates and order: mean absolute change of rates and of differences, by the model and by another
    person; Kendall's tau; pairs of systems by what people and model conclude."""
    changes = rows[rows["statistic"].isin(["rate_change", "contrast_change"])]
    size = changes.assign(size=changes["estimate"].abs()).groupby([*CASE, "statistic", "by"], sort=False)["size"].mean()
    size = size.unstack(["statistic", "by"])  # noqa: PD010
    out = pd.DataFrame(index=size.index)
    for statistic, title in (("rate_change", "Rates move by"), ("contrast_change", "Differences move by")):
        if (statistic, "model") in size:
            out[title] = size[statistic, "model"]
            out[f"{title} (other person)"] = size[statistic, SECOND]
    tau = rows[rows["statistic"] == "judge_rank_correlation"].set_index(CASE)["estimate"]
    out["Tau"] = tau.reindex(out.index)
    counts = rows[rows["statistic"] == "judge_conclusions"]
    for verdict in ("same", "opposite", "people only", "model only"):
        part = counts[counts["verdict"] == verdict].set_index(CASE)["estimate"]
        if len(part):
            out[verdict.capitalize()] = part.reindex(out.index).astype("Int64")
    return _named(out.reset_index(), look, names)


def _named(frame: pd.DataFrame, look: Look, names: Mapping[str, str]) -> pd.DataFrame:
    shown = look.named(look.sort(frame))
    place = shown.columns.get_loc("metric")
    shown.insert(place, "Model", [names[m] for m in shown["metric"]])
    return shown.drop(columns="metric")


def alpha_figure(rows: pd.DataFrame, look: Look, names: Mapping[str, str]) -> Figure:
    """Alpha among people and of each model with people, one row a label, with intervals."""
    found = rows[rows["statistic"].eq("judge_alpha") & rows["pair"].isin(["people", "mean"])]
    labels = look.sort(found.drop_duplicates(LABEL))[LABEL].to_numpy().tolist()
    kinds = [("people", None), *(("mean", model) for model in names)]
    colors = {None: "#555555"} | {model: COLORS[i % len(COLORS)] for i, model in enumerate(names)}
    fig, ax = subplots(width=5.6, height=0.2 * len(labels) * len(kinds) + 0.9)
    for i, key in enumerate(labels):
        here = found[(found[LABEL] == key).all(axis=1)]
        for j, (pair, model) in enumerate(kinds):
            part = here[here["pair"].eq(pair) & (here["metric"].eq(model) if model else True)].head(1)
            for row in part.itertuples():
                y = i * (len(kinds) + 0.8) + j
                ax.plot([row.ci_low, row.ci_high], [y, y], color=colors[model], linewidth=1.5)
                ax.plot(row.estimate, y, "s" if model is None else "o", color=colors[model], markersize=4)
    ax.axvline(0, color="#BBBBBB", linewidth=0.8, zorder=0)
    middle = (len(kinds) - 1) / 2
    step = len(kinds) + 0.8
    ax.set_yticks([i * step + middle for i in range(len(labels))], [look.name("label", k[2], k[1]) for k in labels])
    ax.set(xlabel="Alpha", ylim=(len(labels) * step - 0.9, -0.9))
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    keys = [handle("people among each other", "#555555", "s")]
    keys += [handle(f"{title} with a person", colors[m], "o") for m, title in names.items()]
    fig.legend(handles=keys, loc="outside upper left", ncols=2)
    return fig


def change_figure(rows: pd.DataFrame, look: Look, names: Mapping[str, str]) -> Figure:
    """Change of each system's rate when another judges: one panel for another person and one for each model, one row a
    label, a mark a system with its interval."""
    found = rows[rows["statistic"] == "rate_change"]
    labels = look.sort(found.drop_duplicates(LABEL))[LABEL].to_numpy().tolist()
    systems = sorted(found["system"].unique(), key=lambda s: look.position("system", s))
    panels = [(SECOND.capitalize(), found[found["by"] == SECOND].drop_duplicates([*LABEL, "system"]))]
    panels += [(title, found[found["by"].eq("model") & found["metric"].eq(m)]) for m, title in names.items()]
    height = 0.12 * len(labels) * max(len(systems), 3) + 0.9
    fig, axes = subplots(1, len(panels), width=PAGE, height=height, sharey=True, sharex=True, squeeze=False)
    step = len(systems) + 0.8
    for ax, (title, part) in zip(axes[0], panels, strict=True):
        for row in part.itertuples():
            y = labels.index([row.corpus, row.method, row.label]) * step + systems.index(row.system)
            color = look.color("system", row.system)
            ax.plot([row.ci_low, row.ci_high], [y, y], color=color, linewidth=1.2)
            ax.plot(row.estimate, y, look.marker("system", row.system), color=color, markersize=3)
        ax.axvline(0, color="#999999", linewidth=0.8, zorder=0)
        ax.set(title=title, xlabel="Change of rate")
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x")
    middle = (len(systems) - 1) / 2
    shown = [look.name("label", k[2], k[1]) for k in labels]
    axes[0, 0].set_yticks([i * step + middle for i in range(len(labels))], shown)
    axes[0, 0].set_ylim(len(labels) * step - 0.9, -0.9)
    keys = [handle(look.name("system", s), look.color("system", s), look.marker("system", s)) for s in systems]
    fig.legend(handles=keys, loc="outside upper left", ncols=5)
    return fig


def verdicts(rows: pd.DataFrame, look: Look, names: Mapping[str, str]) -> str:
    """One paragraph a model: agreement against that of people, rates, order."""
    return "\n".join(f"- **{tables.plain(title)}**: {_verdict(rows, model, look)}" for model, title in names.items())


def _verdict(rows: pd.DataFrame, model: str, look: Look) -> str:
    mine = rows[rows["metric"] == model]
    gap = mine[mine["statistic"].eq("judge_alpha") & mine["pair"].eq("difference")].dropna(subset="ci_low")
    if gap.empty:
        return "no label has enough marks for an interval of its agreement with people."
    worse, better = int((gap["ci_high"] < 0).sum()), int((gap["ci_low"] > 0).sum())
    best = gap.loc[gap["estimate"].idxmax()]
    text = (
        f"agrees with a person less well than people do on {worse} of {len(gap)} labels, better on {better}; it comes"
    )
    text += (
        f" closest on *{tables.plain(look.name('label', best['label'], best['method']))}* (alpha less that of people"
    )
    text += f" {interval(best['estimate'], best['ci_low'], best['ci_high'])})."
    change = mine[mine["statistic"] == "rate_change"]
    moved = {by: change[change["by"] == by] for by in ("model", SECOND)}
    beyond = {by: int(((f["ci_low"] > 0) | (f["ci_high"] < 0)).sum()) for by, f in moved.items()}
    mean = {by: number(float(f["estimate"].abs().mean()), 3) for by, f in moved.items()}
    text += f" In its hands {beyond['model']} of {len(moved['model'])} rates of a system and label move beyond chance,"
    text += (
        f" with another person {beyond[SECOND]}; all of them move by {mean['model']} on average, with another person"
    )
    text += f" by {mean[SECOND]}."
    counts = mine[mine["statistic"] == "judge_conclusions"].groupby("verdict")["estimate"].sum()
    if len(counts):
        text += f" Of {int(counts.sum())} pairs of systems and labels it repeats {int(counts['same'])} of the"
        text += f" {int(counts[['same', 'opposite', 'people only']].sum())} differences that people find, turns"
        text += f" {int(counts['opposite'])} around, and finds {int(counts['model only'])} that people do not."
    return text


def replaceable(rows: pd.DataFrame, names: Mapping[str, str], cost: float) -> str:
    """The alternative annotator test: how many labels each model wins, or why it does not apply."""
    found = rows[rows["statistic"] == "winning_rate"]
    lines = []
    for model, title in names.items():
        mine = found[found["metric"] == model]
        done = mine.dropna(subset="estimate")
        if len(done):
            over = {test: done[done["test"] == test]["estimate"] for test in ("items", "dialogues")}
            won = {test: int((rate >= 0.5).sum()) for test, rate in over.items()}
            lines.append(
                f"- **{tables.plain(title)}** may replace annotators on {won['items']} of {len(over['items'])} labels"
                f" as published, on {won['dialogues']} with whole dialogues as units (it may be worse by {cost:g})."
            )
        for reason in dict.fromkeys(mine.loc[mine["estimate"].isna(), "note"]):
            n = int((mine["note"] == reason).sum())
            lines.append(f"- **{tables.plain(title)}**, {n} labels: the test does not apply. {tables.plain(reason)}")
    return "\n".join(lines)


def answer(rows: pd.DataFrame, names: Mapping[str, str]) -> str:
    """The last sentence: is there a label on which a model could replace a person?"""
    gap = rows[rows["statistic"].eq("judge_alpha") & rows["pair"].eq("difference")].dropna(subset="ci_low")
    fine = gap[gap["ci_high"] >= 0]
    if gap.empty:
        return "The marks are too few to say whether a model could replace a person."
    if fine.empty:
        return (
            "On no label is a model's agreement with people as good as that of people with each other: none of these"
            " models can take a person's place unseen."
        )
    named = tables.listing(
        f"{names[m]}, {label.replace('_', ' ')}" for m, label in zip(fine["metric"], fine["label"], strict=True)
    )
    return (
        f"Agreement is not shown to be worse than that of people for: {named}. Not shown to be worse is not shown to be"
        " as good; the intervals say how much worse it could be."
    )
