"""`agreement`, `rank` and `plan`: the report's notebooks for a frame, and refusals where it leaves something open."""

import gc

import krippendorff
import numpy as np
import pandas as pd
import pyarrow
import pytest

import judgebook as jb

SECONDS = 40
ROLES = {"item": "prompt", "annotator": "who", "system": "bot", "score": "quality"}


def judgements() -> pd.DataFrame:
    """Three systems on 12 prompts, judged by six people who did not all judge everything; a tenth of cells is empty."""
    rng, rows = np.random.default_rng(3), []
    for prompt in range(12):
        for k, bot in enumerate(("old", "mid", "new")):
            for who in range(6):
                score = int(np.clip(round(2 + k + rng.normal(0, 0.8)), 1, 5))
                rows.append((f"prompt {prompt}", bot, f"rater {who}", score, int(rng.integers(0, 3))))
    frame = pd.DataFrame(rows, columns=["prompt", "bot", "who", "quality", "flurb"])
    frame["quality"] = frame["quality"].astype(float).mask(rng.random(len(frame)) < 0.1)
    return frame.drop(index=frame.index[(frame["who"] == "rater 5") & (frame["bot"] == "old")])


def comparisons(side: bool) -> pd.DataFrame:
    """Old and new on 20 prompts, by three people; the winner by its side, or by its name."""
    rows = [
        (f"prompt {i}", who, "old", "new", "tie" if (i + k) % 4 == 0 else "old" if (i * k) % 3 == 2 else "new")
        for i in range(20)
        for k, who in enumerate("ABC")
    ]
    frame = pd.DataFrame(rows, columns=["prompt", "who", "one", "two", "winner"])
    return frame.replace({"winner": {"old": "A", "new": "B"}}) if side else frame


@pytest.fixture(scope="module")
def audited():
    return jb.audit(judgements(), **ROLES)


@pytest.fixture(scope="module")
def agreed():
    return jb.agreement(judgements(), **ROLES)


@pytest.fixture(scope="module")
def ranked():
    return jb.rank(judgements(), **ROLES)


@pytest.mark.verify
@pytest.mark.parametrize(
    ("name", "statistics"),
    [
        ("agreed", ("alpha", "ac", "icc")),
        ("ranked", ("level", "mean", "rank", "best_chance", "contrast", "order_reversal")),
    ],
)
def test_numbers_are_those_of_the_audit(audited, request, name, statistics):
    analysis = request.getfixturevalue(name)
    for statistic in statistics:
        pd.testing.assert_frame_equal(analysis.frames[statistic], audited.frames[statistic])


@pytest.mark.verify
def test_an_audit_or_its_yaml_needs_no_columns(audited, agreed, tmp_path):
    for data in (audited, audited.yaml):
        rows = jb.agreement(data).estimates
        pd.testing.assert_series_equal(rows["estimate"], agreed.estimates["estimate"])
    with pytest.raises(jb.ParamsError, match="beside a YAML or an Audit"):
        jb.agreement(audited, score="quality")
    (tmp_path / "ratings.csv").write_text("a,b\n1,2\n")
    with pytest.raises(jb.ParamsError, match="expected a frame, or the YAML of a study"):
        jb.rank(tmp_path / "ratings.csv")


def test_alpha_uses_what_is_there(agreed):
    """Missing scores, and people who judged less, as the library of Castro (2017) has it."""
    table = judgements().pivot_table(index="who", columns=["prompt", "bot"], values="quality")
    alpha = krippendorff.alpha(table.to_numpy(), level_of_measurement="ordinal")
    rows = agreed.estimates.query("statistic == 'alpha'")
    assert rows["estimate"].to_numpy() == pytest.approx(alpha)
    assert set(rows["n"]) == {int((table.notna().sum() > 1).sum())}
    assert "alpha of 1 label with intervals" in " ".join(getattr(view, "alt", "") for view in agreed._views)


def test_means_are_those_by_hand(ranked):
    rows = ranked.estimates.query("statistic == 'mean' and primary").set_index("system")
    prompts = judgements().groupby(["bot", "prompt"])["quality"].mean()
    assert rows["estimate"].to_dict() == pytest.approx(prompts.groupby("bot").mean().to_dict(), abs=0.05)
    assert (rows["ci_low"] < rows["estimate"]).all()


def test_rank_has_what_the_fit_of_the_label_says(ranked):
    """The model of `jb.fit`, and every statistic in a word of the docstring."""
    model = jb.fit(judgements().dropna(), system="bot", score="quality", context="prompt", annotator="who")
    rows = ranked.estimates
    levels = rows[rows["statistic"] == "level"].set_index("system")["estimate"]
    assert levels.to_dict() == pytest.approx(model.levels["estimate"].to_dict(), rel=1e-6)
    chances = rows[rows["statistic"] == "best_chance"].set_index("system")["estimate"]
    assert chances.to_dict() == pytest.approx(model.p_best.to_dict())
    pairs = rows[rows["statistic"] == "contrast"].set_index(["system", "system_b"])[["estimate", "ci_low", "ci_high"]]
    expected = model.contrasts.set_index(["system", "system_b"])[["estimate", "low", "high"]]
    assert pairs.loc[expected.index].to_numpy() == pytest.approx(expected.to_numpy(), rel=1e-6)
    assert all(statistic in jb.rank.__doc__ for statistic in rows["statistic"].unique())
    assert "leaderboard" in ranked.figures


