"""The numbers behind the simulated study, and where each comes from.

Published: what Finch et al. 2023 and 2024 print (section or table named). Public: aggregates of the public annotation
files. Chosen: everything else, so that some labels matter and some do not, and some systems are truly equal.
"""

from __future__ import annotations

from dataclasses import dataclass

#: order of every array by system
SYSTEMS = ("blender2_3B", "bart_fid_rag_bcb", "emora", "rerank_blender")
#: the three ways of splitting four systems into two pairs: each bot meets each other bot equally often
SPLITS = (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)))

#: system turns of a dialogue and their shares: 30.3 turns a dialogue over both sides (Finch et al. 2023, section 3)
TURNS = {15: 0.89, 16: 0.07, 17: 0.04}


@dataclass(frozen=True)
class Behavior:
    """rates : share of turns marked, by system. alpha : agreement aimed at. relation : correlation of the dialogue's
    tendency with its quality. kin : the Likert dimension it shares a part with. between : share of the variance of a
    turn's true value that lies between dialogues."""

    rates: tuple[float, float, float, float]
    alpha: float
    relation: float
    kin: str | None = None
    between: float = 0.25


# Rates: Finch et al. 2023, section 8, where it states them (uninterpretable below 1 %, antisocial near 0, commonsense
# contradiction 15-20 %, the three consistency labels about 5 %, ignore about 10 %, irrelevant 10-20 % and about 10 %
# for Blender2 and BART-FiD-RAG, lack of empathy 5-15 %, empathetic 40 %, fact usage of Blender2 20 % and its incorrect
# facts below 1 %); chosen elsewhere. Alpha: the public doubly annotated turns where they have the label, chosen
# elsewhere. Relations: which labels matter follows section 7.2; sizes are chosen. A label with relation 0 has rates
# that do not covary with quality over systems either (the two better and the two worse systems have the same rates),
# so that its correlation with quality is exactly zero. On life_info, antisocial and partner_contradiction all systems
# are equal.
BEHAVIORS = {
    "uninterpretable": Behavior((0.004, 0.006, 0.012, 0.006), 0.25, -0.20),
    "antisocial": Behavior((0.002, 0.002, 0.002, 0.002), 0.30, 0.0),
    "preference_info": Behavior((0.30, 0.18, 0.30, 0.18), 0.55, 0.0, "informative"),
    "life_info": Behavior((0.22, 0.22, 0.22, 0.22), 0.60, 0.0),
    "empathetic": Behavior((0.44, 0.36, 0.44, 0.36), 0.51, 0.60, "emotional"),
    "lack_of_empathy": Behavior((0.06, 0.14, 0.15, 0.10), 0.44, -0.60, "emotional"),
    "commonsense_contradiction": Behavior((0.16, 0.20, 0.15, 0.20), 0.44, -0.60),
    "correct_fact": Behavior((0.20, 0.20, 0.08, 0.08), 0.65, 0.0, "informative"),
    "incorrect_fact": Behavior((0.007, 0.12, 0.007, 0.12), 0.65, 0.0, "informative", 0.35),
    "self_contradiction": Behavior((0.05, 0.09, 0.01, 0.05), 0.41, -0.50, "consistent"),
    "partner_contradiction": Behavior((0.055, 0.055, 0.055, 0.055), 0.44, -0.40, "consistent"),
    "redundant": Behavior((0.07, 0.05, 0.03, 0.05), 0.55, -0.45, "consistent", 0.15),
    "ignore": Behavior((0.06, 0.12, 0.11, 0.10), 0.57, -0.50, "relevant", 0.15),
    "irrelevant": Behavior((0.10, 0.11, 0.16, 0.20), 0.46, -0.55, "relevant", 0.30),
    "follow_up": Behavior((0.62, 0.50, 0.40, 0.56), 0.50, 0.20, "engaging"),
    "topic_switch": Behavior((0.14, 0.14, 0.28, 0.28), 0.55, 0.0, "proactive"),
}
#: how far a behaviour follows the part of its kin dimension that quality does not explain
KINSHIP = 0.35


@dataclass(frozen=True)
class Dimension:
    """effects : mean of a system in standard deviations of a single rating. shares : of the scores 1 to 5 where the
    effect is 0. alpha : agreement aimed at by method. ties : share of comparisons without a winner."""

    effects: tuple[float, float, float, float]
    shares: tuple[float, float, float, float, float]
    relation: float
    dialogue_alpha: float
    turn_alpha: float
    comparative_alpha: float
    ties: float = 0.04


