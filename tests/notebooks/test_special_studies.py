"""Studies with something of their own, from the file to the pages: weights, and methods. Every notebook on studies of
usual shapes: `test_small_studies.py`."""

import re

import numpy as np
import pandas as pd
import pytest
from fixtures import yaml_studies as studies
from fixtures.notebook_runs import run_all

from judgebook.display.names import display_names
from judgebook.questions.agreement.alpha import alpha_of
from judgebook.questions.agreement.coincidences import patterns, with_sampling
from judgebook.questions.agreement.items import matrix
from judgebook.study import params
from judgebook.study.stored import open_study

SECONDS = 100
QUEUE = """\
title: A review queue
method: dialogue_rating
sources:
  - adapter: table
    file: queue.csv
    columns: {dialogue: id, system: bot, annotator: who}
    scores: "{label}"
    inclusion_probability: p
labels:
  bad: {scale: [0, 1], direction: -1}
  quality: {scale: [1, 5]}
"""
DUELS = """\
title: Sliders and duels
methods:
  slider: {title: Slider, unit: dialogue}
  face_off: {unit: pair}
method: slider
sources:
  - {adapter: table, file: rated.csv, layout: long,
     columns: {dialogue: chat, system: bot, annotator: worker, label: what, score: rating}}
  - {adapter: table, file: duels.csv, layout: long, values: {first: 1, second: -1, same: 0},
     columns: {dialogue: chat, dialogue_b: chat_b, system: bot, system_b: bot_b, annotator: worker, label: what,
               score: won, first_shown: shown, system_text: said, system_text_b: said_b}}
labels:
  fluency: {scale: [0, 100], direction: 1}
  preference: {method: face_off, scale: [-1, 1]}
costs: {payments: {all: {slider: 0.2}}}
"""


def queue():
    """All flagged dialogues and 20% of the rest, by five annotators; B is rated lower than A."""
    rng, rows = np.random.default_rng(4), []
    for bot, shift in (("A", 0), ("B", -1)):
        for i in range(250):
            bad = rng.random() < 0.15
            flagged = rng.random() < (0.8 if bad else 0.08)
            if flagged or rng.random() < 0.2:
                for who in rng.choice(5, 2, replace=False):
                    quality = int(np.clip(4 - 2 * bad + shift + rng.integers(-1, 2), 1, 5))
                    rows.append((f"{bot}{i}", bot, f"w{who}", int(bad), quality, 1 if flagged else 0.2))
    return pd.DataFrame(rows, columns=["id", "bot", "who", "bad", "quality", "p"])


def duels(n=30):
    """Dialogues of two systems, of which `better` is better, each judged by two of four workers."""
    rng = np.random.default_rng(3)
    rated, won = ["chat,bot,worker,what,rating"], ["chat,bot,chat_b,bot_b,worker,what,won,shown,said,said_b"]
    for i in range(n):
        for worker in rng.choice(4, 2, replace=False):
            for bot, mean in (("better", 70), ("worse", 40)):
                score = int(np.clip(round(rng.normal(mean, 12)), 0, 100))
                rated.append(f"{bot}{i},{bot},w{worker},fluency,{score}")
            first = rng.choice(["first", "same", "second"], p=[0.7, 0.1, 0.2])
            said = f"{rng.choice(['left', 'right'])},{'so ' * (i % 7)},{'no ' * (i % 5)}"
            won.append(f"better{i},better,worse{i},worse,w{worker},preference,{first},{said}")
    return {"rated_csv": "\n".join(rated) + "\n", "duels_csv": "\n".join(won) + "\n"}


@pytest.fixture(scope="module")
def weighted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weighted")
    path = studies.write(folder, QUEUE, "queue", queue_csv=queue().to_csv(index=False))
    found = run_all(folder, [path], only=["03", "05", "07", "16", "80"])
    assert found.code == 0, found.said
    return found


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("special")
    found = run_all(folder, [studies.write(folder, DUELS, "duels", **duels())], only=["03", "07", "19"])
    assert found.code == 0, found.said
    return found


def text(world, study, name):
    page = (world.folder / "reports" / study / f"{name}.html").read_text(encoding="utf-8")
    return " ".join(re.sub("<[^>]+>", "", page[page.index("<body>") :]).replace("&#39;", "'").split())


