"""`gate`: requirements are decided by intervals, and give an exit code."""

import re
from dataclasses import replace
from functools import cache
from math import nan

import numpy as np
import pandas as pd
import pytest

from judgebook.extras.gate import command, deciding
from judgebook.extras.gate.deciding import Verdict, requirement
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
        ("new equal to old", "equivalent", None),
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


@pytest.mark.parametrize("text", ["", "new beats old on quality", "new not worse than", "agreement at least 0.5"])
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
        "new not worse than old by 0.2",
        "old not worse than new by 0.2",
        "new better than twin",
    )
    lines, (met, not_met, untold) = said.out.splitlines(), ("Met", "Not met", "Cannot be told")
    said_each = [line.split(":")[0] for line in lines[:9]]
    assert said_each == [met, met, not_met, met, untold, met, met, not_met, untold], said
    assert code == 1
    assert "other annotators like these 6" in lines[0]
    gap = f"{_overall_gap(study):.2f} ["
    assert f"by 0.2 ({gap}" in lines[6]
    assert "] standard deviations of items, over 3 labels, for other annotators like these 6)." in lines[6]
    assert f"by 0.2 (−{gap}" in lines[7]
    assert lines[9].startswith("5 of 9 requirements are met; 2 are not")
    assert gate(study, capsys, "new better than old")[0] == 0
    assert gate(study, capsys, "new better than twin")[0] == 3


def _overall_gap(study) -> float:
    """By how much `new` is better than `old` in the mean of its labels, in standard deviations of dialogues."""
    frame = pd.read_csv(study.parent / "ratings.csv")
    items = frame.groupby(["bot", "prompt"])[["quality", "errors", "fault"]].mean()
    means = ((items - items.mean()) / items.std(ddof=1) * [1, -1, -1]).groupby("bot").mean().mean(axis=1)
    return means["new"] - means["old"]


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
        ("old not worse than new by 0.2", -0.7, -0.3, Verdict.NOT_MET),
        ("old not worse than new by 0.5", -0.7, -0.3, Verdict.OPEN),
        ("old equal to new within 0.8", -0.7, -0.3, Verdict.MET),
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
    rows.append({**rows[0], "statistic": "overall_contrast", "label": None, **own})
    rows += [
        {**part, "statistic": name, "system": "new", "estimate": 1.0, "n": 3}
        for name in ("overall_level", "overall_rank")
    ]
    computed = replace(known, results=dict.fromkeys(known.results, Results()) | {PERFORMANCE: collect(rows)})
    made = deciding.decide(requirement(text), computed)
    assert made.verdict == verdict
    assert (made.low, made.high) == pytest.approx((low, high), nan_ok=True)
    assert made.people.others


@pytest.mark.parametrize(
    ("about", "why"),
    [
        (" on quality", "the two systems were not compared on this label"),
        ("", "fewer than two labels vary and have both systems; `on LABEL` decides by one label"),
    ],
)
def test_systems_that_never_met_are_not_told_apart(known, about, why):
    made = deciding.decide(requirement(f"new better than old{about}"), known)
    assert (made.verdict, made.why) == (Verdict.OPEN, why)


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
        ("new not worse than old", "expected a margin, found none: write `by 0.2` behind it"),
        ("new not worse than old by 20%", "expected standard deviations of items, as several labels have no scale"),
        ("new not worse than old by 0,2", "expected it to end like `by 0.2`, found `by 0,2`"),
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
        ("0.3", "new equal to twin", 0.3),
    ],
)
def test_the_margin_of_the_yaml_holds_where_the_requirement_has_none(study, known, margin, text, size):
    """Of the only label that says which system is better, if none is named."""
    only = ["labels.errors.direction=0", "labels.fault.direction=0"] if " on " not in text else []
    stated = replace(known, study=params.load(study, params.parse_set([f"margin={margin}", *only])))
    required, label, *_ = deciding.compared(requirement(text), stated)
    assert (required.size, label.id) == (size, "quality")


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


def passed(one, gap, shape):
    """Share of releases that meet a requirement where the true difference is `gap`."""
    ends = (gap + intervals(**shape)).T
    return np.mean([deciding.verdict(one, *interval) == Verdict.MET for interval in ends])


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("b better than a on x", {}),
        ("b better than a on x by 0.2", {"n": 60, "people": 20}),
        ("b not worse than a on x by 0.8", {"people": 5}),
        ("b not worse than a on x by 0.7", {"heaviest": 12.0}),
        ("b equal to a on x within 0.9", {"heaviest": 12.0}),
    ],
)
def test_of_thousands_of_releases_few_pass_that_should_not(text, shape):
    """At the border, where most would be let through wrongly: at most 5%."""
    one = requirement(text)
    borders = {"superior": [one.size], "not_inferior": [-one.size], "equivalent": [one.size, -one.size]}
    assert all(passed(one, border, shape) <= 0.05 for border in borders[one.kind])
