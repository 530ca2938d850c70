"""Plans from public studies: the distribution against simulation and REML, and the atlas, each study left out."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats

from judgebook import project
from judgebook.questions.planning import assumed as alike
from judgebook.questions.planning.assumed import sizes

ENDS = np.array([0.1, 0.9])


def nested(rng, sizes, across, inside, mean=-3.0):
    study = np.repeat(np.arange(len(sizes)), sizes)
    y = mean + rng.normal(0, across, len(sizes))[study] + rng.normal(0, inside, len(study))
    return pd.DataFrame({"study": study, "log_variance": y})


def test_the_distribution_is_that_of_reml_where_studies_have_as_many_labels():
    rows = nested(np.random.default_rng(3), [4] * 12, 0.6, 0.4)
    fit = smf.mixedlm("log_variance ~ 1", rows, groups=rows["study"]).fit(reml=True)
    found = alike.reference(rows)
    assert found.mean == pytest.approx(fit.params["Intercept"], abs=1e-6)
    sd = np.sqrt(fit.cov_re.iloc[0, 0] + fit.scale + fit.bse["Intercept"] ** 2)
    assert found.sd == pytest.approx(sd, rel=1e-3)
    assert (found.df, found.n_labels, found.n_studies) == (11, 48, 12)


def test_unequal_numbers_of_labels_have_the_components_whose_expected_sums_of_squares_are_those_found():
    """By matrices; the mean is that of generalised least squares."""
    rows = nested(np.random.default_rng(5), [1, 1, 2, 3, 5, 8], 0.6, 0.4)
    y, z, n = rows["log_variance"].to_numpy(), pd.get_dummies(rows["study"]).to_numpy(float), len(rows)
    means = z @ np.linalg.pinv(z)
    forms = np.eye(n) - means, means - np.full((n, n), 1 / n)
    expected = [[np.trace(a), np.trace(a @ z @ z.T)] for a in forms]
    inside, across = np.linalg.solve(expected, [y @ a @ y for a in forms])
    weight = np.linalg.inv(across * z @ z.T + inside * np.eye(n)).sum(axis=0)
    found = alike.reference(rows)
    assert across > 0
    assert found.mean == pytest.approx(weight @ y / weight.sum())
    assert found.sd == pytest.approx(np.sqrt(across + inside + 1 / weight.sum()))
    assert found.quantile(ENDS) == pytest.approx(stats.t(5, found.mean, found.sd).ppf(ENDS))


def test_studies_with_one_label_each_vary_as_their_values_do():
    y = np.array([-3.0, -2.0, -2.5, -4.0, -3.5])
    found = alike.reference(pd.DataFrame({"study": range(5), "log_variance": y}))
    assert found.mean == pytest.approx(y.mean())
    assert found.sd == pytest.approx(np.sqrt(y.var(ddof=1) * (1 + 1 / 5)))


@pytest.mark.evidence
@pytest.mark.parametrize(("across", "inside", "n_studies"), [(0.6, 0.3, 5), (0.2, 0.5, 12)])
def test_eighty_percent_ranges_hold_the_next_study(across, inside, n_studies):
    rng, runs = np.random.default_rng(11), 500
    inside_range = 0
    for _ in range(runs):
        found = alike.reference(nested(rng, rng.integers(1, 7, n_studies), across, inside))
        low, high = found.quantile(ENDS)
        inside_range += low < -3 + rng.normal(0, across) + rng.normal(0, inside) < high
    assert 0.76 < inside_range / runs < 0.92


def test_a_label_without_spread_between_studies_is_planned_as_stated():
    same = alike.Reference(np.log(0.25), 0.0, 7, 8, 8)
    stated = sizes(0.3, sd=0.5, annotators=1).dialogues[0][0]
    found = alike.likely(same, 0.3, 1)
    assert found.dialogues == found.low == found.high == stated


def test_a_pilot_narrows_and_a_large_one_leaves_what_it_cannot_know():
    known = alike.Reference(-3.0, 0.5, 9, 30, 10)
    assert known.sd > known.after(5).sd > known.after(20).sd > known.after(2000).sd
    assert known.after(2000).sd == pytest.approx(np.sqrt(2 / (2 * 1999)), rel=0.01)
    assert known.after(20, pairwise=True).sd > known.after(20).sd


def atlas():
    labels, values = (pd.read_csv(project.ROOT / "data" / "atlas" / f"{name}.csv") for name in ("labels", "values"))
    return labels, values


def test_components_add_up_to_the_variance_of_a_value_by_three_people():
    """By hand, from the rows of the atlas."""
    labels, values = atlas()
    rows = alike.log_variances(labels[labels["study"] == "finch2024"], values, 3)
    own = values[(values["study"] == "finch2024") & values["estimate"].notna()]
    keys = ["corpus", "group", "method", "label"]
    wide = own.pivot_table(index=keys, columns="statistic", values="estimate")
    of_people = ("variance_annotator", "variance_annotator_of_system", "variance_residual")
    shared = sum(wide[c].fillna(0) for c in wide if c in ("variance_session", "variance_dialogue"))
    people = sum(wide[c].fillna(0) for c in wide if c in of_people)
    ends = labels[labels["study"] == "finch2024"].set_index(keys)
    wanted = (shared + people / 3) / (ends["high"] - ends["low"]) ** 2
    wanted = wanted[ends["twice"] > 0]  # of others, what a further annotator adds is not known
    np.testing.assert_allclose(sorted(rows["log_variance"]), sorted(np.log(wanted.dropna())), rtol=1e-12)


def test_means_of_several_people_and_counts_are_not_compared():
    labels, values = atlas()
    assert alike.log_variances(labels.assign(aggregated=1), values, 1).empty
    assert alike.form(labels[labels["level"] == "ratio"]).isna().all()


@pytest.mark.evidence
def test_each_study_planned_from_the_others():
    """The 80% ranges hold 75% to 85% of the labels, and planned sizes have their power within 5 points on average; each
    label is planned by its own words, as the command would."""
    labels, values = atlas()
    labels = labels.assign(form=alike.form(labels))
    labels = labels[(labels["aggregated"] == 0) & labels["form"].notna()]
    held, powers = [], []
    for annotators in (1, 2, 3):
        for study, own in labels.groupby("study"):
            others = labels[labels["study"] != study]
            for words, part in own.groupby(["kind", "form", "judges"]):
                of_own = alike.log_variances(part, values, annotators)["log_variance"]
                kept = alike.nearest(others, values, words, annotators)
                if not len(of_own) or not kept:
                    continue
                parts = (alike.comparable(others, kept), others[others["form"] == words[1]])
                known = alike.reference(*(alike.log_variances(rows, values, annotators) for rows in parts))
                low, high = known.quantile(ENDS)
                pairwise = words[1] == "comparative"
                n = alike.likely(known, 0.1, annotators, pairwise=pairwise).dialogues
                held += [low < y < high for y in of_own]
                powers += [alike.mean_power(np.exp([y / 2]), n, 0.1, pairwise) for y in of_own]
    assert len(held) > 400
    assert 0.75 <= np.mean(held) <= 0.85
    assert abs(np.mean(powers) - 0.8) < 0.05
