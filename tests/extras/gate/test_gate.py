"""`gate`: requirements are decided by intervals, and give an exit code."""

import re
from dataclasses import replace
from functools import cache
from math import nan

import numpy as np
import pandas as pd
import pytest

from judgebook.extras.gate import command, deciding, planned
from judgebook.extras.gate.deciding import Verdict
from judgebook.extras.gate.requirements import requirement
from judgebook.pipeline.audit.writing import answered
from judgebook.pipeline.cli import main
from judgebook.plugins import UsageError
from judgebook.questions.performance import fitted
from judgebook.study import params
from judgebook.study.results import Results, collect
from judgebook.summary.evidence import AGREEMENT, PERFORMANCE

YAML = """\
title: Releases
method: dialogue_rating
sources:
  - {adapter: table, file: ratings.csv, layout: wide, scores: "{label}", na_values: [""],
     columns: {system: bot, annotator: who, context: prompt}, identify: {dialogue: [prompt, bot]}}
labels:
  quality: {scale: [1, 5], direction: 1}
  errors: {scale: [0, 9], direction: -1}
  mood: {scale: [1, 5]}
  fault: {scale: [0, 1], direction: -1}
systems: {new: Same, twin: Same}
"""


@pytest.mark.parametrize(
    ("text", "kind", "size"),
    [
        ("new better than old on quality", "superior", 0.0),
        ("new not worse than old on quality", "not_inferior", None),
        ("new equal to old on quality", "equivalent", None),
        ("new not worse than old on quality by 5%", "not_inferior", 0.05),
        ("GPT better than 4 not worse than old on q by 1", "not_inferior", 1.0),
        ("new  equal to\nold on quality within .2", "equivalent", 0.2),
        ("agreement on quality at least 0.667", "agreement", 0.667),
        ("reliability on quality at least 0.8", "reliability", 0.8),
    ],
)
def test_requirements_are_read_as_written(text, kind, size):
    one = requirement(text)
    assert (one.kind, one.size) == (kind, size)


@pytest.mark.parametrize("text", ["", "new beats old on quality", "new not worse than old", "new equal to old"])
def test_what_is_not_understood_says_what_can_be_written(text):
    with pytest.raises(UsageError, match="expected 'new better than old on quality'"):
        requirement(text)


@pytest.mark.parametrize(
    ("text", "low", "high", "verdict"),
    [
        ("a better than b on q", 0.1, 0.5, Verdict.MET),
        ("a better than b on q", -0.1, 0.5, Verdict.OPEN),
        ("a better than b on q", -0.5, -0.1, Verdict.NOT_MET),
        ("a better than b on q by 0.2", -0.1, 0.1, Verdict.NOT_MET),
        ("a not worse than b on q by 0.2", -0.1, 0.5, Verdict.MET),
        ("a not worse than b on q by 0.2", -0.3, 0.5, Verdict.OPEN),
        ("a not worse than b on q by 0.2", -0.9, -0.3, Verdict.NOT_MET),
        ("a equal to b on q within 0.2", -0.1, 0.1, Verdict.MET),
        ("a equal to b on q within 0.2", -0.1, 0.3, Verdict.OPEN),
        ("a equal to b on q within 0.2", -0.5, -0.3, Verdict.NOT_MET),
        ("agreement on q at least 0.6", 0.61, 0.8, Verdict.MET),
        ("agreement on q at least 0.6", 0.5, 0.8, Verdict.OPEN),
        ("agreement on q at least 0.6", 0.1, 0.5, Verdict.NOT_MET),
        ("a better than b on q", nan, nan, Verdict.OPEN),
    ],
)
def test_an_interval_decides(text, low, high, verdict):
    assert deciding.verdict(requirement(text), low, high) == verdict


