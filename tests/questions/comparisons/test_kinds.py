"""Boards by kind of prompt."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, norm
from statsmodels.api import Logit

from judgebook.annotations import population
from judgebook.display.names import DisplayNames
from judgebook.model import comparisons
from judgebook.model.comparisons import Comparisons
from judgebook.questions.comparisons.kinds import boards, by_kind, kinds_of
from judgebook.questions.comparisons.kinds_views import kinds
from judgebook.study.schema import ANNOTATIONS, DIALOGUES, conform
from judgebook.study.yaml_file import ParamsError


def votes(n=1500, systems=4, kinds=3, prompts=6, between=0.0, answer=0.5, ties=0.6, seed=0):
    """Votes of 20 people, with the (kinds, systems) true strengths and the kind of each vote."""
    rng, s = np.random.default_rng(seed), systems
    own = np.linspace(-0.6, 0.6, s) + between * rng.normal(size=(kinds, s))
    first = rng.integers(s, size=n)
    second = (first + rng.integers(1, s, size=n)) % s
    context, who = rng.integers(kinds * prompts, size=n), rng.integers(20, size=n)
    kind, effect = context % kinds, answer * rng.normal(size=(kinds * prompts, s))
    gap = own[kind, first] - own[kind, second] + effect[context, first] - effect[context, second]
    chances = np.column_stack([np.exp(-gap / 2), np.full(n, ties), np.exp(gap / 2)]).cumsum(axis=1)
    score = (rng.random(n)[:, None] > chances / chances[:, -1:]).sum(axis=1) - 1.0
    names = tuple(f"s{i}" for i in range(s))
    return own, Comparisons(names, first, second, score, context, who), kind


def test_the_difference_between_kinds_is_that_of_a_logistic_regression():
    for seed, between in ((0, 0.0), (1, 0.25)):
        _, c, kind = votes(n=3000, between=between, answer=0.0, ties=0.0, seed=seed)
        c = Comparisons(c.systems, c.first, c.second, c.score, np.arange(len(c)))
        x = np.eye(4)[c.first] - np.eye(4)[c.second]
        by = np.concatenate([x[:, 1:] * (kind == k)[:, None] for k in range(3)], axis=1)
        fits = [Logit(c.score > 0, design).fit(disp=0) for design in (x[:, 1:], by)]
        expected = chi2.sf(2 * (fits[1].llf - fits[0].llf), 6)
        assert by_kind(c, kind, ("a", "b", "c")).p_value == pytest.approx(expected, rel=0.1, abs=1e-4)


def test_what_is_special_to_a_kind_is_drawn_to_what_kinds_share_as_its_error_and_their_spread_say():
    _, c, kind = votes(n=900, systems=2, between=0.6, answer=0.0, ties=0.0, seed=3)
    c = Comparisons(c.systems, c.first, c.second, c.score, np.arange(len(c)))
    found = by_kind(c, kind, ("a", "b", "c"))
    y, v = np.zeros(3), np.zeros(3)
    for k in range(3):
        of, n = kind == k, int((kind == k).sum())
        alone = comparisons.fit(Comparisons(c.systems, c.first[of], c.second[of], c.score[of], np.arange(n)))
        y[k], v[k] = np.diff(alone.levels.estimates)[0], alone.levels.errors[0] ** 2
    # by hand: a grid of SDs and of what kinds share, each as likely beforehand; a difference has twice the variance
    sd, shared = np.meshgrid(np.linspace(0, 4, 400), np.linspace(-3, 5, 400), indexing="ij")
    spread = 2 * sd[..., None] ** 2
    likely = norm.pdf(y, shared[..., None], np.sqrt(v + spread)).prod(axis=-1)
    drawn = (y * spread + shared[..., None] * v) / (v + spread)
    expected = np.average(drawn, axis=(0, 1), weights=np.repeat(likely[..., None], 3, axis=2))
    gaps = [np.diff(board.estimates)[0] for board in found.boards]
    assert gaps == pytest.approx(expected, abs=0.02)
    assert np.all(np.abs(gaps - y.mean()) < np.abs(y - y.mean()))


def test_a_mix_is_made_of_boards():
    _, c, kind = votes(between=0.5)
    found = by_kind(c, kind, ("a", "b", "c"))
    alone = found.mixed(np.array([0, 2, 0]))
    assert alone.estimates == pytest.approx(found.boards[1].estimates)
    assert alone.errors == pytest.approx(found.boards[1].errors)
    mixed = found.mixed(np.array([1, 1, 2]))
    assert mixed.estimates == pytest.approx(np.average([b.estimates for b in found.boards], axis=0, weights=[1, 1, 2]))
    assert np.all(mixed.errors < np.max([b.errors for b in found.boards], axis=0))


def test_kinds_that_differ_are_found_with_the_systems_and_kinds_that_do_not_are_not():
    own, c, kind = votes(n=4000, seed=5)
    turned = own.copy()
    turned[1, 0] += 2.5
    rng = np.random.default_rng(1)
    better = np.where(c.first == 0, 1.0, -1.0)
    touched = (kind == 1) & ((c.first == 0) | (c.second == 0)) & (rng.random(len(c)) < 0.6)
    changed = by_kind(
        Comparisons(c.systems, c.first, c.second, np.where(touched, better, c.score), c.context, c.annotator),
        kind,
        ("a", "b", "c"),
    )
    assert max(changed.p_value, changed.p_systems[0]) < 0.001
    assert np.unravel_index(changed.special.argmax(), changed.special.shape) == (1, 0)
    same = [by_kind(*votes(n=900, seed=seed)[1:], ("a", "b", "c")) for seed in range(12)]
    assert sum(x.p_value < 0.05 for x in same) <= 2
    assert np.mean([x.sd for x in same]) < changed.sd / 2


def test_ties_of_a_kind():
    pairs = [(a, b, score) for a, b in ((0, 1), (1, 2), (0, 2)) for score in (1, -1)] * 20
    tied = [(0, 1, 0), (1, 2, 0), (0, 2, 0)]
    rows = np.array(pairs + tied * 10 + pairs + tied * 30)
    kind = np.repeat([0, 1], [150, 210])
    context = np.arange(360) // 3
    found = by_kind(Comparisons(("x", "y", "z"), *rows.T[:2], rows[:, 2].astype(float), context), kind, ("a", "b"))
    nu = np.exp(found.ties)
    assert nu / (nu + 2) == pytest.approx([30 / 150, 90 / 210], abs=1e-3)


def test_boards_that_cannot_be_are_refused():
    c = Comparisons(("x", "y", "z", "w"), *np.array([[0, 1, 0], [2, 3, 0]] * 30).T[:2], np.ones(60), np.arange(60))
    with pytest.raises(ValueError, match="too few systems in common"):
        by_kind(c, np.arange(60) % 2, ("a", "b"))


def test_the_page_names_systems_and_kinds_and_has_a_board_for_another_mix():
    _, c, kind = votes(n=2000, seed=5)
    touched = (kind == 1) & ((c.first == 0) | (c.second == 0))
    score = np.where(touched, np.where(c.first == 0, 1.0, -1.0), c.score)
    names = np.array(c.systems)
    rows = pd.DataFrame({"system": names[c.first], "system_b": names[c.second], "score": score})
    rows["context"] = [f"p{i}" for i in c.context]
    rows["dialogue"], rows["dialogue_b"] = (rows["context"] + rows[s] for s in ("system", "system_b"))
    fixed = {"study": "s", "corpus": "main", "group": "all", "method": "comparative", "label": "better"}
    who = {"annotator": [f"A{i}" for i in c.annotator], "annotator_known": True, "annotator_kind": "human"}
    judged = conform(rows.assign(**fixed, **who, source_row=range(len(rows))), ANNOTATIONS)
    # of half the pairs only the second answer's kind is known
    of = judged["dialogue"].where(np.arange(len(rows)) % 2 == 0, judged["dialogue_b"])
    said = pd.DataFrame({"dialogue": of, "kind": np.array(["chat", "code", "facts"])[kind], "system": "s0"})
    said = said.drop_duplicates("dialogue").assign(study="s", corpus="main")
    known = kinds_of(judged, conform(said, DIALOGUES))
    assert (known == np.array(["chat", "code", "facts"])[kind]).mean() > 0.95
    people = population.modelled(judged, "sample")
    found = boards(judged, known, people, {"code": 1.0})
    code = found["kind_place"].query("prompt_kind == 'code'").set_index("system")["estimate"]
    assert code.equals(found["target_mix_place"].set_index("system")["estimate"])
    assert code["s0"] == 1
    assert found["kind_share"]["estimate"].sum() == pytest.approx(1)
    titles = {kind: {} for kind in ("method", "group", "system", "corpus")}
    text, *_, table = kinds(found, DisplayNames({}, titles), 0.95)
    assert "depends on the kind of prompt" in text.text
    assert "s0 is stronger in code" in text.text
    with pytest.raises(ParamsError, match="found 'cod'; kinds of the data: chat, code, facts"):
        boards(judged, known, people, {"cod": 1.0})
    assert {"Place, code", "Place, wanted mix"} <= set(table.frame)
