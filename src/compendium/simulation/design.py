"""The numbers behind the simulated study, read from `design.yaml`, which says where each comes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files

import yaml

from judgebook.study.yaml_file import Loader

_DESIGN = yaml.load(files("compendium.simulation").joinpath("design.yaml").read_text(encoding="utf-8"), Loader)


@dataclass(frozen=True)
class Behavior:
    """rates : share of turns marked, by system. alpha : agreement aimed at. relation : correlation of the dialogue's
    tendency with its quality. kin : the Likert dimension it shares a part with. between : share of the variance of a
    turn's true value that lies between dialogues."""

    rates: list[float]
    alpha: float
    relation: float
    kin: str | None = None
    between: float = 0.25


@dataclass(frozen=True)
class Dimension:
    """effects : mean of a system in standard deviations of a single rating. shares : of the scores 1 to 5 where the
    effect is 0. alpha : agreement aimed at by method. ties : share of comparisons without a winner."""

    effects: list[float]
    shares: list[float]
    relation: float
    dialogue_alpha: float
    turn_alpha: float
    comparative_alpha: float
    ties: float = 0.04


@dataclass(frozen=True)
class GroupDesign:
    """An evaluator group of Finch et al. 2024.

    part : key of the project file. dialogues, twice, pairs, pairs_twice : shares of dialogues and pairs it judges at
    least once and twice. gain : how much larger it sees the differences between systems than sur_x does, by method and
    label (`*`: the others). odds : its signal to noise relative to sur_x. severity : added to every Likert rating, in
    standard deviations.
    """

    part: str
    dialogues: float
    twice: float
    pairs: float
    pairs_twice: float
    odds: float
    severity: float = 0.0
    gain: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Workforce:
    """People who try the training. error : log-odds of a mistake on a turn of the third training dialogue of a task of
    average difficulty. takes : share of tasks a worker tries. retries : share of failed sessions tried again."""

    workers: int
    error: float
    takes: float
    retries: float


@dataclass(frozen=True)
class PilotBot:
    """A system of the pilot: dialogues, and the mean quality it is to have on the scale 1 to 5."""

    dialogues: int
    quality: float


@dataclass(frozen=True)
class PilotRound:
    """A round of annotation pilots: for each block of dialogues the annotators who judge it (g: graduate,
    u: undergraduate), whether every dialogue gets all labels, and signal to noise by kind relative to sur_x."""

    blocks: list[tuple[int, list[str]]]
    all_labels: bool
    odds: dict[str, float]


SYSTEMS: tuple[str, ...] = tuple(_DESIGN["systems"])
TURNS: dict[int, float] = _DESIGN["turns"]
BEHAVIORS = {name: Behavior(**values) for name, values in _DESIGN["behaviors"].items()}
DIMENSIONS = {name: Dimension(**values) for name, values in _DESIGN["dimensions"].items()}
GROUPS = {name: GroupDesign(**values) for name, values in _DESIGN["groups"].items()}
WORKFORCES = {name: Workforce(**values) for name, values in _DESIGN["workforces"].items()}
PILOT_BOTS = {name: PilotBot(**values) for name, values in _DESIGN["pilot_bots"].items()}
PILOT_ROUNDS = [PilotRound(**values) for values in _DESIGN["pilot_rounds"]]
TASK_LABELS: dict[str, list[str]] = _DESIGN["task_labels"]
DIFFICULTY: dict[str, float] = _DESIGN["difficulty"]
GOLD: dict[str, tuple[int, int]] = _DESIGN["gold"]
#: median minutes by task
MINUTES = {task: 25.60 * pay / sum(_DESIGN["pay"].values()) for task, pay in _DESIGN["pay"].items()}
MINUTES |= _DESIGN["minutes"]

#: the three ways of splitting four systems into two pairs: each bot meets each other bot equally often
SPLITS = (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)))
#: how far a behaviour follows the part of its kin dimension that quality does not explain (chosen)
KINSHIP = 0.35
#: a system's effect on one turn, and on a comparison, in terms of its effect on a dialogue (chosen)
TURN_EFFECT, PAIR_EFFECT = 0.8, 0.5
#: share of a turn's true Likert value between dialogues (chosen)
TURN_BETWEEN = 0.30
#: share of their comparisons in which interactors see no difference in quality: 16 of 200 (Finch et al. 2023, 7.2)
INTERACTOR_TIES = 0.08
#: dialogues per Surge worker and task, at most (Finch et al. 2023, section 6)
UNITS_PER_WORKER = 60
#: sessions (two dialogues each) per interactor, at most (Finch et al. 2023, section 3: 18 conversations)
SESSIONS_PER_INTERACTOR = 9
#: names of dimensions on the platform that differ from their ids
DIMENSION_NAMES = {"emotional": "Emotion Aware"}
#: standard deviation of the logarithm of a duration: between people, within people (chosen)
DURATION_SD = (0.25, 0.45)
#: shares of work units without a duration, left open overnight, without a date (chosen)
NO_DURATION, LEFT_OPEN, NO_DATE = 0.005, 0.003, 0.01
TRAINING_TURNS = 10
#: log-odds a worker gains from one training dialogue to the next; standard deviation between workers (chosen)
LEARNING, SKILL_SD = 0.4, 0.6
#: students who talked to the systems of the pilot (Finch et al. 2023, section 2), and conversations of one, at most
PILOT_STUDENTS, PILOT_CONVERSATIONS = 10, 8
#: the annotation pilots judged dialogues of an earlier version of this system
PILOT_SYSTEM = ("rerank_blender2", "rerank_blender")
#: the trial of MTurk workers: dialogues (Finch et al. 2023, Appendix E), share of tasks that got done, signal to noise
TRIAL = (5, 0.6, 0.4)
