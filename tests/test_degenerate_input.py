"""Odd labels and studies, through every analysis: each value has a bound, an interval or a reason, and nothing breaks.

Kernels have their own cases (test_alpha, test_rates, test_logit, test_validity); the real group in perfect agreement is
in test_agreement. Here whole studies run through what the notebooks call.
"""

import numpy as np
import pandas as pd
import pytest
from fixtures import yaml_studies as studies
from fixtures.notebook_cells import published_tests
from fixtures.session_study import SYSTEMS, annotate

from judgebook.annotations import dialogue_values as values
from judgebook.annotations import picks, population, summary
from judgebook.display import saving, style
from judgebook.display.names import DisplayNames, display_names
from judgebook.questions.agreement import analysis as agreement
from judgebook.questions.agreement import views
from judgebook.questions.performance import analysis as performance
from judgebook.questions.performance import rates
from judgebook.questions.performance.fitted import fitted
from judgebook.questions.sensitivity.question import Sensitivity
from judgebook.questions.validity import analysis as validity
from judgebook.questions.validity import coverage, targets
from judgebook.sources import build
from judgebook.statistics import Sampling
from judgebook.study import params
from judgebook.study.labels import LABEL_SETS
from judgebook.study.results import Results, collect, fold
from judgebook.study.schema import ITEM

SAMPLING = Sampling(n_resamples=200, confidence=0.95, seed=1)
LABELS = [x for x in LABEL_SETS["abc_eval"] if x.method in ("behavior", "dialogue_likert", "comparative")]
NAMES = DisplayNames(
    {(x.method, x.id): x for x in LABELS}, {"method": {}, "group": {}, "system": {s: s for s in SYSTEMS}}
)
FEW = Sensitivity(n_dialogues=8, n_draws=5, null_runs=20)


@pytest.fixture(scope="module")
def study():
    """80 dialogues of five turns, each judged by two of six people, and who talked in them."""
    annotations, talked = annotate(np.random.default_rng(1), n_interactors=8, per_interactor=5, doubled=1.0, effect=0.4)
    talks = pd.DataFrame({"corpus": "main", "dialogue": talked.index, "interactor": talked.to_numpy(object)})
    talks["order_shown"] = talks.groupby(talks["dialogue"].str.partition(",")[0]).cumcount()
    assert annotations["label"].eq("ignore").sum() == 800
    return annotations, talks


def marks_of(annotations):
    return (annotations["label"] == "ignore").to_numpy()


def rows_of(annotations, talks):
    """analysis -> result rows."""
    ext = annotations[annotations["group"] == "ext"]
    one = next(picks.picks(annotations, 1, 1))
    out = {
        "alpha": agreement.alpha_table(ext, LABELS, sampling=SAMPLING, first=2),
        "annotators": agreement.alpha_over_annotators(ext, LABELS),
        "rates": collect(rates.clustered(one, sampling=SAMPLING)),
        "tests": published_tests(ext, NAMES, SYSTEMS, FEW).saved,
        "fitted": fitted(performance.chosen(ext), LABELS, population.modelled(ext), "all"),
    }
    found = targets.find(annotations, talks, label="quality", pick_seed=1)
    for target, design in found.designs.items():
        importance = collect(validity.importance(design))
        searched = collect(coverage.stability(design, "behavior", seed=1, n_halves=10))
        searched = Results({s: f.drop_duplicates(["method", "label", "kind"]) for s, f in searched.items()})
        out |= {f"importance, {target}": importance, f"coverage, {target}": searched}
    return out


def stored(rows):
    """Rows as they are stored; none has a missing value, or missing ends of an interval, without a reason."""
    known = {"study": "s", "notebook": "n"}
    out = fold(rows, **known)
    bare = out["estimate"].isna() & out["note"].isna()
    assert not bare.any(), out.loc[bare, ["statistic", "label", "condition"]]
    open_ended = out["ci_kind"].notna() & (out["ci_low"].isna() | out["ci_high"].isna())
    silent = open_ended & out["note"].isna()
    assert not silent.any(), out.loc[silent, ["statistic", "label", "condition", "ci_kind"]]
    return out


def test_two_positives_in_four_hundred(study):
    annotations, talks = study
    score = annotations["score"].where(~marks_of(annotations), 0.0)
    items = annotations.index[marks_of(annotations)]
    score[[items[3], items[500]]] = 1.0  # of two items, by one of two people each
    found = {name: stored(rows) for name, rows in rows_of(annotations.assign(score=score), talks).items()}
    alpha = found["alpha"].query("statistic == 'alpha' and label == 'ignore'")
    assert set(alpha["ci_kind"]) == {"exact_bound"}
    assert alpha["note"].str.contains("annotators disagree on 2 of 2 items").all()
    rate = found["rates"].query("statistic == 'rate' and label == 'ignore' and ci_kind == 'exact_bound'")
    assert len(rate) == len(SYSTEMS)
    r = found["importance, dialogue_quality"].query("statistic == 'r' and label == 'ignore'")
    assert (r["ci_kind"] == "not_estimable").all()