# Alpha of dialogue Likert and comparative: Finch et al. 2024, Table 3, row Sur_x; turn Likert is said to be similar
# (Finch et al. 2023, section 7.1), values chosen. Shares of scores and ties: public student annotations, rounded.
# Effects: chosen near the size of Finch et al. 2024, Table 4. The systems fall into two equal pairs in quality: four
# true differences and two true nulls. Informative does not matter for quality, in any method.
DIMENSIONS = {
    "consistent": Dimension((0.05, -0.35, 0.30, 0.05), (0.07, 0.17, 0.26, 0.28, 0.22), 0.50, 0.36, 0.30, 0.51),
    "emotional": Dimension((0.30, -0.20, -0.20, 0.20), (0.05, 0.13, 0.21, 0.41, 0.20), 0.60, 0.26, 0.28, 0.20),
    "engaging": Dimension((0.25, -0.25, 0.00, 0.25), (0.04, 0.13, 0.25, 0.40, 0.18), 0.70, 0.26, 0.24, 0.10),
    "grammatical": Dimension((0.15, 0.15, -0.25, -0.05), (0.03, 0.05, 0.13, 0.43, 0.36), 0.25, 0.13, 0.15, 0.22, 0.12),
    "informative": Dimension((0.20, 0.20, -0.20, -0.20), (0.11, 0.13, 0.18, 0.37, 0.21), 0.00, 0.41, 0.35, 0.19),
    "proactive": Dimension((0.10, -0.45, 0.25, 0.10), (0.05, 0.16, 0.23, 0.39, 0.17), 0.30, 0.24, 0.30, 0.25),
    "quality": Dimension((0.25, -0.25, -0.25, 0.25), (0.04, 0.15, 0.31, 0.41, 0.09), 1.00, 0.29, 0.30, 0.47),
    "relevant": Dimension((0.25, 0.05, -0.25, -0.05), (0.02, 0.07, 0.14, 0.48, 0.29), 0.55, 0.30, 0.38, 0.44),
}
#: a system's effect on one turn, and on a comparison, in terms of its effect on a dialogue (chosen)
TURN_EFFECT = 0.8
PAIR_EFFECT = 0.5
#: share of a turn's true Likert value between dialogues (chosen)
TURN_BETWEEN = 0.30


@dataclass(frozen=True)
class GroupDesign:
    """An evaluator group of Finch et al. 2024.

    part : key of the project file. dialogues, twice, pairs, pairs_twice : shares of dialogues and pairs it judges once
    at least and twice (Table 2 over 400 and 200). gain : how much larger it sees the differences between systems than
    sur_x does, by method and label (`*`: the others). odds : its signal to noise relative to sur_x. severity : added
    to every Likert rating, in standard deviations.
    """

    part: str
    dialogues: float
    twice: float
    pairs: float
    pairs_twice: float
    gain: dict[tuple[str, str], float]
    odds: float
    severity: float = 0.0


# Gains and odds are chosen after what Finch et al. 2024, section 5, reports: developers see larger differences;
# interactors differ from outsiders on the objective dimensions, more so in comparisons. Stu_x equals Sur_x in
# everything: every difference between these two groups is a true null.
GROUPS = {
    "sur_x": GroupDesign("surge_evaluation", 1.0, 0.25, 0.96, 0.25, {}, 1.0),
    "stu_i": GroupDesign(
        "dialogue_collection",
        1.0,
        0.0,
        1.0,
        0.0,
        {
            ("dialogue_likert", "consistent"): 0.4,
            ("dialogue_likert", "informative"): 0.6,
            ("dialogue_likert", "grammatical"): 1.3,
            ("comparative", "consistent"): 0.5,
            ("comparative", "informative"): 0.5,
            ("comparative", "*"): 1.4,
        },
        3.0,
    ),
    "stu_x": GroupDesign("student_evaluation", 0.57, 0.0925, 0.965, 0.095, {}, 1.0),
    "dev_x": GroupDesign(
        "expert_evaluation",
        0.4425,
        0.0625,
        0.36,
        0.055,
        {("dialogue_likert", "*"): 1.6, ("comparative", "*"): 2.0},
        3.0,
        -0.3,
    ),
}
#: share of their comparisons in which interactors see no difference in quality: 16 of 200 (Finch et al. 2023, 7.2)
INTERACTOR_TIES = 0.08
#: at most so many dialogues a Surge worker and task (Finch et al. 2023, section 6)
UNITS_PER_WORKER = 60
#: at most so many sessions (two dialogues each) an interactor (Finch et al. 2023, section 3: 18 conversations)
SESSIONS_PER_INTERACTOR = 9

#: labels of behaviour tasks as the platform writes them in its work units
TASK_LABELS = {
    "uninterpretable": ["uninterpretable"],
    "antisocial": ["antisocial"],
    "personal_information": ["preferences", "life"],
    "empathy": ["empathetic", "unempathetic", "empathy_na"],
    "commonsense": ["contradict_commonsense"],
    "knowledge": ["use_fact", "correct_fact", "incorrect_fact"],
    "consistency": ["redundant", "contradict_self_context", "contradict_partner_context"],
    "transitions": [
        "followup", "switch", "talkingpoint", "acknowledge", "ignore", "no_need_acknowledge", "relevant", "irrelevant",
    ],
}  # fmt: skip
DIMENSION_NAMES = {"emotional": "Emotion Aware"}

