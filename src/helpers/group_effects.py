"""Does it matter who evaluates? The result rows of notebook 08, put together from the statistics modules.

`primary` speaks from all data and the study's own pick of one annotation an item; `as_published` from what a paper
used. Tables and sentences made from these rows are in `views.group_report`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from helpers import agreement, collection, effects, group_null, groups, pick_ranges, picks
from helpers.effects import ANALYSIS
from helpers.labels import Label
from helpers.multiplicity import adjust_rows
from helpers.schema import condition, read_condition, unordered

#: Table 2 of Finch et al. 2024, which leaves out what was judged more than twice -> counts that add up
COUNTS = {"evaluated": ["once", "twice"], "doubly_annotated": ["twice"]}


def comparable(annotations: pd.DataFrame) -> pd.DataFrame:
    """Judgements of what two groups or more judged, each of them on two systems or more; no pilots, no gold units.

    Where no session is known, a dialogue (a pair, for comparisons) is a session of its own. Checked by hand.
    """
    main = collection.evaluated(annotations)
    sides = pd.concat([main, main.dropna(subset=["system_b"]).assign(system=lambda f: f["system_b"])])
    systems = sides.groupby([*ANALYSIS, "group"])["system"].nunique()
    enough = systems[systems >= 2].groupby(ANALYSIS).size()
    enough = systems.index[
        (systems >= 2) & (enough.reindex(systems.index.droplevel("group")).fillna(0) >= 2).to_numpy()
    ]
    here = main[pd.MultiIndex.from_frame(main[[*ANALYSIS, "group"]]).isin(enough)]
    ends = unordered(here)
    alone = ends["low"].astype(str) + "\x1f" + ends["high"].fillna("").astype(str)
    return here.assign(session=here["session"].astype(object).where(here["session"].notna(), alone))


def _mark(rows: pd.DataFrame, **keys: object) -> pd.DataFrame:
    """Result rows with more keys in their condition; keys of None are left out."""
    return rows.assign(condition=[condition(**{**read_condition(c), **keys}) for c in rows["condition"]])


def _people(annotations: pd.DataFrame) -> pd.DataFrame:
    """Judgements of known people, of what two groups of known people judged."""
    human = annotations[annotations["annotator_known"] & (annotations["annotator_kind"] == "human")]
    return comparable(human) if len(human) else human


def primary(
    annotations: pd.DataFrame,
    one: pd.DataFrame,
    labels: Sequence[Label],
    *,
    seed: int,
    margin: float,
    chance_seed: int,
    n_permutations: int,
    n_picks: int,
    people_resamples: int,
    **boot: float,
) -> pd.DataFrame:
    """Everything about the groups' differences, as result rows.

    annotations : from `comparable`; one : the pick of one annotation an item from them. seed : of intervals;
    chance_seed : of permutations and of picks to range over. boot : `n_resamples` and `confidence`. Checked through the
    functions it calls.
    """
    known = _people(one)
    joint = groups.resampled(one, seed=seed, margin=margin, **boot)
    rows = [effects.published(one, seed=seed, **boot), joint]
    permuted = {"seed": chance_seed, "n_permutations": n_permutations}
    rows += [group_null.permutation_null(one, **permuted)]
    rows += [group_null.permutation_null(one, exchange="annotator", **permuted)]
    rows += [pick_ranges.effect_ranges(annotations, seed=chance_seed, n_picks=n_picks)]
    rows += [groups.conclusions(joint).pipe(_mark, of="sign"), orders(joint), sizes(joint, margin)]
    rows += [alpha_within(annotations, labels, seed=seed, **boot), alpha_between(one, labels, seed=seed, **boot)]
    if len(known):
        two = groups.resampled_two_way(known, seed=seed, **(boot | {"n_resamples": people_resamples}))
        rows += [two, groups.conclusions(two).pipe(_mark, of="sign"), without_one(known)]
    return pd.concat([_adjusted(r) for r in rows if len(r)], ignore_index=True)


def without_one(one: pd.DataFrame) -> pd.DataFrame:
    """The group difference, and its range when any one annotator is left out: `group_difference` with `over=people`.

    A loss that leaves it undefined is counted in `n_undefined`; the note names whose loss changes most. Checked against
    `group_null.leave_one_annotator_out`, which it sums up.
    """
    keys = [*ANALYSIS, "group", "group_b"]
    rows, out = group_null.leave_one_annotator_out(one), effects.differences(one)
    rows = rows.assign(who=[read_condition(c)["without"] for c in rows["condition"]])
    whole = out.set_index(keys)["estimate"]
    rows["change"] = (rows["estimate"] - whole.reindex(pd.MultiIndex.from_frame(rows[keys])).to_numpy()).abs()
    found = rows.groupby(keys, sort=False)
    ends = found["estimate"].agg(["min", "max", "size", "count"])
    most = rows.sort_values("change", ascending=False).drop_duplicates(keys).set_index(keys)["who"]
    at = pd.MultiIndex.from_frame(out[keys])
    ends, none = ends.reindex(at), (ends["count"] < ends["size"]).reindex(at).to_numpy()
    return _mark(out, over="people").assign(
        ci_low=ends["min"].to_numpy(),
        ci_high=ends["max"].to_numpy(),
        ci_kind=np.where(ends["count"] > 0, "range", "not_estimable"),
        n_undefined=(ends["size"] - ends["count"]).to_numpy(),
        note=np.where(none, "without someone a system is left without judgements", most.reindex(at) + " moves it most"),
    )


def _adjusted(rows: pd.DataFrame) -> pd.DataFrame:
    """Tests of group differences and of equivalence with Holm's p-values over all labels and groups of a method."""
    tested = rows["statistic"].isin(["group_difference_test", "equivalence_margin"])
    if not tested.any() or "p_value" not in rows:  # no test could be made: the rows say why
        return rows
    name = "labels and pairs of groups of a method"
    return pd.concat([rows[~tested], adjust_rows(rows[tested], ["corpus", "statistic", "method"], name)])


