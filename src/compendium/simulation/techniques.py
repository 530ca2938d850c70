"""Simulated conversations under the techniques that Smith et al. 2022 compare, as a long table.

Four systems, three pairs of them, three questions. Rates by turn are those of Tables 4 and 5, mean ratings those of
Table 2, rates of whole conversations those of Table 3. The correlation of turns within a conversation is solved for, so
that winner-takes-all rates come near Tables 1 and 2; numbers and times follow section 4.1. Dialogues have the true
values of `simulation.people.Chats`. Nothing else about people or systems was observed.

A mark is 1 where

    y = m + sqrt(g) x + sqrt(1 - g) (sqrt(L) u + sqrt(1 - L) e) > 0

m by system (or pair), question and turn; x the turn's true value (for pairs the standardised difference of two), u a
leaning on the conversation, e error. A final rating follows the conversation's y, later turns weighing more, as Figure
6 of the paper suggests. Reasons for choices between answers have the mean length of Table 6, and terms of Table 7
among words that say nothing. What is left out: workers who judge several conversations are alike in nothing but pace;
all workers are equally careful but a few whose messages fail the checks of Appendix B and who mark at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from compendium.published import numbers as published
from compendium.simulation import design, gaussian, people
from compendium.simulation.model import TRAITS
from compendium.simulation.parts import USER_WORDS, texts, worker
from compendium.simulation.people import Chats, draw_chats
from judgebook.study.sections.data import Simulate

FILE = "techniques.csv"
CORPUS, SELF_CHATS, QUIZ = "extra_techniques", "extra_self_chats", "extra_quiz"
#: the quiz (Smith et al. 2022, Appendix A): pairs of answers, whose is better; the shares who pass at the first try,
#: and who fail, are chosen
QUIZ_PAIRS, BETTER, WORSE, QUIZ_FIRST, QUIZ_FAILED = 4, "human", "baseline", 0.85, 0.1
SYSTEMS = ("bb3b", "bb3b_m0", "bb90m", "reddit3b")
#: pairs by the name of the comparison; the first system is the one whose rate is printed
PAIRS = {"length": (0, 1), "size": (0, 2), "finetuning": (0, 3)}
#: question -> the trait of a dialogue that it asks for (chosen)
QUESTIONS = {"preference": "quality", "humanness": "consistent", "interestingness": "engaging"}
N_TURNS = 6
#: conversations per pair and question, or per system (Smith et al. 2022, section 4.1: 231, 324 and 68 ratings)
N_PAIRWISE, N_RATINGS, N_SINGLE = 39, 324, 68
#: conversations per system of which pairs are compared: people's (18² = 324, Appendix F) and self-chats (chosen)
N_REUSED = {CORPUS: 18, SELF_CHATS: 60}
#: mean minutes of a conversation or rating (section 4.1: 5.73, 6.03 and 4.39 hours)
MINUTES = {
    "pairwise_turn": 60 * 5.73 / (231 / 6),
    "pairwise_dialogue": 60 * 6.03 / 324,
    "single_turn": 60 * 4.39 / 68,
}
#: share of the signal in one mark, of a final rating in the conversation's marks; cuts of ratings 1 to 5 (chosen)
SIGNAL, RATING_SIGNAL, CUTS = (
    {"pairwise_turn": 0.2, "single_turn": 0.1, "pairwise_dialogue": 0.2},
    0.5,
    (-1.6, -1.0, -0.3, 0.5),
)
#: weight of a turn in the final rating (chosen; the paper's Figure 6 has no numbers)
WEIGHTS = np.arange(1.0, N_TURNS + 1)
#: largest leaning on a conversation
MOST_LEANING = 0.98
#: conversations of workers whose messages fail a check, and the word that stands for an offence (chosen)
FAULTY, OFFENCE = 0.05, "fiddlesticks"
COLUMNS = (
    "corpus", "annotator", "work_unit", "seconds", "completed_at", "system", "dialogue", "turn", "session",
    "dialogue_b", "system_b", "method", "label", "score", "user_text", "interactor", "reason",
)  # fmt: skip
#: words of reasons that say nothing, and the share of a reason's words that are terms of Table 7 (chosen)
FILLING, TERMS = ("it", "was", "more", "than", "the", "other", "which", "is", "what", "they", "have", "here"), 0.3


@dataclass(frozen=True)
class Marks:
    """How one system (or pair) is marked under one question: rates (turns,), correlation of y between turns."""

    rates: np.ndarray
    correlation: float

    def leaning(self, signal: float, between: float) -> float:
        """L, given g and the correlation of x between turns."""
        return float(np.clip((self.correlation - signal * between) / (1 - signal), 0.0, MOST_LEANING))


def between_turns(spec: Simulate, pairwise: bool) -> float:
    """Correlation of the true values of two turns: within a dialogue, or of differences within a session."""
    b = design.TURN_BETWEEN
    if not pairwise:
        return b
    of_dialogue = b * (1 - spec.interactor_share)  # what the person brings is in both dialogues
    return of_dialogue / (of_dialogue + 1 - b)


@cache
def _printed(element: str) -> pd.Series:
    frame = published.load("smith2022", element)
    return frame.set_index(["panel", "row", "column"])["value"]


@cache
def pairwise_turn(spec: Simulate, pair: str, question: str) -> Marks:
    """Marks for the first system of a pair by turn: Table 4, and winner-takes-all of turns 2 to 6 as in Table 1."""
    rates = _by_turn("Table 4", pair, question)
    aim = _printed("Table 1")[pair, question, "pw_turn_t2_6_wta"] / 100
    return _calibrated(rates, 1, 3, aim, "pairwise_turn", between_turns(spec, pairwise=True), N_PAIRWISE)


@cache
def single_turn(spec: Simulate, system: str, question: str) -> Marks:
    """Marks for a system by turn: Table 5, and half or more of turns 3 to 6 as in Table 2."""
    rates = _by_turn("Table 5", system, question)
    aim = _printed("Table 2")[system, question, "sm_turn_t3_6_wta"] / 100
    return _calibrated(rates, 2, 2, aim, "single_turn", between_turns(spec, pairwise=False), N_SINGLE)


def _by_turn(element: str, panel: str, question: str) -> np.ndarray:
    return np.array([_printed(element)[panel, question, f"turn_{t + 1}"] for t in range(N_TURNS)]) / 100


def _calibrated(rates: np.ndarray, first: int, needed: int, aim: float, method: str, between: float, n: int) -> Marks:
    g = SIGNAL[method]
    low, high = g * between, g * between + (1 - g) * MOST_LEANING
    return Marks(rates, gaussian.correlation(rates[first:], needed, aim, low, high, n))


def rating(system: str, question: str) -> float:
    """Mean final rating of a system (Table 2)."""
    return float(_printed("Table 2")[system, question, "sm_dialog"])


def pairwise_dialogue(corpus: str, pair: str, question: str) -> float:
    """Share of whole conversations in which the first system of a pair is chosen (Table 3)."""
    column = "pw_dialog_self" if corpus == SELF_CHATS else "pw_dialog_human"
    return float(_printed("Table 3")[pair, question, column]) / 100


def table(spec: Simulate, rng: np.random.Generator) -> pd.DataFrame:
    """All judgements, one per row, with the columns of COLUMNS; turns count from 1.

    Each method and corpus draws from a stream of its own.
    """
    streams = rng.spawn(6)
    parts = [
        _with_reasons(_pairwise_turns(spec, streams[0]), streams[4]),
        _pairwise_dialogues(spec, CORPUS, streams[1]),
        _pairwise_dialogues(spec, SELF_CHATS, streams[2]),
        _single(spec, streams[3]),
        _quiz(spec, streams[5]),
    ]
    return once(pd.concat(parts, ignore_index=True)[list(COLUMNS)], ["user_text"])


def _with_reasons(rows: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Choices between answers with a reason each: words of Table 7 for the chosen system, of higher ranks more often,
    among FILLING."""
    table7 = pd.read_csv(published.FOLDER / "smith2022_table07.csv")
    terms = {key: part.sort_values("rank")["term"].to_numpy() for key, part in table7.groupby(["comparison", "model"])}
    pair_of = {SYSTEMS[b]: pair for pair, (_, b) in PAIRS.items()}
    chosen = rows["system"].where(rows["score"] > 0, rows["system_b"])
    reasons = []
    for pair, system in zip(rows["system_b"].map(pair_of), chosen, strict=True):
        listed, n = terms[pair, system], 1 + rng.poisson(_printed("Table 6")[pair, system, "mean_words"] - 1)
        weight = 1 / np.arange(1, len(listed) + 1)
        filling = rng.choice(FILLING, n)
        words = np.where(rng.random(n) < TERMS, rng.choice(listed, n, p=weight / weight.sum()), filling)
        words[1:2] = filling[1:2]  # no reason consists of terms only: a page that lists terms must not quote one
        reasons.append(" ".join(words))
    return rows.assign(reason=reasons)


