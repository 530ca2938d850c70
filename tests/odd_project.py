"""A simulated project, large enough for every notebook, with the oddities of the platform's files strewn over it."""

import numpy as np

from helpers import simulate
from helpers.sections import Simulate

SPEC = Simulate(n_sessions=30, n_interactors=8, n_surge=8)


def project(seed=5):
    """An ABC-Eval project file with every part of the format and its odd cases in many places."""
    made, _ = simulate.project(SPEC, np.random.default_rng(seed))
    surge = made["surge_evaluation"]
    dialogues = list(surge["dialogues"].values())
    for part in ("surge_evaluation", "student_evaluation", "expert_evaluation", "dialogue_collection"):
        untimed(made[part])
    for dialogue in dialogues[::6]:
        third(surge, dialogue)
    for dialogue in dialogues[::5]:
        one_side(dialogue, surge["dialogues"])
    for dialogue in dialogues[::4]:
        text_scores(dialogue)
    for dialogue in dialogues[::7]:
        missing(dialogue)
    nobody = [u for u in surge["work_units"].values() if u["task"] == "uninterpretable"][::9]
    for unit in nobody:
        unit["worker_id"] = "{{user_id}}"
    made["annotation_pilots_onboarding"][0] = None
    made["annotation_pilots"].append(None)
    empty = {"dialogues": None, "work_units": None}
    return made | {"extra_unused": None, "mturk_evaluation": empty, "student_gold_units": {}}


def untimed(evaluation):
    """Units without a time, a date or the times of their parts, in the ways the platform leaves them out."""
    for i, unit in enumerate(evaluation["work_units"].values()):
        if i % 5 == 0:
            unit["time_to_complete_sec"] = (None, -1.0)[i % 2]
        if i % 7 == 0:
            unit["completion_date"] = ("", None)[i % 2]
        if i % 3 == 0 and unit["subtask_durations"]:
            unit["subtask_durations"] = (None, unit["subtask_durations"] | {"second_likert": -1.0})[i % 2]


def lists(dialogue):
    """All lists of annotations of a dialogue: {label: [annotation]} of its turns and of the whole."""
    for turn in dialogue["turns"]:
        yield turn["behavior_annotations"]
        yield turn["likert_annotations"]
    yield dialogue["likert_annotations"]


def third(evaluation, dialogue):
    """One more worker judges everything once more, where there are judgements; some of the units are unknown."""
    new = {"id": f"third-{dialogue['dialogue_id']}", "worker_id": "sim-worker-third", "task": "all", "labels": []}
    new |= {"time_to_complete_sec": 60.0, "dialogue_ids": [dialogue["dialogue_id"]], "subtask_durations": None}
    evaluation["work_units"][new["id"]] = new | {"completion_date": "05-14-2001 17:10:14"}
    for by_label in lists(dialogue):
        for i, (label, given) in enumerate(by_label.items()):
            unit = "not-in-the-file" if i == 7 else new["id"]
            given.append({"work_unit_id": unit, "label": label, "score": given[0]["score"]})


def one_side(dialogue, dialogues):
    """The comparisons of a dialogue stay with the other one only."""
    others = {a["dialogue_compared_to_id"] for v in dialogue["comparative_annotations"].values() for a in v}
    if all(dialogues[other]["comparative_annotations"] for other in others):
        dialogue["comparative_annotations"] = None


def text_scores(dialogue):
    """Scores as the external students' file has them."""
    for by_label in lists(dialogue):
        for given in by_label.values():
            for annotation in given:
                annotation["score"] = str(annotation["score"])


def missing(dialogue):
    """No name of the system, a turn without marks, a label without any, one without a score, a turn without text."""
    dialogue["bot"] = None
    first, second, *_ = dialogue["turns"]
    first |= {"behavior_annotations": None, "bot_turn": None}
    second["likert_annotations"]["quality"] = []
    second["likert_annotations"]["relevant"][0]["score"] = None
    dialogue["likert_annotations"]["emotional"] = None