# Median minutes. Finch et al. 2023, Table 10: 25.60 for all behaviour tasks, here shared out like their payments
# (Table 9), which followed completion times; 19.94 for eight turn-Likert tasks; 2.81; 4.35 a pair; 8.08 to chat.
_PAY = {
    "uninterpretable": 0.63, "antisocial": 0.44, "personal_information": 0.70, "empathy": 1.15,
    "commonsense": 0.92, "knowledge": 1.96, "consistency": 0.87, "transitions": 1.87,
}  # fmt: skip
MINUTES = {task: 25.60 * pay / sum(_PAY.values()) for task, pay in _PAY.items()} | {
    "turn_likert": 19.94 / 8,
    "dialogue_likert": 2.81,
    "comparative": 4.35,
    "chat": 8.08,
    "own_likert": 1.2,
    "own_comparative": 1.3,
}
#: standard deviation of the logarithm of a duration: between people, within people (chosen)
DURATION_SD = (0.25, 0.45)
#: shares of work units without a duration, left open overnight, without a date (chosen)
NO_DURATION, LEFT_OPEN, NO_DATE = 0.005, 0.003, 0.01


@dataclass(frozen=True)
class Workforce:
    """People who try the training. error : log-odds of a mistake on a turn of the third training dialogue of a task of
    average difficulty. takes : share of tasks a worker tries. retries : share of failed sessions tried again."""

    workers: int
    error: float
    takes: float
    retries: float


# Finch et al. 2023, Figure 9 and Appendix E: most Surge workers pass, students took little part, few MTurk workers
# pass. The figure prints no numbers: these are chosen.
WORKFORCES = {
    "surge": Workforce(45, -2.3, 1.0, 0.2),
    "student": Workforce(12, -1.3, 0.6, 0.3),
    "mturk": Workforce(20, -0.7, 0.8, 0.1),
    "pilot": Workforce(4, -1.7, 1.0, 0.0),
}
TRAINING_TURNS = 10
#: log-odds a worker gains from one training dialogue to the next; standard deviation between workers (chosen)
LEARNING, SKILL_SD = 0.4, 0.6
#: difficulty of a task in log-odds (chosen)
DIFFICULTY = {
    "uninterpretable": -0.9, "antisocial": -1.0, "personal_information": 0.0, "empathy": 0.3,
    "commonsense": 0.2, "knowledge": 0.4, "consistency": 0.1, "transitions": 0.5,
}  # fmt: skip


@dataclass(frozen=True)
class PilotBot:
    """A system of the pilot: dialogues, and the mean quality it is to have on the scale 1 to 5."""

    dialogues: int
    quality: float


# Finch et al. 2023, Table 1.
PILOT_BOTS = {
    "rerank_blender": PilotBot(10, 4.1),
    "blender2_3B": PilotBot(10, 3.8),
    "bart_fid_rag_bcb": PilotBot(10, 3.5),
    "emora": PilotBot(10, 3.3),
    "dukenet": PilotBot(9, 1.9),
    "cem": PilotBot(12, 1.1),
}
#: students who talked to them (Finch et al. 2023, section 2), and the most conversations one may have had
PILOT_STUDENTS, PILOT_CONVERSATIONS = 10, 8


@dataclass(frozen=True)
class PilotRound:
    """A round of annotation pilots: for each block of dialogues the annotators who judge it (g: graduate,
    u: undergraduate), whether every dialogue gets all labels, and signal to noise by kind relative to sur_x."""

    blocks: tuple[tuple[int, tuple[str, ...]], ...]
    all_labels: bool
    odds: dict[str, float]


# Finch et al. 2023, Table 8: dialogues and annotators of each round. Odds were set so that alpha pooled over all labels
# comes near the printed one (.18 and .39; .49 and .50; .43). In the first round it stays above .2 however noisy the
# annotators are: labels differ in how often they are marked, which pooling counts as agreement.
PILOT_ROUNDS = (
    PilotRound(
        ((2, ("g1", "g2", "g3", "g4", "u1", "u2")), (2, ("u3", "u4", "u5", "u6", "u7"))), True, {"g": 0.29, "u": 0.01}
    ),
    PilotRound(((6, ("g1", "g2", "g3", "g5", "u8")),), False, {"g": 0.58, "u": 0.43}),
    PilotRound(((6, ("u9", "u10", "u11", "u12")),), False, {"u": 0.37}),
)
#: the annotation pilots judged dialogues of an earlier version of this system
PILOT_SYSTEM = ("rerank_blender2", "rerank_blender")

#: dialogues and tries a task and dialogue of the units that carry gold marks, by workforce (chosen)
GOLD = {"surge": (3, 3), "student": (1, 2), "mturk": (2, 2)}
#: the trial of MTurk workers: dialogues (Finch et al. 2023, Appendix E), share of tasks that got done, signal to noise
TRIAL = (5, 0.6, 0.4)