def alpha_within(annotations: pd.DataFrame, labels: Sequence[Label], **options) -> pd.DataFrame:
    """Alpha of the first two annotations within each group: result rows of `agreement.alpha_table` with items.

    Checked against `agreement.alpha_table`.
    """
    found = agreement.alpha_table(annotations, labels, first=2, beside=False, **options)
    return found[found["n"] > 0] if len(found) else found


def alpha_between(one: pd.DataFrame, labels: Sequence[Label], **options) -> pd.DataFrame:
    """Alpha between each two groups, from one annotation an item and group: result rows of `agreement.alpha_between`.

    A group of models is held against people by its annotations as they are.

    Checked against `agreement.alpha_between` of two groups.
    """
    out = []
    for a, b in combinations(sorted(one["group"].unique()), 2):
        pair = one[one["group"].isin([a, b])]
        kinds = sorted(pair["annotator_kind"].unique())
        found = agreement.alpha_between(pair, labels, a, b, kinds=kinds, beside=False, **options)
        out.append(found[found["n"] > 0])
    return pd.concat(out, ignore_index=True) if out else pd.DataFrame()


def orders(joint: pd.DataFrame) -> pd.DataFrame:
    """For how many pairs of systems the estimates of two groups have the same sign: `conclusion_count` with `of=order`.

    joint : `effect_size` rows of `groups.resampled`. Estimates alone: chance gives the same sign to half of the pairs
    that do not differ. Checked by hand.
    """
    sizes = joint[joint["statistic"] == "effect_size"].assign(sign=lambda f: np.sign(f["estimate"]))
    keys = [*ANALYSIS, "level", "system", "system_b", "group"]
    # unstack, because pivot_table leaves out a group whose effects are all undefined
    wide = sizes.set_index(keys)["sign"].unstack("group")  # noqa: PD010
    out = []
    for key, part in wide.groupby(level=[*ANALYSIS, "level"], sort=False):
        for a, b in combinations(part.columns, 2):
            product = (part[a] * part[b]).dropna()
            verdicts = {"same": product > 0, "opposite": product < 0, "undecided": product == 0}
            out += _counted([*key, a, b], {k: v.sum() for k, v in verdicts.items()}, len(product), of="order")
    return pd.DataFrame(out)


def sizes(joint: pd.DataFrame, margin: float) -> pd.DataFrame:
    """For how many pairs of systems the effect is as large in two groups, or not: `conclusion_count` with `of=size`.

    joint : `effect_difference` rows of `groups.resampled`. *same*: the interval lies within ± margin; *different*: it
    excludes 0 and does not lie within; else *undecided*. Checked by hand.
    """
    rows = joint[joint["statistic"] == "effect_difference"]
    low, high = rows["ci_low"], rows["ci_high"]
    same = (low > -margin) & (high < margin)
    rows = rows.assign(same=same, different=~same & ((low > 0) | (high < 0)))
    out = []
    for key, part in rows.groupby([*ANALYSIS, "level", "group", "group_b"], sort=False):
        n = {"same": part["same"].sum(), "different": part["different"].sum()}
        out += _counted(key, n | {"undecided": len(part) - sum(n.values())}, len(part), of="size", margin=margin)
    return pd.DataFrame(out)


