"""A hand-made ABC-Eval project of a few dialogues that uses every part of the format, with its odd cases."""


def unit(id_, worker, dialogues, task="likert", labels=(), seconds=60.0, date="01-31-2022 12:30:00", parts=None):
    return {
        "id": id_,
        "worker_id": worker,
        "time_to_complete_sec": seconds,
        "task": task,
        "labels": list(labels),
        "dialogue_ids": list(dialogues),
        "subtask_durations": parts,
        "completion_date": date,
    }


def mark(unit_id, label, score):
    return {"work_unit_id": unit_id, "label": label, "score": score}


def compared(unit_id, label, score, other, bot, bot_b):
    return {**mark(unit_id, label, score), "dialogue_compared_to_id": other, "bot": bot, "bot_compared_to": bot_b}


def turn(user, bot, behavior=None, likert=None):
    return {"user_turn": user, "bot_turn": bot, "likert_annotations": likert, "behavior_annotations": behavior}


def dialogue(id_, bot, turns=None, likert=None, comparative=None, **more):
    return {
        "dialogue_id": id_,
        "bot": bot,
        "comparative_annotations": comparative,
        "likert_annotations": likert,
        "turns": turns,
        **more,
    }


def evaluation(dialogues, units):
    return {"dialogues": {d["dialogue_id"]: d for d in dialogues}, "work_units": {u["id"]: u for u in units}}


A, B = "(1,7)_emora", "(1,7)_blender2_3B"
TEXTS = [("hi", "hello"), ("how are you", "fine")]


def collection():
    """Two chats of one interactor, rated by them; parts of the unit are timed, one was not measured."""
    parts = {"first_bot": 300.0, "second_bot": 280.0, "first_likert": 30.0, "second_likert": -1.0, "comparative": 20.0}
    turns = [turn(u, s) for u, s in TEXTS]
    first = dialogue(A, "emora", turns, {"quality": [mark("c1", "quality", 4)]})
    first["comparative_annotations"] = {"quality": [compared("c1", "quality", 1, B, "emora", "blender2_3B")]}
    second = dialogue(B, "blender2_3B", turns, {"quality": [mark("c1", "quality", 3)]})
    second["comparative_annotations"] = {"quality": [compared("c1", "quality", -1, A, "blender2_3B", "emora")]}
    return evaluation([first, second], [unit("c1", "alice", [B, A], "interaction", parts=parts, seconds=700.0)])


def surge():
    """Behaviour marks (three of one item), turn Likert, string scores, a one-sided comparison, a template worker."""
    behavior = {"commonsense contradiction": [mark("s1", "commonsense contradiction", 1), mark("s2", "x", 0)]}
    behavior["commonsense contradiction"][1]["label"] = "commonsense contradiction"
    behavior["commonsense contradiction"].append(mark("s3", "commonsense contradiction", 1))
    behavior["Follow up"] = [mark("s4", "follow up", 1), mark("gone", "follow up", 0), mark("s1", "follow up", None)]
    turns = [turn("hi", None, behavior, {"Emotion Aware": [mark("s5", "emotional", "2")]}), turn(None, None, None, {})]
    first = dialogue(A, "emora", turns, {"quality": [mark("s6", "quality", "5"), mark("s7", "quality", "1")]})
    first["comparative_annotations"] = {"quality": [compared("s8", "quality", 0, B, "emora", "blender2_3B")]}
    second = dialogue(B, None, [], None, {})
    second["comparative_annotations"] = {"relevant": [compared("s8", "relevant", 1, A, None, None)]}
    units = [
        unit("s1", "w1", [A], "behavior", ["contradict_commonsense"], date=""),
        unit("s2", "w2", [A], "behavior", ["contradict_commonsense"], seconds=None, date=None),
        unit("s3", "w3", [A], "behavior", ["contradict_commonsense"], seconds=-1.0),
        unit("s4", "{{user_id}}", [A], "behavior", ["followup"]),
        unit("s5", "w1", [A], "likert", ["Emotion Aware"]),
        unit("s6", "w1", [A], "likert", ["Quality"]),
        unit("s7", "w1", [A], "likert", ["Quality"]),
        unit("s8", "w2", [A, B], "comparative", ["Quality", "Relevant"]),
    ]
    return evaluation([first, second], units)


def onboarding(worker):
    """Three attempts on two training dialogues: mistakes null, performance null, passed null."""
    attempts = [
        {"work_unit_id": f"{worker}-1", "mistakes": [2, 5], "performance": 0.5, "passed": False},
        {"work_unit_id": f"{worker}-2", "mistakes": [], "performance": 1.0, "passed": True},
    ]
    third = [{"work_unit_id": f"{worker}-3", "mistakes": None, "performance": None, "passed": None}]
    dialogues = [
        dialogue("t1", None, [], attempts=attempts),
        dialogue("t3", None, None, attempts=third),
        dialogue("t4", None, None, attempts=None),
    ]
    names = ["redundant", "contradict_self_context", "contradict_partner_context"]
    return evaluation(dialogues, [unit(f"{worker}-{i}", worker, ["t1"], "annotation", names) for i in (1, 2, 3)])


def gold():
    turns = [turn("q", "r", {"redundant": [mark("g1", "redundant", 0)]})]
    return evaluation([dialogue("gold-1", None, turns)], [unit("g1", "w1", ["gold-1"], "annotation", ["redundant"])])


def pilot(worker, label):
    turns = [turn("a", "b", {label: [mark(f"p-{worker}", label, 1), mark(f"q-{worker}", label, 0)]})]
    units = [unit(f"{p}-{worker}", f"{p}{worker}", ["pilot-1"], "pilot") for p in "pq"]
    return evaluation([dialogue("pilot-1", "blender", turns)], units)


def bots():
    chat = dialogue("(9,2)_cem", "cem", [turn("x", "y")], {"quality": [mark("b1", "quality", 2)]})
    return evaluation([chat], [unit("b1", "bob", ["(9,2)_cem"], "interaction")])


def project():
    """Every part once; empty and null ones among them."""
    return {
        "annotation_pilots": [pilot("1", "presentation"), pilot("2", "ignore"), None],
        "annotation_pilots_onboarding": [None, onboarding("pat")],
        "bot_pilots": [bots()],
        "extra_unused": evaluation([], []),
        "dialogue_collection": collection(),
        "student_evaluation": None,
        "student_onboarding": onboarding("stu"),
        "student_gold_units": {},
        "mturk_evaluation": {"dialogues": None, "work_units": None},
        "mturk_onboarding": onboarding("{{user_id}}"),
        "mturk_gold_units": gold(),
        "surge_evaluation": surge(),
        "surge_onboarding": None,
        "expert_evaluation": evaluation(
            [dialogue(B, "blender2_3B", [], {"engaging": [mark("e1", "engaging", 5)]})], [unit("e1", "dev", [B])]
        ),
    }