@pytest.fixture(scope="module", autouse=True)
def out(tmp_path_factory):
    """Calls share results: of those that change nothing, only the first computes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPENDIUM_OUT", str(tmp_path_factory.mktemp("out")))
        yield


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """`new` is a point better than `old`, makes two errors fewer, and equals `twin`; six people judge all."""
    folder, rng, rows = tmp_path_factory.mktemp("gate"), np.random.default_rng(1), []
    for prompt in range(40):
        for bot, q in {"old": 2.5, "new": 3.5, "twin": 3.5}.items():
            for who in range(6):
                noise = rng.normal(0, 0.5, 3)
                errors = 5 - 2 * (bot != "old") + noise[1]
                scores = np.clip(np.round([q + noise[0], errors, 3 + noise[2]]), 1, 5)
                rows.append((prompt, bot, f"w{who}", *scores, int(noise[2] > 0)))
    columns = ["prompt", "bot", "who", "quality", "errors", "mood", "fault"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "ratings.csv", index=False)
    path = folder / "releases.yaml"
    path.write_text(YAML, encoding="utf-8")
    return path


def gate(study, capsys, *required):
    code = main(
        ["gate", str(study), *(["--require", *required] if required else []), "--set", "bootstrap.n_resamples=200"]
    )
    return code, capsys.readouterr()


@pytest.mark.verify
def test_all_are_decided_and_the_worst_is_the_code(study, capsys):
    code, said = gate(
        study,
        capsys,
        "new better than old on quality by 0.5",
        "new better than old on errors by 1",
        "old not worse than new on errors by 0.1",
        "new equal to twin on quality within 0.5",
        "new better than twin on quality",
        "reliability on quality at least 0.5",
    )
    lines = said.out.splitlines()
    assert [line.split(":")[0] for line in lines[:6]] == ["Met", "Met", "Not met", "Met", "Cannot be told", "Met"], said
    assert code == 1
    assert "other annotators like these 6" in lines[0]
    assert lines[6].startswith("4 of 6 requirements are met; 1 is not")
    assert gate(study, capsys, "new better than old on quality")[0] == 0


@pytest.mark.parametrize(
    ("required", "notebooks"),
    [("new better than old on quality", [PERFORMANCE]), ("reliability on quality at least 0.5", [AGREEMENT])],
)
@pytest.mark.parametrize("in_yaml", [False, True])
def test_only_what_decides_is_computed(study, tmp_path, monkeypatch, capsys, required, notebooks, in_yaml):

    def answered(path, values, say, needed, check):
        assert [one.text for one in check.args[0]] == [required]
        raise UsageError(str(needed))

    monkeypatch.setattr(command, "answered", answered)
    path = tmp_path / "own.yaml"
    path.write_text(f"gate: [{required}]\n{YAML}", encoding="utf-8")
    code, out = gate(path, capsys) if in_yaml else gate(study, capsys, required)
    assert code == 2
    assert str(notebooks) in out.err


@pytest.fixture(scope="module")
def known(study):
    found = []
    answered(study, [], lambda step: None, [], found.append)
    return found[0]


@pytest.mark.parametrize(
    ("text", "low", "high", "verdict"),
    [
        ("new better than old on quality by 0.2", 0.3, 0.7, Verdict.MET),
        ("old better than new on quality", -0.7, -0.3, Verdict.NOT_MET),
        ("old not worse than new on errors by 0.1", 0.3, 0.7, Verdict.MET),
        ("new not worse than twin on quality by 0.2", nan, nan, Verdict.OPEN),
    ],
)
def test_a_comparison_is_decided_by_the_pairs_own_interval(known, text, low, high, verdict):
    """Turned to the required system and its direction; not by the interval that holds for all pairs at once."""
    part = dict(zip(("corpus", "group", "method"), known.evaluations[0], strict=True))
    wide, own = {"ci_low": -9.0, "ci_high": 9.0}, {"ci_low": 0.3, "ci_high": 0.7}
    rows = [
        {**part, "statistic": name, "label": label, "system": "new", "system_b": "old", "estimate": 0.5, **ends}
        for label in ("quality", "errors") for name, ends in (("contrast", wide), ("plain_contrast", own))
    ]  # fmt: skip
    rows.append({**rows[1], "system_b": "twin", "estimate": 0.0, "ci_low": None, "ci_high": None})
    computed = replace(known, results=dict.fromkeys(known.results, Results()) | {PERFORMANCE: collect(rows)})
    made = deciding.decide(requirement(text), computed)
    assert made.verdict == verdict
    assert (made.low, made.high) == pytest.approx((low, high), nan_ok=True)
    assert made.people.others


def test_systems_that_never_met_are_not_told_apart(known):
    made = deciding.decide(requirement("new better than old on quality"), known)
    assert (made.verdict, made.why) == (Verdict.OPEN, "the two systems were not compared on this label")


@pytest.mark.parametrize(
    ("required", "said"),
    [
        ("new better than odl on quality", "no system 'odl'; did you mean 'old'?"),
        ("new better than new on quality", "expected two systems, found one"),
        ("new better than old on mood", "write `direction: 1` or `direction: -1` under the label"),
        ("new not worse than old on quality", "write `by 0.2` behind it, or the smallest difference that matters"),
        ("new better than old on quality by 5%", "expected points of the scale, as means of quality are no rates"),
        ("new not worse than old on quality by 20", "less than the scale of quality is wide, 4, found 20"),
        ("new not worse than old on fault by 20", "for percentage points write 20%"),
        ("new equal to old on quality within 0", "expected more than 0 and less than the scale of quality"),
        ("new not worse than old on quality by 0,2", "expected it to end like `by 0.2`, found `by 0,2`"),
        ("agreement on quality at least 67", "expected less than 1, the most it can be, found 67"),
        ("Same better than old on quality", "several systems are called 'Same': write new or twin"),
    ],
)
def test_a_wrong_requirement_is_refused(known, required, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        deciding.check([requirement(required)], known)


@pytest.mark.parametrize(
    ("required", "said"), [([], "no requirement"), (["new better than odl on quality"], "did you mean 'old'?")]
)
def test_it_is_refused_before_anything_is_computed(study, capsys, required, said):
    code, out = gate(study, capsys, *required)
    assert code == 2
    assert said in out.err
    assert "  … " not in out.err


@pytest.mark.parametrize(
    ("margin", "text", "size"),
    [
        ("0.3", "new not worse than twin on quality", 0.3),
        ("{quality: 0.01}", "new equal to twin on quality", 0.01),
        ("{quality: 0.01}", "new equal to twin on quality within 0.3", 0.3),
    ],
)
def test_the_margin_of_the_yaml_holds_where_the_requirement_has_none(study, known, margin, text, size):
    stated = replace(known, study=params.load(study, params.parse_set([f"margin={margin}"])))
    assert deciding.compared(requirement(text), stated)[0].size == size


@pytest.mark.verify
def test_what_is_open_says_how_likely_it_was_to_be_met_and_what_would_be_enough(study, capsys):
    """For a true difference that is assumed, never the one observed: of superiority the margin, where there is one."""
    design = "a study of this design with 40 dialogues per system meets this requirement"
    code, out = gate(study, capsys, "new better than twin on quality", "new not worse than twin on quality by 0.02",
                     "--set", "margin={errors: 1}")  # fmt: skip
    said = out.out.splitlines()
    assert code == 3
    assert "If" not in said[0]
    assert re.search(rf"equal, {design} with a probability of \d+%; (with|even)", said[1])
    stated = gate(study, capsys, "new better than twin on quality", "--set", "margin={quality: 0.2}")[1].out
    assert f"If the first system is truly better by 0.20, {design}" in stated


#: releases for each case, and how many are compared at once
WORLDS, TOGETHER = 4000, 100
#: variances of the releases
VARIANCE = {"dialogue": 0.25, "annotator": 0.16, "annotator_of_system": 0.04, "residual": 0.64}


def judged(rng, *, n=30, people=8, each=2, heaviest=2.0):
    """(annotations,) dialogue, system and person of a release in which people judge unequal numbers of dialogues: the
    last of them is `heaviest` times as likely to be asked as the first."""
    load = np.linspace(1, heaviest, people) / np.linspace(1, heaviest, people).sum()
    dialogue = np.repeat(np.arange(2 * n), each)
    who = [rng.choice(people, each, replace=False, p=load) for _ in range(2 * n)]
    return dialogue, dialogue // n, np.concatenate(who)


@cache
def intervals(**shape):
    """(2, WORLDS) ends of intervals of the difference b - a, which is 0, of releases in which people are strict and
    have preferences (VARIANCE). With a true difference they are shifted by it. Many are compared at once, as labels."""
    rng, sd, ends = np.random.default_rng(len(shape)), {name: np.sqrt(v) for name, v in VARIANCE.items()}, []
    same = {"corpus": "c", "group": "all", "method": "dialogue_likert", "turn": None, "dialogue_b": None}
    same |= {"system_b": None, "annotator_known": True, "annotator_kind": "human"}
    for _ in range(0, WORLDS, TOGETHER):
        frames = []
        for world in range(TOGETHER):
            dialogue, system, who = judged(rng, **shape)
            strict, prefers = rng.normal(0, sd["annotator"], 100), rng.normal(0, sd["annotator_of_system"], (100, 2))
            score = rng.normal(0, sd["dialogue"], dialogue[-1] + 1)[dialogue] + strict[who]
            score += prefers[who, system] + rng.normal(0, sd["residual"], len(who))
            columns = {"label": f"x{world}", "system": np.array(["a", "b"])[system], "dialogue": dialogue}
            frames.append(pd.DataFrame(columns | {"annotator": who, "score": score}))
        frame = pd.concat(frames, ignore_index=True).astype({"dialogue": str, "annotator": str})
        frame = frame.assign(**same, session=frame["dialogue"])
        found = (fitted.plain(one, {"method": "dialogue_likert"}, people=True) for _, one in frame.groupby("label"))
        rows = pd.DataFrame([row for some in found for row in some])
        assert rows["resample_unit"].str.endswith(" and annotator").all()
        ends.append(-rows[["ci_high", "ci_low"]].to_numpy(float).T)
    return np.hstack(ends)


def drawn_from(rng, **shape):
    """The design of a release as `planned` has it; b is the required system."""
    dialogue, system, who = judged(rng, **shape)
    factors = {"dialogue": dialogue, "annotator": who, "annotator_of_system": 2 * who + system}
    return planned.Comparison(1 - system, dialogue, dialogue, who, factors, np.full(len(who), 1.0))


#: designs that a plan is the mean of
DESIGNS = 150


def passed(one, gap, shape):
    """Share of releases that meet a requirement where the true difference is `gap`."""
    ends = (gap + intervals(**shape)).T
    return np.mean([deciding.verdict(one, *interval) == Verdict.MET for interval in ends])


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("text", "gap", "shape"),
    [
        ("b better than a on x", 0.7, {}),
        ("b better than a on x by 0.2", 0.7, {"n": 60, "people": 20}),
        ("b not worse than a on x by 0.8", 0.0, {"people": 5}),
        ("b not worse than a on x by 0.7", 0.1, {"heaviest": 12.0}),
        ("b equal to a on x within 0.9", 0.0, {"heaviest": 12.0}),
    ],
)
def test_of_thousands_of_releases_as_many_pass_as_planned_and_few_that_should_not(text, gap, shape):
    """Within 3 points, in designs that are drawn anew; the plan is the mean over such designs. At the border, where
    most would be let through wrongly: at most 5%."""
    one, rng = requirement(text), np.random.default_rng(7)
    plans = [
        planned.chance(one, gap, drawn_from(rng, **shape), VARIANCE, releases=200, rng=rng) for _ in range(DESIGNS)
    ]
    assert passed(one, gap, shape) == pytest.approx(np.mean(plans), abs=0.03)
    borders = {"superior": [one.size], "not_inferior": [-one.size], "equivalent": [one.size, -one.size]}
    assert all(passed(one, border, shape) <= 0.05 for border in borders[one.kind])
