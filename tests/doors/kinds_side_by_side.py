"""Systems side by side in a row, ranked or with the best and the worst chosen; votes beside what most of them say."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

from doors.kinds import Kind
from doors.made import text_of
from doors.reading import Judgement

TERMS = ("calm", "furious", "glad", "bored", "proud", "gloomy", "merry", "tense")


def _csv(name: str, rows: list[list], truth: list[Judgement], **more: Any) -> Kind:
    return Kind(name, {"answers.csv": text_of(rows)}, truth, **more)


def _best_worst() -> Iterable[Kind]:
    """Each tuple of terms is judged by two of the people."""
    for name, head, (best, worst), k, by, where in (
        ("item1 to item4", "item", ("best", "worst"), 4, "text", "annotator"),
        ("term1 to term5", "term", ("most_positive", "least_positive"), 5, "text", "annot"),
        ("phrase_a to phrase_d, letters", "phrase_", ("Best", "Worst"), 4, "letter", "worker"),
        ("word1 to word4, places", "word", ("best", "worst"), 4, "place", "who"),
        ("option1 to option3", "option", ("best", "worst"), 3, "column", "rater_id"),
        ("in German", "wort", ("am_besten", "am_wenigsten"), 4, "text", "person"),
        ("no id of the tuple", "item", ("best", "worst"), 4, "text", "annotator"),
        ("an id that is a number", "item", ("best", "worst"), 4, "text", "annot"),
    ):
        pick, rows, truth = random.Random(len(name)), [], []
        places = "abcde"[:k] if head.endswith("_") else "12345"[:k]
        for i in range(14):
            shown = pick.sample(TERMS, k)
            for person in pick.sample(("ines", "omar", "pia"), 2):
                one, other = pick.sample(range(k), 2)
                says = {
                    "text": shown, "place": places, "column": [head + p for p in places],
                    "letter": [p.upper() for p in places],
                }[by]  # fmt: skip
                rows.append([f"t{i}" if "number" not in name else i + 1, *shown, person, says[one], says[other]])
                label = "positive" if "positive" in best else "best_worst"
                score = {one: 1, other: -1}
                truth += [Judgement(f"t{i}", s, person, label, score.get(j, 0)) for j, s in enumerate(shown)]
        table = [["tuple", *(head + p for p in places), where, best, worst], *rows]
        answer = ("Who judged?", f"the column {where!r}")  # where its name does not say it
        rows = [r[1:] for r in table] if "no id" in name else table
        yield _csv(f"best and worst: {name}", rows, truth, answer=answer)


def _ranks() -> Iterable[Kind]:
    for name, head, systems, more in (
        ("four systems", ("annotator", "passage"), ("copynet", "rankgan", "seq2seq", "gold"), ()),
        ("three systems", ("rater", "doc_id"), ("base", "tuned", "ours"), ()),
        ("five systems", ("worker", "item"), ("s1x", "s2y", "s3z", "s4q", "s5r"), ()),
        ("upper case", ("Judge", "Sentence"), ("RNN", "LSTM", "Transformer", "Human"), ()),
        ("with a comment", ("who", "prompt_id"), ("gpt", "t5", "bart"), ("comment",)),
        ("with ratings", ("annotator", "id"), ("alpha", "beta", "gamma", "delta"), ("confidence",)),
    ):
        pick, rows, truth = random.Random(len(name)), [], []
        for i in range(10):
            for person in ("ab", "cd", "ef"):
                ranks = pick.sample(range(1, len(systems) + 1), len(systems))
                extra = {"comment": f"I liked one of {i} the most of all", "confidence": pick.randint(1, 5)}
                rows.append([person, i + 1, *ranks, *(extra[m] for m in more)])
                truth += [Judgement(f"{i}", s, person, "rank", r) for s, r in zip(systems, ranks, strict=True)]
        answer = ("Who judged?", f"the column {head[0]!r}")
        yield _csv(f"ranks: {name}", [[*head, *systems, *more], *rows], truth, answer=answer)


def _most(votes: list[Any]) -> Any:
    return Counter(votes).most_common(1)[0][0]


def _majorities() -> Iterable[Kind]:
    """Votes of people side by side, with a column that holds what most of them say."""
    for name, people, derived, answers in (
        ("majority", ("rater_1", "rater_2", "rater_3"), "majority", (1, 2, 3)),
        ("consensus", ("coder1", "coder2", "coder3", "coder4", "coder5"), "consensus", (0, 1)),
        ("final", ("expert_a", "expert_b", "expert_c"), "final", (1, 2, 3, 4, 5)),
        ("gold_label", ("annotator1", "annotator2", "annotator3"), "gold_label", (0, 1, 2)),
        ("majority_vote", ("judge1", "judge2", "judge3", "judge4"), "majority_vote", (1, 2, 3, 4)),
    ):
        pick, rows, truth = random.Random(len(name)), [], []
        for i in range(40):
            often = pick.choice(answers)
            votes = [often if pick.random() < 0.6 else pick.choice(answers) for _ in people]
            rows.append([f"s{i // 2}", ("gpt", "t5")[i % 2], *votes, _most(votes)])
            truth += [Judgement(f"s{i}", rows[-1][1], p, "score", v) for p, v in zip(people, votes, strict=True)]
        yield _csv(f"most: {name}", [["id", "model", *people, derived], *rows], truth)
    pick, rows, truth = random.Random(5), [], []
    for i in range(30):
        one, other = pick.sample(("base", "tuned", "ours"), 2)
        votes = [pick.choice((1, 1, -1, 0)) for _ in range(3)]
        say = [{1: "A", -1: "B", 0: "tie"}[v] for v in votes]
        rows.append([f"q{i}", one, other, *say, _most(say)])
        truth += [Judgement(f"q{i}", one, f"rater{k}", "better", v, other) for k, v in enumerate(votes)]
    yield _csv(
        "most: comparisons", [["q", "model_a", "model_b", "rater1", "rater2", "rater3", "majority"], *rows], truth
    )


def _assigned() -> Iterable[Kind]:
    """What each person saw of an item has a name that was drawn anew; the person says which column names systems."""
    for name, codes, columns in (
        ("left and right", ("left", "right"), ("listener", "shown_as", "voice", "utterance", "naturalness")),
        ("letters", ("A", "B", "C", "D"), ("rater", "letter", "voice", "sentence", "fluency")),
        ("colours", ("red", "green", "blue"), ("judge", "colour", "engine_used", "text_id", "quality")),
        ("half of them called human", ("human", "machine", "human"), ("who", "called", "voice", "clip", "mos")),
        ("X, Y, Z", ("X", "Y", "Z"), ("annotator", "blind_name", "source", "item", "clarity")),
    ):
        pick, rows, truth = random.Random(len(name)), [], []
        systems = ("taco", "vits", "glow", "fast")[: len(codes)]
        for person in ("p1", "p2", "p3", "p4", "p5"):
            for i in range(7):
                for system, code in zip(systems, pick.sample(codes, len(codes)), strict=True):
                    score = pick.randint(1, 5)
                    rows.append([person, code, system, f"u{i}", score])
                    truth.append(Judgement(f"u{i}", system, person, columns[4], score))
        answer = ("Which column", f"the column {columns[2]!r}")
        yield _csv(f"assigned: {name}", [[*columns], *rows], truth, answer=answer)


def _nested() -> Iterable[Kind]:
    """Items with what each system said, and below it what people said of that."""
    for name, (above, item, versions, system, text, reviews, who), labels, n in (
        (
            "stories",
            ("stories", "prompt_id", "versions", "source", "story", "reviews", "reviewer"),
            ("plot", "style"),
            7,
        ),
        ("no list above", ("", "prompt_id", "versions", "source", "text", "reviews", "reviewer"), ("plot", "style"), 9),
        ("docs", ("docs", "doc", "outputs", "engine", "output", "ratings", "judge"), ("fluency", "adequacy"), 8),
        (
            "articles",
            ("data", "article", "summaries", "made_by", "summary", "opinions", "person"),
            ("clear", "short"),
            12,
        ),
        ("one label", ("", "qid", "candidates", "name", "candidate", "marks", "marker"), ("grade",), 10),
        ("no texts", ("items", "id", "variants", "writer", "", "scores", "rater"), ("flow", "tone", "fun"), 6),
    ):
        pick, every, truth = random.Random(len(name)), [], []
        for i in range(n):
            of_item = []
            for made in ("human", "gpt3", "plan-write"):
                said = []
                for person in pick.sample(("r1", "r2", "r3", "r4"), 2):
                    scores = {label: pick.randint(1, 5) for label in labels}
                    said.append({who: person, **scores})
                    truth += [Judgement(f"{i}", made, person, x, v) for x, v in scores.items()]
                of_item.append(
                    {system: made, **({text: f"What {made} wrote of {i} in words"} if text else {}), reviews: said}
                )
            every.append({item: i, versions: of_item})
        yield Kind(f"nested: {name}", {"answers.json": json.dumps({above: every} if above else every)}, truth)


def cases() -> list[Kind]:
    return [case for some in (_best_worst, _ranks, _majorities, _assigned, _nested) for case in some()]