def test_perfect_agreement(study):
    annotations, talks = study
    first = annotations.groupby(["group", *ITEM], dropna=False, sort=False)["score"].transform("first")
    found = {name: stored(rows) for name, rows in rows_of(annotations.assign(score=first), talks).items()}
    alpha = found["alpha"].query("statistic == 'alpha'")
    assert (alpha["estimate"] == 1).all()
    alpha = alpha[~alpha["condition"].str.contains("orientation=stored")]  # beside, without an interval
    assert set(alpha["ci_kind"]) == {"exact_bound"}
    assert ((alpha["ci_low"] > 0) & (alpha["ci_low"] < 1) & (alpha["ci_high"] == 1)).all()


def test_one_annotator_only(study):
    annotations, talks = study
    ext = annotations["group"] == "ext"
    once = annotations[~annotations.duplicated(["group", *ITEM])]
    alone = once.assign(annotator=once["annotator"].where(~ext[once.index], "E0"))
    found = {name: stored(rows) for name, rows in rows_of(alone, talks).items()}
    assert found["alpha"]["note"].str.contains("no item has two annotations").all()
    assert found["annotators"].empty
    shares = found["fitted"].query("statistic == 'component_share'")
    assert shares["note"].notna().any()


def test_constant_predictor(study):
    annotations, talks = study
    constant = annotations.assign(score=annotations["score"].where(~marks_of(annotations), 0.0))
    found = {name: stored(rows) for name, rows in rows_of(constant, talks).items()}
    for target in (values.DIALOGUE_QUALITY, values.COMPARATIVE_QUALITY):
        row = found[f"importance, {target}"].query("label == 'ignore'")
        assert row["estimate"].isna().all()
        assert row["note"].str.contains("same value").all()
        excluded = found[f"coverage, {target}"].query("label == 'ignore'")
        assert excluded["note"].str.contains("same value").all()
    alpha = found["alpha"].query("statistic == 'alpha' and label == 'ignore'")
    assert set(alpha["ci_kind"]) == {"not_estimable"}


FLAT = "chat,bot,worker,what,rating\n" + "".join(
    f"d{i},{'AB'[i % 2]},w{k},{label},3\n" for i in range(12) for k in (1, 2) for label in ("fluency", "quality")
)


def test_every_score_the_same(tmp_path):
    """Agreement is undefined for all labels: notebook 03 says so, in its headline, figures and tables."""
    study = params.load(studies.write(tmp_path, studies.LONG, my_csv=FLAT))
    marks = build.build(study).frames["annotations"]
    names = display_names(study, marks)
    results = agreement.analyse(marks, study.label_list(), sampling=SAMPLING, first=None)
    assert results["alpha"]["estimate"].isna().all()
    assert results["alpha"]["note"].notna().all()
    headline, *rest = (view.text for view in views.findings(results, names, min_items=5, confidence=0.95))
    assert "cannot be determined" in headline
    assert "nan" not in "".join([headline, *rest]).lower()
    (plot,) = views.forests(results, names)
    assert "undefined" in plot.alt
    assert views.alphas(results, names, 0.95)


def test_the_person_says_a_blank(tmp_path):
    """Of dialogues with one turn, whose first text is a blank: no number of utterances is negative."""
    text = "chat,bot,worker,what,rating,said,reply\n" + "".join(
        f"d{i},A,w1,{label},4,{' ' if i % 2 else 'hello'},yes\n" for i in range(6) for label in ("fluency", "quality")
    )
    yaml = studies.LONG.replace("score: rating", "score: rating, user_text: said, system_text: reply")
    frames = studies.read(tmp_path, yaml, my_csv=text).frames
    card = summary.card(frames["annotations"], frames["dialogues"]).set_index("what")["estimate"]
    assert (card.dropna() >= 0).all()
    assert card["utterances"] == 1.5
    assert card["utterances before the last exchange"] == 0


def test_a_dollar_in_a_name_is_a_dollar():
    """A title that is no formula would end every notebook that draws it."""
    title = "Fl $\\frac{1} x$"
    fig, ax = style.subplots()
    ax.set_title(title)
    ax.plot([0, 1], [0, 1], label="$x^{$")
    ax.legend()
    ax.set_yticks([0, 1], [title, "$"])
    svg = saving.drawing(fig, "svg", name="dollar", alt="A dollar.", simulated=False).decode()
    assert svg.count(title) == 2
    assert "$x^{$" in svg
