"""What was understood of a study's data, in words: sizes, some judgements as sentences, and the columns not used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from judgebook.sources import build, sampling
from judgebook.sources.accounts import levels, words
from judgebook.sources.ids import look_alikes, naming
from judgebook.sources.nature import Nature, nature
from judgebook.sources.rows import spelling
from judgebook.study import params
from judgebook.study.labels import Label
from judgebook.study.problems import shortened
from judgebook.study.schema import ITEM

#: items of a label below which intervals are wide
_FEW = 30
_PLURAL = {"system": "systems", "corpus": "corpora", "group": "groups", "label": "labels"}


def sentences(study: params.Study, built: build.Built) -> list[str]:
    """Judgements as sentences, with the ids of the source but pseudonyms of people: for the terminal, not for pages."""
    labels = {(label.method, label.id): label for label in study.label_list()}
    marks, rows = built.seen, list(built.own_ids.itertuples(index=False, name=None))
    people = {own: new for kind, new, own in rows if kind == "person"}
    marks = marks.assign(annotator=[people.get(who, who) for who in marks["annotator"]])
    within = naming.Names.of(rows).within
    several = len(set(marks["file"])) > 1 or len(study.sources) > 1
    called = _called(marks["file"])
    return [
        ", ".join([*([called[row.file]] if several else []), shortened(row.where)])
        + f": {_who(row)} {naming.shown(_what(row, labels, within))}"
        for row in marks.itertuples()
    ]


def _called(files: Iterable[str]) -> dict[str, str]:
    """Files -> their names, with the folders where these tell them apart."""
    names = Counter(Path(file).name for file in dict.fromkeys(files))
    return {file: Path(file).name if names[Path(file).name] == 1 else file for file in files}


def directions(study: params.Study, marks: pd.DataFrame) -> list[str]:
    """Which judged labels count as good when high, which as bad, which as neither; first those of which nobody said."""
    judged = set(marks[["method", "label"]].drop_duplicates().itertuples(index=False, name=None))
    labels = [x for x in study.label_list() if (x.method, x.id) in judged and not x.unordered]
    kinds = {
        "direction not known": [x for x in labels if not x.direction_declared],
        "counted as good when high": [x for x in labels if x.direction == 1],
        "bad when high": [x for x in labels if x.direction == -1],
        "neither good nor bad": [x for x in labels if x.direction == 0 and x.direction_declared],
    }
    hint = " (they enter no headline; write `direction: 1`, `-1` or `0` under labels)"
    return [
        f"{kind}: {', '.join(dict.fromkeys(x.id for x in of_kind))}" + (hint if kind == "direction not known" else "")
        for kind, of_kind in kinds.items()
        if of_kind
    ]


def _who(row: Any) -> str:
    if row.annotator_kind != "human":
        kind = {"llm": "language model", "classifier": "classifier"}.get(row.annotator_kind, "model")
        return f"the {kind} {row.annotator}"
    if not row.annotator_known:
        return f"an unknown person (place {int(str(row.annotator).removeprefix('pos')) + 1})"
    return f"annotator {row.annotator}"


def _what(row: Any, labels: dict, within: Callable[[str], str]) -> str:
    label = labels.get((row.method, row.label))
    score = pd.to_numeric(row.score, errors="coerce")
    if pd.notna(row.dialogue_b):
        outcome = {1: "the first won", 0: "a tie", -1: "the second won"}.get(score, f"{score:g}")
        return f"compared {_judged(row, within)} with {_judged(row, within, '_b')} for {row.label}: {outcome}"
    if label is not None and label.categories and pd.notna(score):
        if label.level == "sets":
            said = ", ".join(repr(word) for i, word in enumerate(label.categories) if int(score) >> i & 1)
            return f"judged {_judged(row, within)}, {row.label} {said}"
        return f"judged {_judged(row, within)}, {row.label} {label.categories[int(score - label.scale[0])]!r}"
    scale = f" of {label.scale[0]:g}–{label.scale[1]:g}" if label is not None else ""
    return f"judged {_judged(row, within)}, {row.label} {score:g}{scale}"


def _judged(row: Any, within: Callable[[str], str], side: str = "") -> str:
    system = getattr(row, f"system{side}")
    turn = f"turn {row.turn:g} of " if pd.notna(row.turn) and not side else ""
    of = f" of system {system}" if pd.notna(system) and system != "system" else ""
    return f"{turn}dialogue {within(getattr(row, f'dialogue{side}'))}{of}"


def not_used(unused: dict[str, dict[str, pd.Series]]) -> list[str]:
    """Every column that nothing in the YAML names, and why it may be left out; what may be judgements comes first."""
    lines, called = [], _called(unused)
    for file, columns in unused.items():
        kinds = {column: nature(column, cells) for column, cells in columns.items()}
        missed = {c: k for c, k in kinds.items() if k.judged}
        if missed:
            lines.append(f"warning: {called[file]}: columns that may be judgements and are not used:")
            lines += [f"  {column}: {use.says}" for column, use in missed.items()]
        rest = {c: k for c, k in kinds.items() if not k.judged}
        if rest:
            lines.append(f"not used from {called[file]}:")
            lines += [f"  {_listed(names)}: {says}" for says, names in _alike(rest).items()]
    return lines


def _alike(kinds: dict[str, Nature]) -> dict[str, list[str]]:
    """What is said of columns -> the columns; those of one kind together where no example is lost that matters."""
    out: dict[str, list[str]] = {}
    counts = Counter(k.kind for k in kinds.values())
    for column, use in kinds.items():
        says = use.says if counts[use.kind] == 1 else use.says.partition(":")[0]
        out.setdefault(says, []).append(column)
    return out


def _listed(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 12 else f"{', '.join(names[:10])} and {len(names) - 10} more"


def counted(n: int, what: str) -> str:
    """`1 item`, `2 items`."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def judges(marks: pd.DataFrame) -> str:
    """How many people and models judged; where people are only positions, how many of these there are."""
    each = marks.drop_duplicates("annotator")
    human, known = each["annotator_kind"] == "human", each["annotator_known"].astype(bool)
    n_people, n_positions, n_models = (int(rows.sum()) for rows in (human & known, human & ~known, ~human))
    out = [counted(n_people, "annotator")] if n_people else []
    out += [f"unknown people (up to {n_positions} per item)"] if n_positions else []
    return " and ".join([*out, *([counted(n_models, "model")] if n_models else [])])


