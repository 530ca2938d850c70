"""Columns whose names follow one pattern: labels by annotators, or labels with something in common."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace

import pandas as pd

from judgebook.extras.new import readings
from judgebook.extras.new.asking.doubts import Answer
from judgebook.extras.new.columns import Guess
from judgebook.extras.new.judged.words import answered, in_rows
from judgebook.extras.new.roles import role_of
from judgebook.extras.new.words import A_SYSTEM, ASPECT, is_prose, looks_like_model

_RATER = r"(?:(?:annotator|annotation|ann|an|a|rater|rating|r|worker|w|judge|j|coder|c|human|h|pos|p)[ _-]?)?[0-9]+"
#: columns such as `fluency_a1`, `a1.fluency` or `fluency1`
_GRIDS = [(f"{{label}}{s}{{annotator}}", re.compile(f"(?P<label>.+?){re.escape(s)}{_RATER}", re.I)) for s in "_.-: "]
_GRIDS += [(f"{{annotator}}{s}{{label}}", re.compile(f"{_RATER}{re.escape(s)}(?P<label>.+)", re.I)) for s in "_.-: "]
_GRIDS += [("{label}{annotator}", re.compile("(?P<label>.*[a-z])[0-9]+", re.I))]


def shared(texts: list[str]) -> str:
    """What all texts begin with."""
    n = next((i for i, letters in enumerate(zip(*texts, strict=False)) if len(set(letters)) > 1), min(map(len, texts)))
    return texts[0][:n]


def named_alike(columns: list[str]) -> tuple[str, dict[str, str]]:
    """The pattern of columns whose names differ in the label only (`Rate it [fluency]`); else the names themselves."""
    names = {c: c for c in columns}
    if len(columns) < 2 or any("{" in c or "}" in c for c in columns):
        return "{label}", names
    left = shared(columns)
    right = shared([c[len(left) :][::-1] for c in columns])[::-1]
    left = re.sub(r"[^\W_]+$", "", left)
    right = re.sub(r"^[^\W_]+", "", right)
    inner = {c: c[len(left) : len(c) - len(right)] for c in columns}
    if not (left or right) or not all(re.match(r"[^\W\d]", i) for i in inner.values()):
        return "{label}", names
    return f"{left}{{label}}{right}", inner


def turns(columns: list[str]) -> tuple[str, dict[str, str], int] | None:
    """The pattern of columns such as `turn1_fluency`, column -> label, and the first turn; None where there is none."""
    for pattern in (r"(?P<a>.*?turn[ _]?)(?P<turn>[0-9]+)(?P<b>[ _.:-]+)(?P<label>\D+)",
                    r"(?P<label>\D+?)(?P<b>[ _.:-]+)(?P<a>turn[ _]?)(?P<turn>[0-9]+)"):  # fmt: skip
        matches = {c: m for c in columns if (m := re.fullmatch(pattern, c, re.I))}
        if len(matches) < len(columns) or len({(m["a"], m["b"]) for m in matches.values()}) != 1:
            continue
        numbers = {int(m["turn"]) for m in matches.values()}
        if len(numbers) > 1 and min(numbers) in (0, 1):
            m = next(iter(matches.values()))
            at = m["a"] + "{turn}"
            scores = at + m["b"] + "{label}" if m.start("a") < m.start("label") else "{label}" + m["b"] + at
            return scores, {c: m["label"] for c, m in matches.items()}, min(numbers)
    return None


@dataclass(frozen=True)
class Crossing:
    """Columns named for every label of every one of something else. scores : their pattern, in which {annotator} is the
    other. of, others : column -> label, and what it is of. texts : label -> its question, where names have a code.
    sure : whether it is plain which part is the label. second : whether the second is."""

    scores: str
    of: dict[str, str]
    others: dict[str, str]
    texts: dict[str, str]
    sure: bool
    second: bool

    def of_other(self, name: str) -> str:
        """The pattern where the other is known by this name."""
        return self.scores.replace("{annotator}", f"{{{name}}}")


#: what divides the two names of a column, and what ends it; nothing between a number and a letter
_DIVIDERS = ((" [", "]"), ("[", "]"), *((s, "") for s in (": ", " - ", " | ", *"_.-: ", "")))
#: a code before the text of a question, as in exports of surveys; what the text says in brackets
_CODED = re.compile(r"([^\s.:]+)([.:] )(.+)", re.DOTALL)
_BRACKETS = re.compile(r".*\[([^][]+)\]", re.DOTALL)
#: names that only count
_COUNTED = re.compile(r"[A-Za-z]|[^\W\d_]*[0-9]+")
#: codes of questions
_ASKED = re.compile(r"(s?q|question|dim(ension)?|crit(erion)?|aspect)[ _-]?[0-9]+", re.I)


def named_grid(
    columns: list[str], second: bool | None = None, *, most: bool = False, numbered: bool = False
) -> Crossing | None:
    """As `grid`, for people, models and items by name: every label by every one of them. `Question [row]`, `R1Q2`, and
    `R1Q2. Question`, too.

    second : whether the second part of a name is the label, where somebody said it. most : whether some columns may be
    of something else. numbered : whether a number at the end may be the other part, as in `clear1`.
    """
    coded = {c: m for c in columns if (m := _CODED.fullmatch(c))}
    if len(coded) * (1 + most) >= len(columns) > 0 and len({m[2] for m in coded.values()}) == 1:
        names = {m[1]: m[3] for m in coded.values()}
        if len(names) == len(coded) and (found := _crossed(names, second, most, numbered)):
            coded = {c: m for c, m in coded.items() if m[1] in found.of}
            rest = next(iter(coded.values()))[2]
            of, others = ({c: held[m[1]] for c, m in coded.items()} for held in (found.of, found.others))
            return replace(found, scores=f"{found.scores}{rest}{{text}}", of=of, others=others)
    return _crossed(dict.fromkeys(columns, ""), second, most, numbered)


def _crossed(names: dict[str, str], second: bool | None, most: bool, numbered: bool) -> Crossing | None:
    """The crossing of names, with the text of each where there is one."""
    for s, end in (*_DIVIDERS, *([("", "number")] if numbered else [])):
        pairs = {c: pair for c in names if (pair := _divided(c, s, end))}
        if most:
            often = [Counter(p[i] for p in pairs.values()) for i in (0, 1)]
            pairs = {c: p for c, p in pairs.items() if all(often[i][p[i]] > 1 for i in (0, 1))}
        if len(pairs) * (1 + most) < len(names) or len(pairs) < 4:
            continue
        sides = [{p[i] for p in pairs.values()} for i in (0, 1)]
        aspects, models, numbers, asked, counted = (
            [sum(map(bool, map(is_one, side))) / len(side) for side in sides]
            for is_one in (ASPECT.search, looks_like_model, str.isdecimal, _ASKED.fullmatch, _COUNTED.fullmatch)
        )
        end = "" if end == "number" else end
        one = end and s != "[" and len(sides[0]) == 1 and aspects[0] > aspects[1]
        if (min(map(len, sides)) < 2 and not one) or len(pairs) < len(sides[0]) * len(sides[1]):
            continue
        # what was asked is the same text for a label, whatever it was asked about
        texts = [_texts(names, {c: pair[i] for c, pair in pairs.items()}) for i in (0, 1)]
        # a number is no label; what names an aspect of quality is one, and a model or a letter is none
        points = [(bool(texts[i]), -numbers[i], aspects[i], asked[i], -models[i], -counted[i]) for i in (0, 1)]
        label = int(points[1] > points[0] or (not s and points[1] == points[0])) if second is None else int(second)
        both = ("{label}", "{annotator}") if label == 0 else ("{annotator}", "{label}")
        of, others = ({c: pair[i] for c, pair in pairs.items()} for i in (label, 1 - label))
        sure = points[0] != points[1] or second is not None
        return Crossing(s.join(both) + end, of, others, texts[label], sure, bool(label))
    return None


def _divided(name: str, divider: str, end: str) -> tuple[str, str] | None:
    """The two parts of a name; where nothing divides them, at the last letter that follows a digit."""
    if not divider:
        form = r"(.*[^\W\d])([0-9]+)" if end else r"(.*[0-9])([^\W\d_]+[0-9]*)"
        return (m[1], m[2]) if (m := re.fullmatch(form, name)) else None
    left, _, right = name.removesuffix(end).rpartition(divider)
    return (left, right) if left and right and name.endswith(end) else None


def _texts(names: dict[str, str], of: dict[str, str]) -> dict[str, str]:
    """The text of each part, or what it has in brackets at its end, where no part has several; none where all have
    the same."""
    for tell in (str, lambda text: m[1] if (m := _BRACKETS.fullmatch(text)) else ""):
        held = {(part, tell(names[column])) for column, part in of.items()}
        texts = dict(held)
        if len(held) == len(texts) and "" not in texts.values() and len(set(texts.values())) > 1:
            return texts
    return {}


def each_a_person(out: Guess, cells: pd.DataFrame, named: Crossing) -> None:
    """Take each row of a grid for a person, where its id is called so or each label has a question of its own."""
    who, item = out.columns.get("annotator"), out.columns.get("dialogue", "{row}")
    if who in cells and cells[who].nunique() == len(cells) and "dialogue" in out.why:
        out.columns.pop("dialogue", None)  # a fact about the person
    if who or (item in cells and cells[item].nunique() < len(cells)):
        return
    known = item in cells and readings.named("dialogue", item) > 0
    person = bool(named.texts) or (item in cells and readings.named("annotator", item) > 0)
    person = out.answers.get("each row", "person" if person else "item") == "person"
    says = {True: "a person, and the columns name items", False: "an item, and the columns name people"}
    if person:
        out.columns.pop("dialogue", None)
        out.columns["annotator"] = item
        out.why["annotator"] = "each row is a person's"
    elif (grid([*named.of]) and (item not in cells or known)) or any(
        is_prose(cells[c]) for c in cells if c not in named.of
    ):
        return
    other = Answer(says[not person], given={"each row": "item" if person else "person"})
    out.ask("annotator: rows", "What is each row?", says[person], other)


def a_person_each(out: Guess, cells: pd.DataFrame, named: Crossing) -> bool:
    """Whether somebody says that each row is a person's, where columns beside a grid are not of it; asks them."""
    item = out.columns.get("dialogue")
    if item not in cells or cells[item].nunique() < len(cells) or any(is_prose(cells[c]) for c in cells):
        return False
    if "each row" not in out.answers:
        ways = [Answer("a person, and the columns name items", given={"each row": "person"})]
        out.ask("annotator: rows", "What is each row?", "an item, and each column a label", *ways)
    return out.answers.get("each row") == "person"