@pytest.mark.parametrize("side", [False, True])
def test_winners_may_be_named_or_be_a_side(side):
    roles = {"item": "prompt", "annotator": "who", "system": ("one", "two"), "score": "winner"}
    rows = jb.rank(comparisons(side), **roles, direction=1).estimates
    strengths = rows[rows["statistic"] == "bradley_terry"].set_index("system")["estimate"]
    won = comparisons(False)["winner"].map({"new": 1.0, "old": 0.0, "tie": 0.5}).mean()
    assert strengths.to_dict() == pytest.approx({"new": won, "old": 1 - won}, abs=1e-6)


def test_a_row_may_have_the_score_of_one_label(agreed):
    long = judgements().melt(["prompt", "bot", "who"], ["quality", "flurb"], "aspect", "points")
    columns = {"item": "prompt", "annotator": "who", "system": "bot", "label": "aspect", "score": "points"}
    facts = {"level": {"quality": "ordinal", "flurb": "nominal"}, "scale": {"flurb": (0, 2)}}
    rows = jb.agreement(pyarrow.Table.from_pandas(long), **columns, **facts).frames["alpha"]
    assert rows.groupby("label")["measurement"].first().to_dict() == {"flurb": "nominal", "quality": "ordinal"}
    of_quality = rows[rows["label"] == "quality"]["estimate"].unique()
    assert of_quality == pytest.approx(agreed.frames["alpha"]["estimate"].unique())


@pytest.mark.parametrize(
    ("call", "changes", "says"),
    [
        ("agreement", {"system": None}, "repeats: .*where several systems|Where several systems"),
        ("rank", {"score": "flurb"}, "direction of flurb: .*Write direction=1"),
        ("rank", {"annotator": ...}, "annotator: Who judged?.*Write annotator='COLUMN', or annotator=None"),
        ("rank", {"score": 0}, r"found 0; write frame\.columns = frame\.columns\.astype"),
        ("rank", {"score": "qualty"}, "no column 'qualty' in the frame; did you mean 'quality'"),
        ("rank", {"score": ["quality", "who"], "annotator": None}, "score: 'who' holds no scores"),
        ("plan", {"margin": {"quality": 9}}, "less than the scale of quality is wide, 4, found 9"),
    ],
)
def test_what_is_open_is_refused_with_the_argument_that_states_it(call, changes, says):
    with pytest.raises(jb.ParamsError, match=f"(?s){says}"):
        getattr(jb, call)(judgements(), **(ROLES | changes))


def test_scale_and_level_are_assumed_as_the_audit_assumes_them_and_said():
    frame, scale = judgements().query("quality > 2"), "Which scale was offered for quality? Assumed: 1 to 5 "
    ranks = "Are the scores of quality names, ranks or amounts? Assumed: ranks (`level: ordinal`)"
    ranked, agreed = jb.rank(frame, **ROLES), jb.agreement(frame, **ROLES)
    assert ranked.questions == {"scale of quality": f"{scale}(scores run from 3 to 5)."}
    assert agreed.questions["level of quality"] == f"{ranks} (whole numbers, at most 5 different ones)."
    assert f"Not confirmed: scale of quality. {scale}" in str(ranked)
    assert "<strong>Not confirmed: level of quality.</strong>" in agreed._repr_html_()
    assert not jb.rank(frame, **ROLES, scale=(1, 5)).questions
    slider = jb.agreement(frame.assign(quality=frame["quality"] / 4), **ROLES)
    assert "Assumed: amounts (`level: interval`) (fractions, or many steps)" in slider.questions["level of quality"]
    assert set(slider.frames["alpha"]["measurement"]) == {"interval"}


@pytest.mark.parametrize(
    ("call", "rows", "more", "says"),
    [
        ("rank", "bot == 'old'", {}, "Only one system was judged"),
        ("rank", "bot != ''", {"level": "nominal"}, "answers without order"),
        ("agreement", "who == 'rater 1'", {}, "No item was judged by two people"),
    ],
)
def test_data_that_do_not_allow_it_are_refused_with_the_reason(call, rows, more, says):
    with pytest.raises(jb.JudgebookError, match=says):
        getattr(jb, call)(judgements().query(rows), **ROLES, scale=(1, 5), **more)


def test_the_temporary_folder_goes_with_the_analysis_and_with_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    frames = jb.agreement(judgements(), **ROLES).frames
    gc.collect()
    assert len(frames["alpha"])  # as long as anything of it is there
    del frames
    gc.collect()
    with pytest.raises(jb.ParamsError):
        jb.agreement(judgements(), **ROLES | {"system": None})
    assert not list(tmp_path.iterdir())