def _quiz(spec: Simulate, rng: np.random.Generator) -> pd.DataFrame:
    """The quiz of Appendix A before comparing answers: who talked passed it in two tries, others failed both."""
    n = 2 * size(spec, N_PAIRWISE) + _n_faulty(size(spec, N_PAIRWISE))
    failed, rows = max(1, round(QUIZ_FAILED * n)), []
    for who in range(n + failed):
        passes, question = who < n, list(QUESTIONS)[who % len(QUESTIONS)]
        tries = [True] if passes and rng.random() < QUIZ_FIRST else [False, passes]
        for k, right in enumerate(tries, start=1):
            wrong = np.arange(QUIZ_PAIRS) == (-1 if right else rng.integers(QUIZ_PAIRS))
            item = f"quiz-{question}-{k}"
            row = {"annotator": worker("talk", who), "work_unit": f"{item}-{who + 1:03d}", "session": item}
            row |= {"dialogue": f"{item}/{BETTER}", "dialogue_b": f"{item}/{WORSE}", "label": question}
            rows += [row | {"turn": t + 1, "score": -1 if bad else 1} for t, bad in enumerate(wrong)]
    return pd.DataFrame(rows).assign(corpus=QUIZ, method="pairwise_turn", system=BETTER, system_b=WORSE)