def ask_which(out: Guess, named: Crossing) -> None:
    """Ask which part of names is the label, where that is not plain."""
    shown, other = (", ".join([*dict.fromkeys(held.values())][:6]) for held in (named.of, named.others))
    way = Answer(other, given={"labels in names": "first" if named.second else "second"})
    if not named.sure:
        out.ask("label: columns", "Which part of the names of columns says what was judged?", shown, way)


def ask_if_items(out: Guess, named: Crossing) -> None:
    """Ask whether the numbers at the end of labels are those of items, where each row is a person's."""
    of, others = ([*dict.fromkeys(held.values())] for held in (named.of, named.others))
    ways = [(f"items {', '.join(others)}", "dialogue"), (f"systems {', '.join(others)}", "system")]
    shown = ", ".join([*named.of][:4])
    ways_ = [Answer(f"labels {', '.join(of)} of {x}", given={"grid of labels and": y}) for x, y in ways]
    out.ask("item: columns", f"What are the columns {shown}, …?", "each a label of one item", *ways_)


def of_items(out: Guess, cells: pd.DataFrame, named: Crossing, columns: list[str]) -> dict[str, str]:
    """The label of each column of a grid of labels and items, or systems, where each row is a person's.

    columns : those of scores, some of which may not be of the grid.
    """
    parts, names = ([*dict.fromkeys(held.values())] for held in (named.others, named.of))
    other = "system" if all(looks_like_model(x) or A_SYSTEM.fullmatch(x) for x in parts) else "dialogue"
    asked = bool(named.texts) or any(ASPECT.search(x) or _ASKED.fullmatch(x) for x in names)
    counted = len({re.sub("[0-9]+", "", x) for x in names}) == 1
    # what names no aspect of quality may name the systems that did the same, or what each of them did
    if not asked and (other == "dialogue" or counted):
        other = "items and systems" if other == "dialogue" else "systems and items"
    other = out.answers.get("grid of labels and", other)
    label, part = {"items and systems": ("system", "dialogue"), "systems and items": ("dialogue", "system")}.get(
        other, ("label", other)
    )
    out.scores, out.repeated = named.of_other(part).replace("{label}", f"{{{label}}}"), [f"{{{part}}}"]
    out.identify = ["{system}"] if other == "system" else []
    if other == "dialogue" and "system" in out.columns:  # each person met one of several systems
        out.context, out.identify = ["{dialogue}"], ["{dialogue}", out.columns["system"]]
    if label != "label":
        out.one_label, out.repeated = "score", ["{dialogue}"]
        out.context, out.identify = ["{dialogue}"], ["{dialogue}", "{system}"]
    out.called = dict(zip(named.texts, named_alike([*named.texts.values()])[1].values(), strict=True))
    out.why["scores"] = "the columns form a grid of dialogues and labels"
    labels = [re.escape(label) for label in set(named.of.values())]
    form = re.escape(named.scores).replace(re.escape("{annotator}"), "(.+?)").replace(re.escape("{text}"), ".+")
    what = ".+" if label != "label" else f"(?:{'|'.join(labels)})"
    fits = re.compile(form.replace(re.escape("{label}"), what), re.DOTALL)
    if beside := sorted({m[1] for c in cells if c not in named.of and (m := fits.fullmatch(c))} - {*parts}):
        out.drop[f"{{{part}}}"] = beside
    says = {"dialogue": "items of one system", "system": "systems", "nothing": "of questions about one item"}
    listed = ", ".join(names[:6])
    crossed = {"items and systems": f"items, of systems {listed}", "systems and items": f"systems, of items {listed}"}
    says = says | crossed if asked else crossed | says
    ways = [Answer(says[x], given={"grid of labels and": x}) for x in says if x != other]
    text = f"What are {', '.join(parts[:6])}{', …' * (len(parts) > 6)} in the names of columns?"
    out.ask("system: columns", text, says[other], *ways)
    for column in (c for c in columns if c not in named.of):
        how = Answer("a judgement: add a source for it (docs/own_data.md)")
        out.ask(f"label {column}", f"What is {column!r}?", "said of the person, and left out", how)
    if label == "label":
        ask_which(out, named)
    return dict.fromkeys(named.of, out.one_label) if out.one_label else named.of