def _counted(key: Sequence, counts: dict[str, int], n: int, **keys: object) -> list[dict]:
    head = dict(zip([*ANALYSIS, "level", "group", "group_b"], key, strict=True))
    head |= {"statistic": "conclusion_count", "n": n}
    return [{**head, "condition": condition(**keys, verdict=k), "estimate": float(v)} for k, v in counts.items()]


def group_counts(annotations: pd.DataFrame) -> pd.DataFrame:
    """Dialogues (pairs) evaluated once or twice, and twice, and who did it, by group and method: `count` rows.

    As Table 2 of Finch et al. 2024 counts: what was judged more than twice is not among them. `what=evaluators` is over
    all methods, `evaluators_of_method` what it says; missing where raters are positions. Checked by hand.
    """
    counts = collection.counts(annotations)
    keys = [read_condition(c) for c in counts["condition"]]
    counts = counts.assign(what=[k["what"] for k in keys], kind=[k["kind"] for k in keys])
    out = []
    for key, part in counts.groupby(["corpus", "group", "method", "level", "kind"], dropna=False, sort=False):
        value = part.set_index("what")["estimate"]
        head = dict(zip(["corpus", "group", "method", "level"], key[:4], strict=True)) | {"statistic": "count"}
        whom = {"evaluators" if pd.isna(key[2]) else "evaluators_of_method": ["annotators"]}
        for name, parts in {**whom, **COUNTS}.items():
            if set(parts) <= set(value.index):
                total = value[parts].sum(skipna=False)
                out.append(head | {"condition": condition(kind=key[4], what=name), "estimate": total})
    return pd.DataFrame(out).dropna(subset="estimate")


def as_published(
    annotations: pd.DataFrame,
    labels: Sequence[Label],
    *,
    pick_seed: int,
    seed: int,
    source_order: Collection[str] = (),
    scope: str | None = None,
    **boot: float,
) -> pd.DataFrame:
    """What Finch et al. 2024 print of groups by the pick of their code: result rows with `pick=paper`.

    annotations : from `comparable`, cut to the paper's scope or not (`scope` then says so in every condition).

    Table 3 (alpha between groups), Table 4 (`mean_absolute_effect`), Figure 1 (`group_difference`). Checked against all
    printed values of the two public groups.
    """
    table = picks.pick_as_published(annotations, pick_seed, source_order=source_order)
    figure = picks.pick_as_published(annotations, pick_seed, comparisons="pair", source_order=source_order)
    effect = effects.published(table, seed=seed, **boot)
    difference = effects.published(figure, seed=seed, **boot)
    rows = [effect[effect["statistic"] == "mean_absolute_effect"]]
    rows += [
        difference[difference["statistic"] == "group_difference"],
        alpha_between(figure, labels, seed=seed, **boot),
    ]
    return _mark(pd.concat(rows, ignore_index=True), pick="paper", scope=scope)


def around_published(
    annotations: pd.DataFrame,
    labels: Sequence[Label],
    *,
    pick_seed: int,
    seed: int,
    chance_seed: int,
    n_permutations: int,
    n_picks: int,
    scope: str,
    source_order: Collection[str] = (),
    **boot: float,
) -> pd.DataFrame:
    """What stands around the values of `as_published` on the paper's scope: result rows with `scope`.

    The permutation null of Figure 1, the ranges over picks, and what no pick touches: alpha within groups (Table 3) and
    the counts of Table 2.

    Checked against the printed Tables 2 and 3, and the ranges by printed values that lie inside and wrong ones that do
    not.
    """
    figure = picks.pick_as_published(annotations, pick_seed, comparisons="pair", source_order=source_order)
    null = group_null.permutation_null(figure, seed=chance_seed, n_permutations=n_permutations)
    options = {"seed": chance_seed, "n_picks": n_picks}
    rows = [
        _mark(_adjusted(null), pick="paper"),
        alpha_within(annotations, labels, seed=seed, **boot),
        group_counts(annotations),
    ]
    rows += [pick_ranges.effect_ranges(annotations, sides="apart", **options)]
    for a, b in combinations(sorted(annotations["group"].unique()), 2):
        rows += [pick_ranges.alpha_ranges(annotations, labels, a, b, **options)]
    return _mark(pd.concat([r for r in rows if len(r)], ignore_index=True), scope=scope)


def paired(results: pd.DataFrame) -> pd.DataFrame:
    """Result rows with the column `groups`: `a`, or `a__b` where two are compared, as printed tables have it.

    Checked by hand.
    """
    both = results["group"] + "__" + results["group_b"]
    return results.assign(groups=both.where(results["group_b"].notna(), results["group"]))