def once(rows: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """`rows` with texts in the first row of a turn only: readers take them from there."""
    again = rows.duplicated(["dialogue", "turn"])
    return rows.assign(**{c: rows[c].mask(again) for c in columns})


def size(spec: Simulate, n: int) -> int:
    return max(4, round(n * spec.parts_size))


def _draw(spec: Simulate, systems: np.ndarray, who: np.ndarray, rng: np.random.Generator) -> Chats:
    """Two dialogues per session; systems : (sessions, 2) positions in SYSTEMS."""
    return draw_chats(spec, people.Sessions(systems, who, np.zeros(len(who), dtype=int)), rng)


def _truths(chats: Chats, dialogues: np.ndarray, trait: str) -> np.ndarray:
    """(dialogues, N_TURNS) true values of the first turns."""
    rows = chats.start[dialogues][:, None] + np.arange(N_TURNS)
    return chats.turns[rows, TRAITS.index(trait)]


def _marks(
    marks: Sequence[Marks], x: np.ndarray, signal: float, between: float, rng: np.random.Generator
) -> np.ndarray:
    """(conversations, turns) values y without m; marks : one per conversation."""
    leaning = np.array([m.leaning(signal, between) for m in marks])[:, None]
    noise = np.sqrt(leaning) * rng.standard_normal((len(x), 1)) + np.sqrt(1 - leaning) * rng.standard_normal(x.shape)
    return np.sqrt(signal) * x + np.sqrt(1 - signal) * noise


def _above(y: np.ndarray, marks: Sequence[Marks]) -> np.ndarray:
    return y + np.stack([gaussian.threshold(m.rates) for m in marks]) > 0


def _pairwise_turns(spec: Simulate, rng: np.random.Generator) -> pd.DataFrame:
    """Every worker talks once per pair and question, and chooses between two answers at every turn."""
    n, bad = size(spec, N_PAIRWISE), _n_faulty(size(spec, N_PAIRWISE))
    cells = [(pair, question) for pair in PAIRS for question in QUESTIONS]
    between, signal = between_turns(spec, pairwise=True), SIGNAL["pairwise_turn"]
    who = np.concatenate([rng.permutation(2 * n)[:n].tolist() + list(range(2 * n, 2 * n + bad)) for _ in cells])
    cell = np.repeat(np.arange(len(cells)), n + bad)
    chats = _draw(spec, np.array([PAIRS[cells[i][0]] for i in cell]), who, rng)
    messages, seconds = _messages(who, 2 * n, rng), _seconds("pairwise_turn", who, rng)
    dates, out = _dates(len(who), rng), []
    for i, (pair, question) in enumerate(cells):
        rows = np.flatnonzero(cell == i)
        first, second = (_truths(chats, 2 * rows + side, QUESTIONS[question]) for side in (0, 1))
        b = design.TURN_BETWEEN
        x = (first - second) / np.sqrt(2 * (b * (1 - spec.interactor_share) + 1 - b))
        marks = [pairwise_turn(spec, pair, question)] * len(rows)
        won = _above(_marks(marks, x, signal, between, rng), marks)
        won[who[rows] >= 2 * n] = rng.random((int((who[rows] >= 2 * n).sum()), N_TURNS)) < 0.5
        ids = [f"pw-{pair}-{question}-{k + 1:03d}" for k in range(len(rows))]
        a, b_ = (SYSTEMS[s] for s in PAIRS[pair])
        turns: dict[str, object] = {
            "corpus": CORPUS,
            "method": "pairwise_turn",
            "label": question,
            "system": a,
            "system_b": b_,
        }
        turns |= _conversations(ids, [worker("talk", w) for w in who[rows]], seconds[rows], dates[rows], messages[rows])
        frame = pd.DataFrame(turns).assign(score=np.where(won, 1, -1).ravel())
        out.append(frame.assign(dialogue=frame["session"] + "/" + a, dialogue_b=frame["session"] + "/" + b_))
    return pd.concat(out)


def _conversations(
    ids: list[str], workers: list[str], seconds: np.ndarray, dates: np.ndarray, messages: np.ndarray
) -> dict[str, object]:
    """Columns of conversations, one row per turn."""
    each: dict[str, list[str] | np.ndarray] = {
        "work_unit": ids,
        "session": ids,
        "annotator": workers,
        "interactor": workers,
        "seconds": seconds,
        "completed_at": dates,
    }
    repeated = {name: np.repeat(np.asarray(values, dtype=object), N_TURNS) for name, values in each.items()}
    return repeated | {"turn": np.tile(np.arange(1, N_TURNS + 1), len(ids)), "user_text": messages.ravel()}


def _pairwise_dialogues(spec: Simulate, corpus: str, rng: np.random.Generator) -> pd.DataFrame:
    """Pairs of finished conversations, each pair judged once; a worker judges one per pair of systems and question.

    The number of ratings is that of pairs of conversations, at most N_RATINGS.
    """
    n = size(spec, N_REUSED[corpus])
    # dialogue 2 k of these chats is made by SYSTEMS[0], 2 k + 1 by the other system of the pair
    kind, signal, out = "people" if corpus == CORPUS else "self", SIGNAL["pairwise_dialogue"], []
    n_ratings = min(size(spec, N_RATINGS), n * n)
    for pair, (a, b) in PAIRS.items():
        chats = _draw(spec, np.tile([a, b], (n, 1)), np.arange(n), rng)
        for question, trait in QUESTIONS.items():
            left, right = np.divmod(rng.permutation(n * n)[:n_ratings], n)
            true = chats.traits[:, TRAITS.index(trait)]
            x = (true[2 * left] - true[2 * right + 1]) / np.sqrt(2)
            y = np.sqrt(signal) * x + np.sqrt(1 - signal) * rng.standard_normal(n_ratings)
            won = y + gaussian.threshold(pairwise_dialogue(corpus, pair, question)) > 0
            who = rng.permutation(n_ratings)
            units = [f"pd-{kind}-{pair}-{question}-{k + 1:03d}" for k in range(n_ratings)]
            frame = pd.DataFrame({"work_unit": units, "annotator": [worker("judge", w) for w in who]})
            frame["dialogue"] = [f"{kind}-{pair}-{SYSTEMS[a]}-{k + 1:03d}" for k in left]
            frame["dialogue_b"] = [f"{kind}-{pair}-{SYSTEMS[b]}-{k + 1:03d}" for k in right]
            frame["seconds"], frame["completed_at"] = _seconds("pairwise_dialogue", who, rng), _dates(len(who), rng)
            frame = frame.assign(system=SYSTEMS[a], system_b=SYSTEMS[b], label=question)
            out.append(frame.assign(score=np.where(won, 1, -1)))
    return pd.concat(out).assign(corpus=corpus, method="pairwise_dialogue")


def _single(spec: Simulate, rng: np.random.Generator) -> pd.DataFrame:
    """Conversations with one system, every answer marked under three questions, and rated at the end.

    A worker talks once to each of two systems.
    """
    n = 2 * (size(spec, N_SINGLE) // 2)
    bad = _n_faulty(n)
    splits = np.array([pair for split in design.SPLITS[:2] for pair in split])
    systems = np.concatenate([np.tile(splits, (n // 2, 1)), splits[np.arange(bad) % len(splits)]])
    sessions = np.arange(len(systems))
    who, faulty = np.repeat(sessions, 2), np.repeat(sessions >= len(systems) - bad, 2)
    chats = _draw(spec, systems, sessions, rng)
    order = np.argsort(chats.system, kind="stable")
    ids = [f"sm-{SYSTEMS[chats.system[d]]}-{d + 1:04d}" for d in order]
    messages = _messages(np.where(faulty, 1, 0)[order], 1, rng)
    shared = _conversations(
        ids, [worker("talk-single", w) for w in who[order]], _seconds("single_turn", who, rng)[order],
        _dates(len(order), rng), messages,
    )  # fmt: skip
    system = [SYSTEMS[chats.system[d]] for d in order]
    base = pd.DataFrame(shared).assign(system=np.repeat(system, N_TURNS), dialogue=lambda f: f["session"])
    out = []
    for question, trait in QUESTIONS.items():
        turns, final = _single_scores(spec, chats, order, question, trait, faulty[order], rng)
        out.append(base.assign(method="single_turn", label=question, score=turns.ravel()))
        ends = base.iloc[::N_TURNS].assign(method="single_dialogue", label=question, score=final)
        out.append(ends.assign(turn=pd.NA, user_text=None))
    return pd.concat(out).assign(corpus=CORPUS)


def _single_scores(
    spec: Simulate,
    chats: Chats,
    order: np.ndarray,
    question: str,
    trait: str,
    faulty: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Marks (conversations, turns) and final ratings under one question; those of faulty workers are random."""
    between, signal = between_turns(spec, pairwise=False), SIGNAL["single_turn"]
    marks = [single_turn(spec, SYSTEMS[chats.system[d]], question) for d in order]
    y = _marks(marks, _truths(chats, order, trait), signal, between, rng)
    turns = _above(y, marks).astype(int)
    c = np.array([signal * between + (1 - signal) * m.leaning(signal, between) for m in marks])
    spread = np.sqrt((1 - c) * np.sum(WEIGHTS**2) + c * np.sum(WEIGHTS) ** 2)
    overall = np.sqrt(RATING_SIGNAL) * (y @ WEIGHTS) / spread
    overall = overall + np.sqrt(1 - RATING_SIGNAL) * rng.standard_normal(len(order))
    place = {s: gaussian.location(rating(s, question), np.array(CUTS)) for s in SYSTEMS}
    final = 1 + np.searchsorted(CUTS, overall + np.array([place[SYSTEMS[chats.system[d]]] for d in order]))
    turns[faulty] = rng.integers(0, 2, (int(faulty.sum()), N_TURNS))
    final[faulty] = rng.integers(1, 6, int(faulty.sum()))
    return turns, final


def _n_faulty(n: int) -> int:
    return max(1, round(FAULTY * n))


def _messages(who: np.ndarray, first_faulty: int, rng: np.random.Generator) -> np.ndarray:
    """(conversations, turns) messages: a fixed greeting, then what the person typed. Faulty people, numbered from
    `first_faulty`, fail one of the checks of Appendix B in turn."""
    typed = texts(len(who) * N_TURNS, USER_WORDS, rng)
    out = np.array(typed, dtype=object).reshape(len(who), N_TURNS)
    out[:, 0] = "Hi!"
    for k, row in enumerate(np.flatnonzero(who >= first_faulty)):
        out[row, 1:] = _FAULTS[k % len(_FAULTS)](out[row, 1:])
    return out


_FAULTS = (
    lambda m: ["Yes."] * (len(m) - 1) + ["I see."],
    lambda m: [f"Hello! {m[0]}", *m[1:]],
    lambda m: [text.upper() for text in m],
    lambda m: [m[0], *m[1:-1], m[0]],
    lambda m: [*m[:-1], f"Oh {OFFENCE}, {m[-1]}"],
)


def _seconds(method: str, who: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Seconds whose mean, but for units left open, is that of section 4.1."""
    median = MINUTES[method] / np.exp(np.sum(np.square(design.DURATION_SD)) / 2)
    return people.seconds(median, who, rng)


def _dates(n: int, rng: np.random.Generator) -> np.ndarray:
    """When work was finished: within four weeks, between 9 and 18 o'clock (section 3.2). The year is 2001."""
    day, second = rng.integers(0, 28, n), rng.integers(9 * 3600, 18 * 3600, n)
    moment = np.datetime64("2001-02-01T00:00:00") + day.astype("timedelta64[D]") + second.astype("timedelta64[s]")
    return np.array([str(t).replace("T", " ") for t in moment], dtype=object)