def _spellings(study: params.Study, built: build.Built) -> list[str]:
    """The YAML that would merge names which differ in spelling only, for the terminal: with ids of the source."""
    own = {new: own for kind, new, own in built.own_ids.itertuples(index=False, name=None) if kind == "person"}
    marks = built.frames["annotations"]
    rules = spelling.proposed(study, marks.assign(annotator=marks["annotator"].replace(own)))
    asks = "question: names that differ only in case, blanks, hyphens or look-alike letters: if they are one, write"
    return [asks, f"  {spelling.written(rules)}"] if rules else []


def _namesakes(study: params.Study, marks: pd.DataFrame) -> list[str]:
    """Systems, corpora, groups and labels that the YAML gives one name: pages tell them apart by their ids."""
    shown = {"group": {key: group.title or key for key, group in study.groups.items()}}
    shown |= {"system": study.systems, "corpus": study.corpora}
    kinds = [(kind, {id_: titles.get(id_, id_) for id_ in marks[kind].unique()}) for kind, titles in shown.items()]
    titles = {(label.method, label.id): label.title for label in study.label_list(told_apart=False)}
    for method in dict.fromkeys(method for method, _ in titles):
        kinds.append(("label", {id_: title for (of, id_), title in titles.items() if of == method}))
    lines = []
    for kind, names in kinds:
        for ids in look_alikes.same_names(names):
            one = f"if they are one, write `{spelling.written({kind: {ids[0]: ids[1:]}})}`, else "
            lines.append(
                f"question: the {_PLURAL[kind]} {' and '.join(map(spelling.scalar, ids))} have one name, "
                f"{names[ids[0]]!r}, and pages add their ids: {one if kind == 'system' else ''}give each its own"
            )
    return lines