@pytest.mark.evidence
class TestWeights:
    def test_what_knows_no_weights_is_left_out_with_the_reason(self, weighted):
        assert [name for _, name in weighted.ran()] == ["03_iaa", "05_sensitivity", "07_bot_performance"]
        for name in ("16_fragility", "80_operating_characteristics"):
            state, reason = weighted.states["queue"][name]
            assert state == "skipped"
            assert "unequal probability" in reason

    def test_estimates_are_weighted_and_stand_beside_those_that_are_not(self, weighted):
        found = weighted.results("queue", "07_bot_performance")
        dialogues = queue().groupby(["bot", "id"]).agg(x=("bad", "mean"), p=("p", "first"))
        for bot in "AB":
            own = dialogues.loc[bot]
            rows = found[(found["system"] == bot) & (found["label"] == "bad")]
            rates = rows[(rows["statistic"] == "rate") & ~rows["condition"].str.contains("independent|picks")]
            assert rates["estimate"].to_numpy() == pytest.approx(np.average(own["x"], weights=1 / own["p"]))
            assert rows[rows["statistic"] == "unweighted"]["estimate"].item() == pytest.approx(own["x"].mean())
            of_two = ["contrast", "data_to_separate", "order_reversal"]  # of the judgements of two systems
            of_one = rows[~rows["statistic"].isin(of_two)]
            assert (of_one["n"].dropna().isin([len(own)])).all()

    def test_agreement_is_weighted(self, weighted):
        found, data = weighted.results("queue", "03_iaa"), queue()
        quality = matrix(data.rename(columns={"id": "item", "quality": "score"}), "who")
        weights = 1 / data.groupby("id")["p"].first().reindex(quality.index).to_numpy()
        items = with_sampling(patterns(quality.to_numpy()), weights)
        alpha = found[(found["statistic"] == "alpha") & (found["label"] == "quality")].dropna(subset="estimate")
        published = alpha["condition"].str.endswith("resample=item")  # every item counts once, as in the papers
        assert alpha[published]["estimate"].item() == pytest.approx(
            alpha_of(patterns(quality.to_numpy()), "ordinal").estimate
        )
        alphas = alpha[~published]["estimate"]
        assert alphas.to_numpy() == pytest.approx(alpha_of(items, "ordinal").estimate)
        assert abs(alphas.iloc[0] - alpha_of(patterns(quality.to_numpy()), "ordinal").estimate) > 0.02

    def test_published_tests_know_no_weights_and_no_halves_are_compared(self, weighted):
        found = weighted.results("queue", "05_sensitivity")
        assert set(found["statistic"]) == {"system_difference", "n_significant"}

    def test_every_page_says_so(self, weighted):
        for name in ("index", "03_iaa", "05_sensitivity", "07_bot_performance", "paper"):
            assert "Drawn with unequal probability." in text(weighted, "queue", name)
        # nothing is checked against software that knows no weights, or tested by what knows none
        assert "by krippendorff" not in text(weighted, "queue", "03_iaa")
        assert "permutation tests" not in text(weighted, "queue", "paper")


@pytest.mark.evidence
def test_notebooks_know_methods_of_a_study_and_the_better_system_leads_by_them(world):
    for notebook in ("03_iaa", "07_bot_performance"):
        rows = world.results("duels", notebook)
        assert {("slider", "dialogue"), ("face_off", "pair")} <= {*zip(rows["method"], rows["level"], strict=True)}
        assert "Face off" in world.page("duels", notebook).text
    means = rows[(rows["statistic"] == "mean") & (rows["label"] == "fluency")].groupby("system")["estimate"].first()
    assert means["better"] - means["worse"] == pytest.approx(30, abs=6)


def test_votes_have_boards_as_collected_and_at_equal_side_and_length(world):
    rows = world.results("duels", "19_comparisons")
    first = rows[(rows["statistic"] == "board_place") & (rows["system"] == "better")]
    assert first["estimate"].tolist() == [1, 1]
    assert set(rows.loc[rows["statistic"] == "covariate_wins", "condition"]) == {
        "covariate=characters",
        "covariate=side",
    }
    assert "equal side and length" in text(world, "duels", "19_comparisons")


def test_methods_are_read_and_named_and_those_of_other_studies_do_not_show(tmp_path):
    marks = studies.read(tmp_path, DUELS, **duels()).frames["annotations"]
    counts = {("face_off", "preference"): 60, ("slider", "fluency"): 120}
    assert marks.groupby(["method", "label"]).size().to_dict() == counts
    first = params.load(tmp_path / "mine.yaml")
    params.load(studies.write(tmp_path, DUELS.replace("title: Slider", "title: Cursor"), "second"))
    params.load(studies.write(tmp_path, DUELS.replace("slider", "knob"), "third"))
    names = display_names(first, marks)
    assert names.name("method", "slider") == "Slider"
    assert "knob" not in names.titles["method"]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("{unit: pair}", "{title: Duel}", 4, "'methods.face_off.unit': this key is required"),
        ("method: slider", "method: sliders", 5, "found 'sliders'"),
        ("{unit: pair}", "{unit: pair}\n  turn_rating: {unit: turn}", 5, "'methods.turn_rating': expected a name"),
        ("scale: [-1, 1]", "scale: [1, 5]", 14, "a comparison says who is better"),
    ],
)
def test_errors_name_line_and_key(tmp_path, old, new, line, words):
    with pytest.raises(params.ParamsError, match=rf"(?s), line {line}:.*{re.escape(words)}"):
        params.load(studies.write(tmp_path, DUELS.replace(old, new, 1)))


def test_a_study_that_was_not_run_says_how(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPENDIUM_OUT", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="--study ji2022`"):
        open_study("ji2022")
    with pytest.raises(params.ParamsError, match="did you mean 'ji2022'"):
        open_study("ji202")
