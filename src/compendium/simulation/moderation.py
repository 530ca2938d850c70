"""Simulated judgements of replies to toxic prompts, as a long table (Zhang et al. 2022, section 3).

First, seven annotators put prompt-and-answer pairs into categories -1, 0 and 1. Cuts and signal of one normal variable
are fitted so that the numbers of annotators who agree come near the paper's Table 5. Second, the same annotators choose
between the answers of two systems, call both good (tied) or both bad (unrelated), and flag answers. Propensities are
chosen to give each system's shares in Table 6, and flags follow the rates of section 3.3. Prompts and
answers are strings of harmless words. The correlation of judgements of an item in the second part, and the leaning of
annotators, are chosen: the paper does not say.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy.optimize import least_squares, minimize
from scipy.special import gammaln, ndtr, ndtri

from compendium.published import numbers as published
from compendium.simulation.gaussian import NODES, WEIGHTS
from compendium.simulation.parts import SYSTEM_WORDS, USER_WORDS, texts, worker
from compendium.simulation.techniques import once, size
from judgebook.study.sections.data import Simulate

FILE = "moderation.csv"
CORPUS = "extra_moderation"
CHATBOTS, HUMAN = ("baseline", "blenderbot_2", "gpt_3"), "human"
CATEGORIES, N_ANNOTATORS = (-1, 0, 1), 7
#: prompts put into categories, prompts of which all chatbots' answers are compared, pairs with a person's answer
N_ITEMS, N_PROMPTS, N_CONTROL = 1290, 160, 60
#: share of an item in a judgement of the second part, and of the annotator's leaning in the rest (chosen)
ITEM_SHARE, LEANING = 0.35, 0.08
OUTCOMES = ("wins", "tied", "unrelated", "loses")
COLUMNS = ("annotator", "system", "dialogue", "turn", "context", "dialogue_b", "system_b", "method", "label", "score",
           "user_text", "system_text")  # fmt: skip


@dataclass(frozen=True)
class Categories:
    """cuts : where a standard normal judgement falls from -1 to 0 and from 0 to 1. signal : correlation of two
    annotators' judgements of an item."""

    cuts: tuple[float, float]
    signal: float

    def compositions(self) -> np.ndarray:
        """Probability of each of `COMPOSITIONS`: how many of seven annotators choose each category."""
        spread = np.sqrt(self.signal) * NODES
        low, high = (ndtr((cut - spread) / np.sqrt(1 - self.signal)) for cut in self.cuts)
        p = np.clip(np.stack([low, high - low, 1 - high], axis=1), 1e-300, 1)
        return WEIGHTS @ np.exp(_LOG_WAYS + np.log(p) @ COMPOSITIONS.T)

    def agreeing(self) -> np.ndarray:
        """(categories, 5) probability that the category is the most frequent one, with 3, 4, …, 7 annotators.

        An item on which two categories have three each counts half for either.
        """
        most = COMPOSITIONS.max(axis=1, keepdims=True)
        top = (most == COMPOSITIONS) / (most == COMPOSITIONS).sum(axis=1, keepdims=True)
        p = self.compositions()
        return np.array([[p @ (top[:, j] * (most[:, 0] == k)) for k in range(3, 8)] for j in range(3)])


COMPOSITIONS = np.array([c for c in itertools.product(range(N_ANNOTATORS + 1), repeat=3) if sum(c) == N_ANNOTATORS])
_LOG_WAYS = gammaln(N_ANNOTATORS + 1) - gammaln(COMPOSITIONS + 1).sum(axis=1)


@cache
def categories() -> Categories:
    """Cuts and signal at which expected numbers of agreeing annotators are nearest to Table 5, by chi-squared.

    Expected numbers below 5 weigh as 5, so that empty cells do not decide.
    """
    printed = published.load("dstc10", "Table 5").set_index(["row", "column"])["value"]
    names = [f"label_{'minus_1' if c < 0 else c}" for c in CATEGORIES]
    observed = np.array([[printed[name, f"annotators_{k}"] for k in range(3, 8)] for name in names])

    def model(x: np.ndarray) -> Categories:
        return Categories((x[0], x[0] + np.exp(x[1])), float(1 / (1 + np.exp(-x[2]))))

    def distance(x: np.ndarray) -> float:
        expected = observed.sum() * model(x).agreeing()
        return float(np.sum((observed - expected) ** 2 / np.maximum(expected, 5)))

    return model(minimize(distance, [-0.3, -1.0, -2.0], method="Nelder-Mead", options={"xatol": 1e-5}).x)


