"""How good are the systems? What notebook 07 computes from the annotations, as result rows.

As published (Finch et al. 2023, Figures 4 to 8): rates with Wilson's interval, means with Student's t, shares of
comparisons won and tied against all others, every score taken as independent. As we would defend it: the same with
whole dialogues resampled, ranks with intervals that hold for all systems at once, and by how much it matters whose
annotation of an item was picked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
import pandas as pd

from helpers import picks, ranking, rates, strengths
from helpers.labels import Label
from helpers.schema import condition, unordered
from helpers.scores import CELL, identities, numbered

#: what responses of several systems may share, the widest first
SHARED = ("session", "context")


def chosen(annotations: pd.DataFrame, unranked: Collection[str] = ()) -> pd.DataFrame:
    """The judgements that speak about systems, with a column `pair` that names the two dialogues compared.

    Where a group holds people and models, the models are left out. Comparisons of a system with itself, or with one
    that is not ranked (people, dummies), are left out: they say nothing about how ranked systems compare.

    Checked by hand.
    """
    human = annotations["annotator_kind"] == "human"
    with_people = human.groupby([annotations["corpus"], annotations["group"]]).transform("any")
    outside = annotations["system"].isin(list(unranked)) | annotations["system_b"].isin(list(unranked))
    pairwise = annotations["dialogue_b"].notna()
    useless = pairwise & (outside | (annotations["system"] == annotations["system_b"]))
    out, compared = annotations[(human | ~with_people) & ~useless], pairwise[(human | ~with_people) & ~useless]
    both = unordered(out[compared])
    return out.assign(pair=both["low"].astype(str) + " and " + both["high"].astype(str))


def interval_unit(annotations: pd.DataFrame) -> str:
    """What intervals of one system resample: the dialogue, or the session or context where a system has several
    dialogues in one (cuts of one chat, say), which then resemble each other.

    Checked by hand.
    """
    for column in SHARED:
        if annotations[column].notna().all():
            dialogues = annotations.drop_duplicates(["corpus", "system", "dialogue"])
            if dialogues.duplicated(["corpus", "system", column]).any():
                return column
    return "dialogue"


def ranking_unit(annotations: pd.DataFrame) -> str:
    """What comparisons between systems resample: the session or context that systems share, else the dialogue (for
    comparisons the pair).

    Checked by hand.
    """
    for column in SHARED:
        if len(annotations) and annotations[column].notna().all():
            return column
    return "pair" if len(annotations) and annotations["dialogue_b"].notna().all() else "dialogue"


def ranked(
    annotations: pd.DataFrame,
    labels: Iterable[Label],
    unranked: Collection[str] = (),
    *,
    strength_resamples: int,
    **boot,
) -> pd.DataFrame:
    """`rank`, `first_place_share` and, of comparisons, `bradley_terry` rows; empty where no two systems are ranked.

    boot : seed, n_resamples, confidence. Bradley-Terry strengths take `strength_resamples`, as each costs an iteration.

    Checked against `ranking.ranks` and `strengths.bradley_terry` of the parts.
    """
    outside = annotations[["system", "system_b"]].isin(list(unranked)).any(axis=1)
    inside, labels = annotations[~outside], list(labels)
    pairwise = inside["dialogue_b"].notna()
    out = []
    for part in (inside[~pairwise], inside[pairwise]):
        out.append(ranking.ranks(part, labels, unit=ranking_unit(part), **boot))
    if pairwise.any():
        unit = ranking_unit(inside[pairwise])
        sizes = boot | {"n_resamples": min(strength_resamples, boot["n_resamples"])}
        out.append(strengths.bradley_terry(inside[pairwise], unit=unit, **sizes))
    out = [frame for frame in out if len(frame)]
    return pd.concat(out, ignore_index=True) if out else pd.DataFrame(columns=["statistic"])


def over_picks(annotations: pd.DataFrame, *, n: int, seed: int) -> pd.DataFrame:
    """How rates, means and shares depend on which annotation of an item is picked.

    Result rows as of `rates.published` with `interval=picks`: the mean over `n` picks, and the smallest and largest
    (`ci_kind` is `range`). The first pick is the study's own. Estimates without a repeated item have no row. Checked
    against `rates.published` of every single pick.
    """
    if annotations.empty:
        return pd.DataFrame(columns=["statistic"])
    scores, codes = numbered(annotations.assign(row=np.arange(len(annotations))))
    row, x, size, values = scores["row"].to_numpy(), scores["score"].to_numpy(float), codes.max() + 1, []
    for mask in picks.masks(annotations, n, seed):
        used = mask[row]
        count = np.bincount(codes[used], minlength=size)
        values.append(np.bincount(codes[used], x[used], minlength=size) / count)
    repeated, found, out = np.bincount(codes) > count, np.array(values), []
    for i, head in enumerate(identities(scores, codes, "picks")):
        if repeated[i]:
            ends = {"estimate": found[:, i].mean(), "ci_low": found[:, i].min(), "ci_high": found[:, i].max()}
            extra = {"ci_kind": "range", "resample_unit": "pick", "seed": seed, "n": int(count[i])}
            out.append({**head, **ends, **extra, "note": f"mean and range of {n} picks"})
    return pd.DataFrame(out)


def over_systems(
    annotations: pd.DataFrame, clustered: pd.DataFrame, unranked: Collection[str] = (), **boot
) -> pd.DataFrame:
    """Rates told of all systems together, as section 8 of Finch et al. 2023 does: `rate_summary` rows of 0/1 marks.

    `summary` is `all` (every turn of every ranked system, with an interval), `lowest` and `highest` (of a system,
    named in `note`; no interval, as they were picked out), and for each system `without` (the share that does not show
    the mark). clustered : rows of `rates.clustered`; boot : its arguments. Checked by hand.
    """
    one = clustered[clustered["statistic"] == "rate"] if len(clustered) else clustered
    one = one[~one["system"].isin(list(unranked))] if len(one) else one
    if one.empty:
        return pd.DataFrame(columns=["statistic"])
    marks = annotations[~annotations["system"].isin(list(unranked))]
    marks = marks.merge(one[["method", "label"]].drop_duplicates(), on=["method", "label"])
    together = rates.clustered(marks.assign(system="all"), **boot)
    out = [together[together["statistic"] == "rate"].assign(system=None, condition=condition(summary="all"))]
    for name, method in {"lowest": "idxmin", "highest": "idxmax"}.items():
        rows = one.loc[getattr(one.groupby(CELL[:-1], sort=False)["estimate"], method)()]
        bare = rows.drop(columns=["ci_low", "ci_high", "ci_kind", "resample_unit"])
        out.append(bare.assign(note=rows["system"], system=None, condition=condition(summary=name)))
    ends = {"estimate": 1 - one["estimate"], "ci_low": 1 - one["ci_high"], "ci_high": 1 - one["ci_low"]}
    out.append(one.assign(**ends, condition=condition(summary="without")))
    return pd.concat(out, ignore_index=True).assign(statistic="rate_summary")


def with_interactors(annotations: pd.DataFrame, dialogues: pd.DataFrame) -> pd.DataFrame:
    """`annotations` with `interactor`, who talked in the dialogue; missing where nobody is known. Checked by hand."""
    who = dialogues.dropna(subset="interactor").drop_duplicates(["corpus", "dialogue"])
    who = who.set_index(["corpus", "dialogue"])["interactor"]
    places = pd.MultiIndex.from_frame(annotations[["corpus", "dialogue"]])
    return annotations.assign(interactor=who.reindex(places).to_numpy(object))


def design_effects_of_people(annotations: pd.DataFrame) -> pd.DataFrame:
    """Design effects by annotator and by interactor, of the groups and methods for which all of them are known.

    What the variance of an estimate grows by when other annotators, or interactors, might have been there. Where one
    annotator judges whole dialogues, clusters of annotators hold those of dialogues. Checked through
    `rates.design_effects`.
    """
    out = []
    for column in ("annotator", "interactor"):
        known = annotations[column].notna()
        if column == "annotator":
            known &= annotations["annotator_known"]
        whole = known.groupby([annotations[c] for c in ("corpus", "group", "method")]).transform("all")
        part = annotations[whole]
        if len(part):
            out.append(rates.design_effects(part, [column]))
    return pd.concat(out, ignore_index=True) if out else pd.DataFrame(columns=["statistic"])