def _twins(dialogues: Iterable[str]) -> list[str]:
    """Ids of dialogues that differ in nothing that a reader sees: their judgements are not put together."""
    same = look_alikes.twins(dialogues)
    if not same:
        return []
    n, shown = counted(len(same), "dialogue"), " and ".join(map(spelling.scalar, same[0][:3]))
    return [f"warning: {n} may have several ids, which differ only in case or look-alike letters, such as {shown}"]


def _unnamed(study: params.Study, systems: list[str]) -> list[str]:
    """What no column of the data names, and what that means."""
    columns = [getattr(source, "columns", {}) for source in study.sources]
    out = ["nothing names the system: all dialogues count as one system's"] if list(systems) == ["system"] else []
    rows = any(c.get("dialogue") == "{row}" for c in columns)
    return [*out, "nothing names the dialogue: each row is treated as a separate dialogue"] if rows else out


def _summary(label: Label | None, scores: pd.Series) -> str:
    """What all scores are, how often each answer was given where these have no order, or the mean."""
    if label is not None and label.unordered:
        words = _answers(label, scores)
        return ", ".join(f"{word}: {n:,}" for word, n in words.most_common(4)) + (", …" if len(words) > 4 else "")
    return levels.alike(label, scores) or f"mean {scores.mean():.2f}"


def _answers(label: Label, scores: pd.Series) -> Counter[str]:
    """How often each answer was given; of sets of answers, in how many sets it is."""
    out: Counter[str] = Counter()
    if not label.categories:
        return Counter({f"{code:g}": int(n) for code, n in scores.value_counts().sort_index().items()})
    for score, n in scores.value_counts(sort=False).items():
        code = int(score)
        given = [i for i in range(len(label.categories)) if code >> i & 1]
        for i in given if label.level == "sets" else [code - int(label.scale[0])]:
            out[label.categories[i]] += int(n)
    return out


def describe(study: params.Study, built: build.Built | None = None) -> list[str]:
    """What a study's data contain, one line per fact: sizes, labels with their scores, what was mended and dropped."""
    built = built or build.build(study)
    marks = built.frames["annotations"]
    sizes = built.profile
    lines = [
        f"{counted(sizes['n_annotations'], 'annotation')} of {counted(sizes['n_items'], 'item')} in "
        f"{counted(sizes['n_dialogues'], 'dialogue')} of {counted(len(sizes['systems']), 'system')} "
        f"by {judges(marks)}"
    ]
    titles = {(label.method, label.id): label for label in study.label_list()}
    lines += directions(study, marks)
    scores = marks[["method", "label", "score"]].assign(item=marks.groupby(ITEM, dropna=False, sort=False).ngroup())
    for (method, label), rows in scores.groupby(["method", "label"], sort=False):
        items = rows["item"].nunique()
        low, high = rows["score"].min(), rows["score"].max()
        scale = titles[method, label].scale if (method, label) in titles else (low, high)
        lines.append(
            f"{method} {label}: {counted(len(rows), 'score')} of {counted(items, 'item')}, {low:g} to {high:g} on a "
            f"scale from {scale[0]:g} to {scale[1]:g}, {_summary(titles.get((method, label)), rows['score'])}"
        )
        lines += levels.doubts(titles[method, label], rows["score"]) if (method, label) in titles else []
        if items < _FEW:
            lines.append(f"warning: only {counted(items, 'item')} for {label}: intervals will be wide and imprecise")
    if drawn := sizes["sampling"]:
        ends = f"{drawn['low']:.3g} to {drawn['high']:.3g} (design effect {drawn['design_effect']:.2f})"
        lines.append(f"dialogues have sampling weights from {ends}, by `{'`, `'.join(drawn['by'])}`")
    counts = built.frames["counts"]
    lines += words.sentences(counts, len(marks.drop_duplicates(["method", "label"])))
    not_drawn = counts[(counts["what"] == sampling.NOT_USED) & (counts["action"] == "dropped")]
    lines += [f"warning: not used from {row.file}: {row.reason}" for row in not_drawn.itertuples()]
    lines += [*_spellings(study, built), *_namesakes(study, marks), *_twins(marks["dialogue"].unique())]
    lines += [f"note: {note}" for note in [*built.notes, *_unnamed(study, sizes["systems"])]]
    lines += ["how the data are understood:", *(f"  {said}" for said in sentences(study, built))]
    return lines + not_used(built.unused)
