"""Responses to the same dialogue histories, rated by several people (USR: Mehri & Eskenazi 2020, arXiv 2005.00456).

A file is a list of histories, `{context, annotators: [ids], responses: [{response, model, <criterion>: [ratings]}]}`.
The ratings of a criterion stand in the order of `annotators`, which differs between histories: a place in the list is
not one person. A second file may repeat the records with additional numbers, the scores of automatic metrics.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from compendium.sources.adapters.options.usr import Usr
from compendium.sources.tables import lines
from judgebook.sources.files import read_json
from judgebook.sources.reading import Counts, OpenFile, Reading
from judgebook.sources.records import Checked, slug

_MARKS = ["annotator", "annotator_known", "system", "dialogue", "turn", "context", "label", "score", "where"]
_TEXTS = ["dialogue", "system", "context", "turn", "user_text", "system_text", "reference"]
_SCORES = ["dialogue", "turn", "metric", "score"]


def read(source: Usr, open_file: OpenFile) -> Reading:
    """One annotation per response, criterion and annotator; the system is the model, the context the history.

    A response is a dialogue of one turn, because a dialogue belongs to one system: `c007/<model>`. Its `user_text` is
    the whole history, an utterance per line. Annotations of an item stand in the order of its lists, so that places in
    them can be told; without `annotators` nothing else is known of who judged.
    """
    records = read_json(open_file(source.file), source.file, list)
    checked = Checked(source.file)
    marks: list[tuple] = []
    texts: list[tuple] = []
    for i, record in enumerate(records):
        _history(record, i, source, checked, marks, texts)
    scores: list[tuple] = []
    problems = checked.problems
    if source.scores:
        scored = read_json(open_file(source.scores), source.scores, list)
        problems = problems + _scores(scored, records, Checked(source.scores), scores)
    annotations = pd.DataFrame(marks, columns=_MARKS).assign(method="turn_rating", file=source.file)
    frames = {
        "annotations": annotations,
        "dialogues": pd.DataFrame(texts, columns=_TEXTS),
        "metric_scores": pd.DataFrame(scores, columns=_SCORES),
    }
    frames = {name: frame.assign(corpus=source.corpus) for name, frame in frames.items()}
    counts, sizes = Counts(), {"contexts": len(records), "responses": len(texts), "annotations": len(marks)}
    counts.add_kept(source.file, source.corpus, **sizes)
    counts.add_kept(source.scores or source.file, source.corpus, metric_scores=len(scores))
    return Reading(**frames, counts=counts, problems=problems)


def _dialogue(i: int, model: str) -> str:
    return f"c{i:03d}/{model}"


def _named(response: dict) -> bool:
    return isinstance(response.get("model"), str)


def _history(record: Any, i: int, source: Usr, checked: Checked, marks: list, texts: list) -> None:
    """Add the ratings and texts of one history."""
    where = f"context {i}"
    history = checked.get(record, "context", str, where)
    responses = checked.get(record, "responses", list, where)
    if history is None or responses is None:
        return
    people = checked.get(record, "annotators", list, where) if "annotators" in record else None
    if people is not None:
        people = [checked.name(who, where, "annotators") for who in people]
    of = {r.get("model"): r.get("response") for r in responses if isinstance(r, dict) and _named(r)}
    reference = of.get(source.reference_system)
    seen: set[str] = set()
    for response in responses:
        model = checked.get(response, "model", str, where)
        text = checked.get(response, "response", str, where)
        if model is None or text is None:
            continue
        if model in seen:
            hint = "give them different models, or delete one"
            checked.report(where, "model", "one response per model", f"a second one by {model!r}", hint)
            continue
        seen.add(model)
        dialogue, context, place = _dialogue(i, model), f"c{i:03d}", f"{where}, {model}"
        is_reference = model == source.reference_system
        gold = lines(reference) if isinstance(reference, str) and not is_reference else None
        texts.append((dialogue, model, context, 0, lines(history), lines(text), gold))
        for label, ratings in response.items():
            if not isinstance(ratings, list):
                continue
            if people is not None and len(ratings) != len(people):
                checked.report(place, label, f"{len(people)} ratings, one per annotator", f"{len(ratings)}")
                continue
            ids = people if people is not None else [f"pos{k}" for k in range(len(ratings))]
            for who, score in zip(ids, ratings, strict=True):
                marks.append((who, people is not None, model, dialogue, 0, context, slug(label), score, place))


def _scores(scored: list, records: list, checked: Checked, scores: list) -> list:
    """Add the automatic scores; report records that are not those of the file of ratings."""
    if len(scored) != len(records):
        checked.report("", "", f"the {len(records)} contexts of the ratings", f"{len(scored)}")
        return checked.problems
    for i, (record, rated) in enumerate(zip(scored, records, strict=True)):
        where = f"context {i}"
        responses = checked.get(record, "responses", list, where) or []
        known = rated.get("responses") if isinstance(rated, dict) else None
        known = known if isinstance(known, list) else []  # reported with the ratings
        known = {r.get("model"): r for r in known if isinstance(r, dict) and _named(r)}
        for response in responses:
            model = checked.get(response, "model", str, where)
            if model is None:
                continue
            same = known.get(model)
            if same is None or any(response.get(key) != value for key, value in same.items()):
                hint = "both files must hold the same responses and ratings"
                checked.report(f"{where}, {model}", "", "the record of the file of ratings", "another one", hint)
                continue
            for metric, value in response.items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    scores.append((_dialogue(i, model), 0, slug(metric), float(value)))
    return checked.problems
