"""Comparisons whose winner is coded in any way, and files that only look so."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable
from typing import Any

from doors.kinds import Kind, released
from doors.made import text_of
from doors.reading import Judgement

SYSTEMS = ("base7b", "tuned_7b", "rl")
PEOPLE = ("p1", "p2", "p3", "p4")
_GOOD = {"base7b": 0.2, "tuned_7b": 0.5, "rl": 0.8}


def votes(n_items: int = 24, labels: Iterable[str] = ("winner",), ties: float = 0.15, seed: int = 1) -> list[Judgement]:
    """Two people judge each pair of an item; 1 where the first won."""
    pick, rows = random.Random(seed), []
    for i in range(n_items):
        one, other = pick.sample(SYSTEMS, 2)
        for k in (i, i + 1 + i % 3):
            for label in labels:
                better = _GOOD[one] - _GOOD[other] + pick.uniform(-0.6, 0.6)
                score = 0 if pick.random() < ties else 1 if better > 0 else -1
                rows.append(Judgement(f"q{i:02d}", one, PEOPLE[k % 4], label, score, other))
    return rows


def _by_pair(truth: list[Judgement]) -> dict[tuple, dict[str, Judgement]]:
    rows: dict[tuple, dict[str, Judgement]] = {}
    for r in truth:
        rows.setdefault((r.item, r.system, r.other, r.annotator), {})[r.label] = r
    return rows


def table(
    truth: list[Judgement], words: Any, head: Iterable[str] = ("item", "model_a", "model_b", "worker")
) -> list[list]:
    """A row per vote, a column per label. words : what stands for a score, or a function of the judgement."""
    labels = list(dict.fromkeys(r.label for r in truth))
    say = words if callable(words) else lambda r: words[int(r.score)]
    rows = [[*key, *(say(held[x]) for x in labels)] for key, held in _by_pair(truth).items()]
    return [[*head, *labels], *rows]


def csv(name: str, rows: list[list], truth: list[Judgement], **more: Any) -> Kind:
    return Kind(name, {"votes.csv": text_of(rows)}, truth, **more)


def by_name(tie: str):
    return lambda r: {1: r.system, -1: r.other, 0: tie}[int(r.score)]


#: how files say who won: 1 for the first, -1 for the second, 0 for a tie
CODES: dict[str, dict[int, Any]] = {
    "1, 2, 1.5": {1: 1, -1: 2, 0: 1.5},
    "1, 2, 0": {1: 1, -1: 2, 0: 0},
    "0, 1, 2": {1: 0, -1: 1, 0: 2},
    "1, 0, -1": {1: 1, -1: -1, 0: 0},
    "1, 0, 0.5": {1: 1, -1: 0, 0: 0.5},
    "Sentence A": {1: "Sentence A", -1: "Sentence B", 0: "Neither"},
    "Response B": {1: "Response A", -1: "Response B", 0: "Tie"},
    "first": {1: "first", -1: "second", 0: "both"},
    "response_0": {1: "response_0", -1: "response_1", 0: "tie"},
    "model_1": {1: "model_1", -1: "model_2", 0: "tie (both bad)"},
    "Summary 2": {1: "Summary 1", -1: "Summary 2", 0: "equally good"},
    "A better than B": {1: "A is better than B", -1: "B is better than A", 0: "No difference"},
    "with numbers": {1: "1 - A is better", -1: "3 - B is better", 0: "2 - about the same"},
    "another tie": {1: "A", -1: "B", 0: "Unentschieden"},
}


def _codes() -> Iterable[Kind]:
    truth = votes()
    for name, words in CODES.items():
        yield csv(name, table(truth, words), truth)
        rows = [
            {**dict(zip(("id", "generator_1", "generator_2", "annotator", "winner"), r, strict=True))}
            for r in table(truth, words)[1:]
        ]
        yield Kind(f"{name}, JSON", {"votes.json": json.dumps(rows)}, truth)
    decided = [r for r in truth if r.score]
    kinds = {1: ("both_good", "both_bad"), 0: ("both good", "both bad")}
    for k, (good, bad) in kinds.items():
        say = lambda r, g=good, b=bad: {1: "left", -1: "right", 0: g if r.annotator < "p3" else b}[int(r.score)]  # noqa: E731
        yield csv(f"two kinds of ties {k}", table(truth, say, ("question_id", "left", "right", "voter")), truth)
    # what only somebody who knows can say: the second answer offered
    for name, words, choice in (
        ("2 the first", {1: 2, -1: 1, 0: 1.5}, "the second by 1"),
        ("0 the first", {1: 0, -1: 1, 0: 2}, "the first by 0"),
        ("true the second", {1: "false", -1: "true"}, "the second by true"),
        ("1 the second", {1: 0, -1: 1}, "the second by 1"),
    ):
        some = truth if 0 in words else decided
        yield csv(f"asked: {name}", table(some, words), some, answer=("Which side do ", choice))
    steps = {1: (1, 2), -1: (5, 4), 0: (3, 3)}
    yield csv("scale from side to side", table(truth, lambda r: steps[int(r.score)][r.annotator < "p3"]), truth)
    yield csv("degrees", table(truth, lambda r: int(r.score) * (1 + 2 * (r.annotator < "p3"))), truth)
    words = {1: ("A is much better", "A is slightly better"), -1: ("B is much better", "B is better"), 0: ("Same",) * 2}
    yield csv("degrees in words", table(truth, lambda r: words[int(r.score)][r.annotator < "p3"]), truth)


def _names() -> Iterable[Kind]:
    labels = ("plot", "style", "overall")
    truth = votes(labels=labels)
    yield csv("by name", table(truth, by_name("same")), truth)
    yield csv("by name, c1 to c7", [[f"c{i + 1}" for i in range(7)], *table(truth, by_name("same"))[1:]],
              [r._replace(label=f"c{labels.index(r.label) + 5}") for r in truth])  # fmt: skip
    once = votes(40, labels)[::1]
    once = [r for r in once if (r.item, r.annotator) == next((x.item, x.annotator) for x in once if x.item == r.item)]
    nobody = [r._replace(annotator=None) for r in once]
    for between in (",", ", ", " vs ", "|", "/", ";"):
        rows = [["prompt", "options", *labels]]
        rows += [[r[0], r[1] + between + r[2], *r[4:]] for r in table(once, by_name("same"))[1:]]
        yield csv(f"pair in a cell {between!r}", rows, nobody)
    sides = [
        ["options", "prompt", *labels],
        *([f"{r[1]},{r[2]}", r[0], *r[4:]] for r in table(once, {1: "A", -1: "B", 0: "tie"})[1:]),
    ]
    yield csv("pair in a cell, sides", sides, nobody)
    for won, lost in (("winner", "loser"), ("winning_model", "losing_model"), ("chosen model", "rejected model")):
        some = [r._replace(label="better") for r in votes(ties=0)]
        rows = [["prompt", "rater", won, lost]]
        rows += [[r.item, r.annotator, *((r.system, r.other) if r.score > 0 else (r.other, r.system))] for r in some]
        yield csv(f"{won} and {lost}", rows, some)
    by_label = votes(labels=("fluency", "adequacy"))
    rows = [["segment", "sys1", "sys2", "criterion", "rater", "preference"]]
    rows += [[r.item, r.system, r.other, r.label, r.annotator, by_name("tie")(r)] for r in by_label]
    yield csv("a row per criterion, by name", rows, by_label)
    rows = [
        rows[0],
        *(
            [*r[:5], {1: "first", -1: "second", 0: "tie"}[int(j.score)]]
            for r, j in zip(rows[1:], by_label, strict=True)
        ),
    ]
    yield csv("a row per criterion, by side", rows, by_label)


def _raters() -> Iterable[Kind]:
    pick, systems = random.Random(3), ("human_a", "mt")
    for name, words in (
        ("by name", None), ("by side", {1: "A", -1: "B", 0: "tie"}), ("numbers", {1: 1, -1: 2, 0: 0}),
    ):  # fmt: skip
        truth, rows = (
            [],
            [["seg", "A_origin", "B_origin", *(f"{x}_rater{k}" for x in ("fluency", "adequacy") for k in (1, 2, 3))]],
        )
        for i in range(30):
            pair = pick.sample(systems, 2)
            row = [f"s{i}", *pair]
            for label in ("fluency", "adequacy"):
                for k in (1, 2, 3):
                    score = pick.choice((1, 1, -1, -1, 0))
                    judged = Judgement(f"s{i}", pair[0], f"rater{k}", label, score, pair[1])
                    truth.append(judged)
                    row.append(words[score] if words else by_name("tie")(judged))
            rows.append(row)
        yield csv(f"a column per rater, {name}", rows, truth)
        one = [r._replace(label="better") for r in truth if r.label == "fluency"]
        head = ["seg", "A_origin", "B_origin", "rater1", "rater2", "rater3"]
        yield csv(f"a column per rater alone, {name}", [head, *(r[:6] for r in rows[1:])], one)


def _mturk() -> Iterable[Kind]:
    truth = votes(labels=("Selection",))
    for name, words in (
        ("Sentence A", {1: "Sentence A", -1: "Sentence B", 0: "Neither"}), ("A", {1: "A", -1: "B", 0: "tie"}),
        ("1", {1: 1, -1: 2, 0: 0}),
    ):  # fmt: skip
        pick = random.Random(5)
        head = "HITId AssignmentId WorkerId WorkTimeInSeconds Input.id Input.model1 Input.model2 Input.sentence1"
        rows = [f"{head} Input.sentence2 Input.verb_tense Input.pronoun Answer.Selection.label".split()]
        for n, r in enumerate(truth):
            tense, pronoun = ("past", "present")[int(r.item[1:]) % 2], ("he", "she", "they")[int(r.item[1:]) % 3]
            texts = [f"A sentence by {s} of what {r.item} is about" for s in (r.system, r.other)]
            rows.append([f"H{r.item}", f"A{n:03d}", r.annotator, pick.randint(5, 90), r.item, r.system, r.other, *texts,
                         tense, pronoun, words[int(r.score)]])  # fmt: skip
        yield csv(f"MTurk, {name}", rows, [r._replace(label="selection") for r in truth])


def _texts() -> Iterable[Kind]:
    for first, second, (one, other, tie) in (
        ("response_1", "response_2", ("1", "2", "0")),
        ("output_a", "output_b", ("output_a", "output_b", "tie")),
        ("Response A", "Response B", ("A", "B", "Both")),
        ("answer1", "answer2", ("answer1", "answer2", "same")),
        ("summary_left", "summary_right", ("left", "right", "equal")),
    ):
        words = {1: one, -1: other, 0: tie}
        truth = [r._replace(system=first, other=second, label="preference") for r in votes()]
        rows = [["id", first, second, "annotator", "preference"]]
        rows += [[r.item, *(f"The {side} text about what {r.item} asks for" for side in ("one", "other")), r.annotator,
                  words[int(r.score)]] for r in truth]  # fmt: skip
        yield csv(f"texts {first}", rows, truth)


def _orders() -> Iterable[Kind]:
    """The same judge sees each pair from both sides, or again."""
    pick = random.Random(8)
    for who in ("gpt-4", "kim"):
        for say in (lambda r: {1: "A", -1: "B", 0: "tie"}[int(r.score)], by_name("tie")):
            truth = []
            for i in range(30):
                one, other = pick.sample(SYSTEMS, 2)
                score = pick.choice((1, -1))
                truth += [Judgement(f"q{i}", one, who, "verdict", score, other)]
                truth += [Judgement(f"q{i} again", other, who, "verdict", -score if i % 4 else score, one)]
            rows = [["prompt", "model_a", "model_b", "judge", "verdict"]]
            rows += [[r.item.split()[0], r.system, r.other, r.annotator, say(r)] for r in truth]
            yield csv(f"both orders, {who}, {rows[1][-1]}", rows, truth)
    for name, words in (("words", {1: "A", -1: "B", 0: "tie"}), ("numbers", {1: 1, -1: 2, 0: 0})):
        truth = votes(ties=0.2)
        truth = truth + [r._replace(item=f"{r.item} again", score=pick.choice((1, -1))) for r in truth[:10]]
        rows = [["prompt", "model_a", "model_b", "judge", "verdict"]]
        rows += [[r.item[:3], r.system, r.other, r.annotator, words[int(r.score)]] for r in truth]
        yield csv(f"again, {name}", rows, [r._replace(label="verdict") for r in truth])


def _nested() -> Iterable[Kind]:
    truth = votes()
    words = {1: "A", -1: "B", 0: "tie"}
    by_item: dict[str, list[Judgement]] = {}
    for r in truth:
        by_item.setdefault(r.item, []).append(r)

    def named(system: str) -> dict[str, str]:
        return {"model": system, "text": f"a text by {system}"}

    sides = {
        "two keys": lambda r: {"model_a": r.system, "model_b": r.other},
        "below a key": lambda r: {"models": {"a": r.system, "b": r.other}},
        "a list": lambda r: {"models": [r.system, r.other]},
        "objects": lambda r: {"response_a": named(r.system), "response_b": named(r.other)},
    }
    says = {
        "sides": lambda r: words[int(r.score)],
        "names": by_name("tie"),
        "numbers": lambda r: {1: 1, -1: 2, 0: 0}[int(r.score)],
    }
    for (name, pair), (coding, say) in itertools.product(sides.items(), says.items()):
        every = [
            {"id": i, **pair(many[0]), "votes": [{"annotator": r.annotator, "winner": say(r)} for r in many]}
            for i, many in by_item.items()
        ]
        yield Kind(f"nested: {name}, {coding}", {"votes.json": json.dumps(every)}, truth)
    keyed = [
        {"id": i, **sides["two keys"](many[0]), "votes": {r.annotator: words[int(r.score)] for r in many}}
        for i, many in by_item.items()
    ]
    yield Kind("nested: people as keys", {"votes.json": json.dumps(keyed)}, [r._replace(label="vote") for r in truth])
    for name, (pair, say) in {
        "a line per vote": (lambda r: {"pair": {"first": r.system, "second": r.other}}, says["sides"]),
        "a line per vote, a list": (sides["a list"], says["names"]),
    }.items():
        lines = [{"prompt_id": r.item, **pair(r), "judge": r.annotator, "winner": say(r)} for r in truth]
        yield Kind(f"nested: {name}", {"votes.jsonl": "".join(json.dumps(x) + "\n" for x in lines)}, truth)


def _sides_and_texts() -> Iterable[Kind]:
    """A line per vote: each side is an object with a system and its text, below a prompt that both answered."""
    truth = votes()
    for (one, other), (name, text), context, words in (
        (("a", "b"), ("from", "text"), "prompt", {1: "a", -1: "b", 0: "tie"}),
        (("left", "right"), ("model", "output"), "question", {1: "left", -1: "right", 0: "same"}),
        (("first", "second"), ("system", "reply"), "instruction", {1: "first", -1: "second", 0: "neither"}),
        (("output_1", "output_2"), ("source", "content"), "source_text", {1: "output_1", -1: "output_2", 0: "tie"}),
        (("x", "y"), ("name", "answer"), "input", {1: "X", -1: "Y", 0: "="}),
        (("response_a", "response_b"), ("by", "said"), "request", {1: "A", -1: "B", 0: "both"}),
    ):
        for nested in (False, True):
            rows: dict[str, dict[str, Any]] = {}
            lines = []
            for r in truth:
                row = {context: f"Write in a few words what {r.item} is about, please"}
                row |= {
                    k: {name: x, text: f"What {x} said of {r.item} in words"}
                    for k, x in ((one, r.system), (other, r.other))
                }
                lines.append({**row, "judge": r.annotator, "winner": words[int(r.score)]})
                rows.setdefault(r.item, {**row, "votes": {}})["votes"][r.annotator] = words[int(r.score)]
            held = [*rows.values()] if nested else lines
            case = f"sides and texts: {one}, {name}" + ", people as keys" * nested
            labelled = [r._replace(label="vote" if nested else "winner") for r in truth]
            yield Kind(case, {"votes.jsonl": "".join(json.dumps(x) + "\n" for x in held)}, labelled)


def _left_and_right() -> Iterable[Kind]:
    truth = votes()
    for name, head, words in (
        ("L, R, =", ("question", "left", "right", "who", "winner"), {1: "L", -1: "R", 0: "="}),
        ("l, r, tie", ("item", "left", "right", "annotator", "winner"), {1: "l", -1: "r", 0: "tie"}),
        ("1, 2, 0", ("id", "left", "right", "rater", "winner"), {1: 1, -1: 2, 0: 0}),
        ("signs", ("item", "model_a", "model_b", "worker", "winner"), {1: ">", -1: "<", 0: "="}),
        ("left_model", ("prompt", "left_model", "right_model", "judge", "winner"), {1: "L", -1: "R", 0: "draw"}),
        ("in German", ("frage", "links", "rechts", "rater", "winner"), {1: "L", -1: "R", 0: "="}),
        ("L>R", ("item", "system_l", "system_r", "voter", "winner"), {1: "L>R", -1: "L<R", 0: "L=R"}),
    ):
        yield csv(f"left and right: {name}", [[*head], *table(truth, words)[1:]], truth)


def _no_comparisons() -> Iterable[Kind]:
    """Two columns of things of one kind that are not compared."""
    pick = random.Random(4)
    truth, rows = [], [["id", "source_lang", "target_lang", "annotator", "adequacy"]]
    for i in range(24):
        one, other = pick.sample(("de", "en", "fr"), 2)
        for who in PEOPLE[:3]:
            score = pick.choice((1, 2, 2, 3, 4, 5))
            truth.append(Judgement(f"s{i}", "system", who, "adequacy", score))
            rows.append([f"s{i}", one, other, who, score])
    yield csv("no comparison: languages", rows, truth)
    low = [r._replace(score=1 + r.score % 2) for r in truth]
    yield csv(
        "no comparison: languages, 1 or 2",
        [rows[0], *([*r[:4], int(j.score)] for r, j in zip(rows[1:], low, strict=True))],
        low,
    )


def cases() -> list[Kind]:
    made = [
        _codes,
        _names,
        _raters,
        _mturk,
        _texts,
        _orders,
        _nested,
        _sides_and_texts,
        _left_and_right,
        _no_comparisons,
    ]
    return [*(case for some in made for case in some()), *_released()]


def _released() -> Iterable[Kind]:
    """The files of the bug reports that are of this kind: systems, people, labels, judgements."""
    yield released("both_good_both_bad.csv", systems=3, people=4, labels={"vote": 30}, items=30)
    yield released(
        "pair_in_cell_winner_by_name.csv",
        systems=3,
        people=None,
        labels={"plot": 40, "style": 40, "overall": 40},
        items=40,
    )
    yield released("preference_1_2_half.json", systems=3, people=5, labels={"preference": 30}, items=30)
