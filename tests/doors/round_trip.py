"""A study drawn, saved, and read again by `new` with the answers of somebody who knows it."""

from __future__ import annotations

import random
from pathlib import Path

from doors import reading
from doors.answering import ask
from doors.layouts import Saved, save
from doors.reading import Judgement, Reading
from doors.studies import Study, drawn
from judgebook.study import params


def trip(pick: random.Random, folder: Path) -> tuple[Study, Saved, Reading]:
    """The study, how it was saved, and what became of it."""
    study = drawn(pick)
    saved = save(study, folder, pick)

    def truth(read: params.Study) -> list[Judgement]:
        return _as_read(study.judgements(), saved, read)

    return study, saved, reading.read(saved.path, truth, ask=ask(study, saved))


def _as_read(rows: list[Judgement], saved: Saved, read: params.Study) -> list[Judgement]:
    """Judgements with the ids of labels and the numbers of answers that a YAML gives them."""
    ids = {name: id_ for source in read.sources for name, id_ in source.label_names.items()}
    labels = {x.id: x for x in read.label_list()}
    unnamed = None if saved.names_label or len(labels) != 1 else next(iter(labels))

    def one(r: Judgement) -> Judgement:
        id_ = unnamed or ids.get(r.label, r.label)
        answers = labels[id_].categories if id_ in labels else ()
        place = {word: labels[id_].scale[0] + i for i, word in enumerate(answers)}
        return r._replace(label=id_, score=place.get(r.score, r.score))

    return [one(r) for r in rows]