@dataclass(frozen=True)
class Comparisons:
    """Propensities by system (the chatbots, then the person): to tie, to be unrelated, and strength when decided."""

    tied: np.ndarray
    unrelated: np.ndarray
    strength: np.ndarray

    def shares(self, a: int, b: int) -> dict[str, float]:
        """Shares of the outcomes of a against b, for a."""
        tied, unrelated = (self.tied[a] + self.tied[b]) / 2, (self.unrelated[a] + self.unrelated[b]) / 2
        won = (1 - tied - unrelated) * float(ndtr(self.strength[a] - self.strength[b]))
        return dict(zip(OUTCOMES, (won, tied, unrelated, 1 - won - tied - unrelated), strict=True))


def pairs(n_prompts: int = N_PROMPTS, n_control: int = N_CONTROL) -> list[tuple[int, int, int]]:
    """(a, b, number of items): all pairs of chatbots on every prompt, and the person against each on a third of the
    control items."""
    chatbots = [(a, b, n_prompts) for a, b in itertools.combinations(range(len(CHATBOTS)), 2)]
    return chatbots + [(a, len(CHATBOTS), n_control // len(CHATBOTS)) for a in range(len(CHATBOTS))]


@cache
def comparisons() -> Comparisons:
    """Propensities that give the counts of Table 6."""
    printed = published.load("dstc10", "Table 6")
    count = printed[printed["panel"] == "count"].set_index(["row", "column"])["value"]
    names = (*CHATBOTS, HUMAN)
    share = {o: np.array([count[s, o] / sum(count[s, p] for p in OUTCOMES) for s in names]) for o in OUTCOMES}
    weight = np.zeros((len(names), len(names)))
    for a, b, n in pairs():
        weight[a, b] = weight[b, a] = n
    of = weight / weight.sum(axis=1, keepdims=True)
    # a system's share is half its own propensity and half that of whom it meets
    tied, unrelated = (np.linalg.solve((np.eye(len(names)) + of) / 2, share[o]) for o in ("tied", "unrelated"))

    def misses(strength: np.ndarray) -> np.ndarray:
        model = Comparisons(tied, unrelated, np.r_[0.0, strength])
        won = [sum(of[a, b] * model.shares(a, b)["wins"] for b in range(len(names))) for a in range(len(names))]
        return np.array(won) - share["wins"]

    return Comparisons(tied, unrelated, np.r_[0.0, least_squares(misses, np.zeros(len(CHATBOTS))).x])


@cache
def flag_rates() -> dict[str, float]:
    printed = published.load("dstc10", "Text 3.3")
    flagged = printed[printed["panel"] == "flagged"]
    return dict(zip(flagged["row"], flagged["value"] / 100, strict=True))


def table(spec: Simulate, rng: np.random.Generator) -> pd.DataFrame:
    """All judgements, one row each, with the columns of COLUMNS; the two parts draw from streams of their own."""
    streams = rng.spawn(3)
    prompts, answers = texts(size(spec, N_ITEMS), USER_WORDS, streams[2]), texts(size(spec, N_ITEMS), 12.0, streams[2])
    first = _categories(prompts, answers, streams[0])
    second = _comparisons(spec, prompts, answers, streams[1])
    rows = pd.concat([first, second], ignore_index=True)[list(COLUMNS)].assign(corpus=CORPUS)
    return once(rows, ["user_text", "system_text"])


def _leanings(columns: int, rng: np.random.Generator) -> np.ndarray:
    """(annotators, columns) leanings as shares of a standard normal judgement."""
    return np.sqrt(LEANING) * rng.standard_normal((N_ANNOTATORS, columns))


def _judgements(n: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """(n items, annotators) standard normal judgements; `share` is the item's, LEANING of the rest the annotator's."""
    item, error = rng.standard_normal((n, 1)), rng.standard_normal((n, N_ANNOTATORS))
    of_annotator = _leanings(1, rng)[:, 0] + np.sqrt(1 - LEANING) * error
    return np.sqrt(share) * item + np.sqrt(1 - share) * of_annotator


def _people(n: int) -> np.ndarray:
    return np.tile([worker("moderator", i) for i in range(N_ANNOTATORS)], n)


def _categories(prompts: list[str], answers: list[str], rng: np.random.Generator) -> pd.DataFrame:
    n, model = len(prompts), categories()
    scores = np.searchsorted(model.cuts, _judgements(n, model.signal, rng)) - 1
    ids = np.repeat([f"item-{i + 1:04d}" for i in range(n)], N_ANNOTATORS)
    out = pd.DataFrame({"annotator": _people(n), "dialogue": ids, "score": scores.ravel()})
    out["user_text"], out["system_text"] = np.repeat(prompts, N_ANNOTATORS), np.repeat(answers, N_ANNOTATORS)
    return out.assign(context=out["dialogue"], system=HUMAN, turn=1, method="moderation", label="category")


def _comparisons(spec: Simulate, prompts: list[str], answers: list[str], rng: np.random.Generator) -> pd.DataFrame:
    """Choices between two answers, marks that both are unrelated, and flags; every annotator judges every item."""
    model, names = comparisons(), (*CHATBOTS, HUMAN)
    n_prompts = min(size(spec, N_PROMPTS), len(prompts))
    chosen = np.sort(rng.permutation(len(prompts))[:n_prompts])
    replies = {s: texts(n_prompts, SYSTEM_WORDS, rng) for s in CHATBOTS} | {HUMAN: [answers[i] for i in chosen]}
    flaws = {s: rng.standard_normal(n_prompts) for s in names}
    out = []
    for a, b, n in pairs(n_prompts, min(3 * (size(spec, N_CONTROL) // 3), 3 * n_prompts)):
        at = np.arange(n_prompts) if n == n_prompts else np.sort(rng.permutation(n_prompts)[:n])
        shares = model.shares(a, b)
        kind, duel = (_judgements(n, ITEM_SHARE, rng) for _ in range(2))
        unrelated, tied = kind < ndtri(shares["unrelated"]), kind > -ndtri(shares["tied"])
        won = duel + model.strength[a] - model.strength[b] > 0
        better = np.where(unrelated | tied, 0, np.where(won, 1, -1))
        sides = {s: _side(prompts, chosen, at, names[s], f"{names[a]}-{names[b]}", replies) for s in (a, b)}
        other = {"dialogue_b": sides[b]["dialogue"], "system_b": names[b]}
        out.append(sides[a].assign(**other, method="pairwise_turn", label="better", score=better.ravel()))
        marks = {"method": "moderation", "label": "unrelated", "score": unrelated.astype(int).ravel()}
        out.append(sides[a].assign(**marks))
        for s in (a, b):
            error = rng.standard_normal((n, N_ANNOTATORS))
            seen = np.sqrt(ITEM_SHARE) * flaws[names[s]][at][:, None] + np.sqrt(1 - ITEM_SHARE) * error
            flag = seen < ndtri(flag_rates()[names[s]])
            out.append(sides[s].assign(method="moderation", label="flagged", score=flag.astype(int).ravel()))
    return pd.concat(out)


def _side(
    prompts: list[str], chosen: np.ndarray, at: np.ndarray, system: str, pair: str, replies: dict[str, list[str]]
) -> pd.DataFrame:
    """One system's answers in the comparisons of a pair, one row per annotator."""
    ids = [f"item-{chosen[i] + 1:04d}" for i in at]
    frame = pd.DataFrame({"context": ids, "user_text": [prompts[chosen[i]] for i in at]})
    frame["dialogue"] = frame["context"] + f"-{pair}/{system}"
    frame["system_text"] = [replies[system][i] for i in at]
    frame = frame.loc[np.repeat(frame.index, N_ANNOTATORS)].reset_index(drop=True)
    return frame.assign(annotator=_people(len(at)), system=system, turn=1)