def grid(columns: list[str]) -> tuple[str, dict[str, str]] | None:
    """The pattern of columns such as `fluency_a1`, and column -> label; None where there is none."""
    for pattern, regex in _GRIDS:
        matches = {c: m["label"] for c in columns if (m := regex.fullmatch(c))}
        many = {i for i, n in Counter(matches.values()).items() if n >= 2}
        if matches and set(matches.values()) == many and len(matches) * 2 > len(columns):
            return pattern, matches
    return None


def others(out: Guess, cells: pd.DataFrame, of: dict[str, str]) -> None:
    """Labels of a grid that were answered in words, in columns whose names follow its pattern."""
    scores = str(out.scores)
    other = next((p for p in ("{annotator}", "{system}") if p in scores and "{label}" in scores), None)
    if other is None:
        return
    of_label = {label: _pattern(scores.replace("{label}", label), other) for label in of.values()}
    parts = {m[1] for c, label in of.items() if (m := of_label[label].fullmatch(c))}
    of_part = [_pattern(scores.replace(other, part), "{label}") for part in parts]
    labels: dict[str, list[str]] = {}
    read = {c for c, label in of.items() if label in out.labels}
    for column in cells.columns.difference([*out.columns.values(), *read, *out.metrics], sort=False):
        for pattern in of_part:
            if m := pattern.fullmatch(column):
                labels.setdefault(m[1], []).append(column)
    for label, columns in labels.items():
        held = pd.concat([cells[c] for c in columns], ignore_index=True)
        free = len(columns) > 1 and label not in out.labels and role_of(label) is None and not is_prose(held)
        if free and answered(out, held, label):
            in_rows(out, label, held.to_frame(label))
            out.score_columns += [c for c in columns if c not in out.score_columns]
            for column in columns:
                out.unused.pop(column, None)
        elif free:
            how = Answer("a label: declare it (docs/own_data.md)")
            out.ask(f"label {label}", f"Do {', '.join(columns)} hold judgements?", "no, they are left out", how)


def _pattern(scores: str, name: str) -> re.Pattern[str]:
    return re.compile(re.escape(scores).replace(re.escape(name), "(.+)"))
