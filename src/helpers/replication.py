"""Scores of systems in several runs, and how far these agree on them, as Ji et al. 2022 compare them."""

from collections.abc import Iterable, Mapping

import pandas as pd


def system_means(ratings: pd.DataFrame, value: str, order: Iterable[str]) -> pd.DataFrame:
    """Means of `value`: a row for each run and system, a column for each label, and one for the mean of all labels.

    The latter is missing where a system lacks a label of its run. order : of columns. Ji et al. 2022, section 3.3.
    """
    runs = [
        part.pivot_table(value, ["corpus", "system"], "label", sort=False)
        for _, part in ratings.dropna(subset=value).groupby("corpus", sort=False)
    ]
    if not runs:
        return pd.DataFrame(index=pd.MultiIndex.from_arrays([[], []], names=["corpus", "system"]))
    runs = [means.assign(**{"overall mean": means.mean(axis=1, skipna=False)}) for means in runs]
    return pd.concat(runs)[[name for name in order if any(name in means for means in runs)]]


def last_met(ratings: pd.DataFrame, families: Mapping[str, Iterable[str]]) -> pd.Series:
    """Whether a rating is of the last dialogue, in its task, with its family of systems.

    ratings : in the order of their source; of unknown tasks, all are. The released scores of Ji et al. 2022 are
    standardised by these.
    """
    family = {system: name for name, systems in families.items() for system in systems}
    met = ["corpus", "work_unit", ratings["system"].map(lambda system: family.get(system, system))]
    last = ratings.groupby(met)["dialogue"].transform("last")
    return (ratings["dialogue"] == last) | ratings["work_unit"].isna().any()


def points(means: pd.DataFrame, families: Mapping[str, Iterable[str]]) -> dict[str, pd.DataFrame]:
    """What can be correlated between runs. means : of one run, a row for each system.

    `systems`; `families`, the mean of the systems of each; `variants`, the second system of a family minus the first.
    """
    members = [means.loc[[s for s in systems if s in means.index]] for systems in families.values()]
    found = {
        "systems": means,
        "families": pd.DataFrame([part.mean(skipna=False) for part in members if len(part)]),
        "variants": pd.DataFrame([part.iloc[1] - part.iloc[0] for part in members if len(part) > 1]),
    }
    return {among: rows.reset_index(drop=True) for among, rows in found.items() if len(rows)}


def concordance(p: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """How far each run (columns) concludes of pairs of systems what the first one does: run, `of` and `estimate`.

    p : one-sided p-values, a row for each ordered pair. Ji et al. 2022, section 4.2, give the share `identical`;
    `chance` is that share if conclusions were permuted within runs, and `kappa` corrects for it.
    """
    higher = (p < alpha).astype(int)
    concluded = higher - higher.swaplevel().reindex(higher.index)  # 1 the first system is better, -1 worse, 0 open
    rows, x = [], concluded.iloc[:, 0]
    for run, y in concluded.items():
        rows.append((run, "significant", (y != 0).sum() / 2))
        if run == x.name:
            continue
        identical, chance = (x == y).mean(), sum((x == sign).mean() * (y == sign).mean() for sign in (-1, 0, 1))
        found = {"identical": identical, "chance": chance, "contradiction": (x * y < 0).sum() / 2}
        found["power_mismatch"] = ((x == 0) != (y == 0)).sum() / 2
        found["kappa"] = (identical - chance) / (1 - chance) if chance < 1 else float("nan")
        rows += [(run, of, value) for of, value in found.items()]
    return pd.DataFrame(rows, columns=["corpus", "of", "estimate"])
