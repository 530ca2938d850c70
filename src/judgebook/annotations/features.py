"""What a study offers, so that notebooks that cannot run on it are skipped before the run, with the reason.

`FEATURES` maps a feature to a function of the study's frames and params that returns None if the study has it,
otherwise a sentence stating what is missing. Questions name features in `requires`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, get_args

import pandas as pd

from judgebook import codes
from judgebook.annotations.periods import periods, why_unordered
from judgebook.annotations.scores import kish, sampled
from judgebook.annotations.summary import PREPARATION, by_turn, evaluated, judged_by, with_directions, with_means
from judgebook.study.labels import Label
from judgebook.study.params import Study
from judgebook.study.questions import Question
from judgebook.study.schema import ITEM, Annotations, unordered
from judgebook.study.sections.data import Unit

Frames = dict[str, pd.DataFrame]
#: dialogues of a system below which notebook 05 does not compare it (as in `sensitivity.judged_groups`)
MIN_DIALOGUES = 5
#: dialogues with a target and predictors below which notebooks 04 and 06 are not run
MIN_RATED = 10
#: periods below which notebook 18 is not run
MIN_PERIODS = 3
ACROSS = "It compares the results of other studies."
NO_DATA = "The study has no data of its own."
NO_MEANS = "All labels have answers without order, which have no mean: see the shares in notebook 00."

DIRECTION = "write `direction: 1` (a high score is good), `-1` (bad) or `0` (neither)"


def undirected(labels: Iterable[Label]) -> str:
    """Why some of these labels, or all of them, order no systems, and what the YAML has to say; '' where each label
    has a direction, or is declared to have none beside others that have one."""
    labels = list(labels)
    unknown = list(dict.fromkeys(f"`{label.id}`" for label in labels if not label.direction_declared))
    named = " and ".join([", ".join(unknown[:-1]), unknown[-1]] if len(unknown) > 1 else unknown)
    if any(label.direction for label in labels):
        what = "it enters" if len(unknown) == 1 else "they enter"
        said = f"The YAML does not say which way is better for {named}, so {what} no rank, overall mean or headline"
        return f"{said}: {DIRECTION} under `labels`." if unknown else ""
    if unknown:
        return f"No label says which way is better: {DIRECTION} for {named} under `labels` in the YAML."
    return "No label orders the systems: a high score is neither good nor bad (`direction: 0`)." if labels else ""


def _human(frames: Frames) -> pd.DataFrame:
    annotations = frames["annotations"]
    return codes.rows(annotations, annotations["annotator_kind"] == "human")


def _reason(present: Any, reason: str) -> str | None:
    return None if bool(present) else reason


def _repeated(frames: Frames, study: Study) -> str | None:
    twice = _human(frames).duplicated([*ITEM, "group"]).any()
    return _reason(twice, "No item was judged by two people of one group.")


def _two_systems(frames: Frames, study: Study) -> str | None:
    return _reason(len(_systems(frames)) >= 2, "Only one system was judged.")


def _scored_systems(frames: Frames, study: Study) -> str | None:
    """For notebook 07: means, rates or choices of two systems; answers without order have none."""
    return _two_systems(frames, study) or _reason(len(_scored(frames["annotations"], study)), NO_MEANS)


def _scored(annotations: Annotations, study: Study) -> pd.DataFrame:
    return with_means(annotations, study.label_list())


def _systems(frames: Frames) -> list[str]:
    """All systems that were judged, on either side of a comparison."""
    annotations = frames["annotations"]
    return sorted(codes.distinct(annotations["system"], annotations["system_b"]))


def _techniques(frames: Frames, study: Study) -> str | None:
    """For notebook 11: comparisons, marks of several turns of a dialogue, or messages that are to be checked."""
    if frames["annotations"]["dialogue_b"].notna().any() or len(by_turn(_scored(_human(frames), study))):
        return None
    typed = frames["dialogues"][["user_text", "interactor"]].notna().all(axis=1).any()
    if study.techniques.checks and typed:
        return None
    return "No judgement compares two dialogues, and no dialogue has marks of several turns."


def _predictable_quality(frames: Frames, study: Study) -> str | None:
    """The target of notebooks 04 and 06: interactors rated their own dialogues, and others judged the same ones."""
    section, people = study.importance, _scored(_human(frames), study)
    label = section.target
    talked = frames["dialogues"][["corpus", "dialogue", "interactor"]].dropna().drop_duplicates()
    on_label = (people["label"] == label) & people["turn"].isna()
    who = people[["corpus", "dialogue", "annotator"]].assign(on_label=on_label).drop_duplicates()
    judged = codes.plain(who).merge(talked, on=["corpus", "dialogue"])
    self_rated = judged["annotator"] == judged["interactor"]
    rated = judged.loc[self_rated & judged["on_label"], ["corpus", "dialogue"]]
    if section.quality_group is not None or (rated.empty and section.quality_label):
        return _external_quality(people, study)
    if rated.empty:
        return f"No dialogue was rated on {label} by the person who had it."
    others = judged.loc[~self_rated, ["corpus", "dialogue"]].drop_duplicates().merge(rated.drop_duplicates())
    if others.empty:
        return "Nobody but those who talked judged the dialogues."
    n = others["corpus"].value_counts().max()
    few = f"Only {n} dialogues have the {label} rated by their interactor and judgements by others"
    return _reason(n >= MIN_RATED, f"{few}: {MIN_RATED} are needed.")


def _external_quality(people: pd.DataFrame, study: Study) -> str | None:
    """Whether people who did not talk rated enough dialogues, and those who are to predict it judged the same ones."""
    section, parts = study.importance, study.parts
    label = section.quality_label or section.target
    rated = people[people["label"] == label]
    if section.quality_group is not None:
        rated = judged_by(rated, section.quality_group, parts)
    by = f" by {_listed(section.quality_group)}" if section.quality_group is not None else ""
    unit = ["corpus", "dialogue"]
    n = rated[unit].drop_duplicates()["corpus"].value_counts().max() if len(rated) else 0
    if n < MIN_RATED:
        return f"Fewer than {MIN_RATED} dialogues have a rating of {label}{by}."
    if section.group is None:
        return None
    raters = rated.groupby(unit)["annotator"].agg(["nunique", "first"]).reset_index()
    judged = judged_by(people, section.group, parts).merge(raters, on=unit)
    if judged.empty:
        return f"{_listed(section.group)} (`importance.group`) judged no dialogue with a rating of {label}{by}."
    others = judged[(judged["nunique"] > 1) | (judged["annotator"] != judged["first"])]
    n = others[unit].drop_duplicates()["corpus"].value_counts().max() if len(others) else 0
    few = f"Only {n} dialogues have a rating of {label}{by} and judgements by somebody else of {_listed(section.group)}"
    return _reason(n >= MIN_RATED, f"{few}: {MIN_RATED} are needed.")


def _listed(named: str | list[str]) -> str:
    return named if isinstance(named, str) else ", ".join(named)


def _comparable_systems(frames: Frames, study: Study) -> str | None:
    """Two systems with enough dialogues each, judged by one method of one group; not the control, not people."""
    people = _scored(_human(frames), study)
    if people.empty and len(_human(frames)):
        return NO_MEANS
    out = {study.control_system, *study.unranked_systems}
    by = ["corpus", "group", "method"]
    other = people[[*by, "system_b", "dialogue_b"]].set_axis([*by, "system", "dialogue"], axis=1)
    judged = pd.concat([codes.plain(side.drop_duplicates()) for side in (people[list(other)], other)])
    judged = judged.dropna().drop_duplicates()
    size = judged[~judged["system"].isin(out)].groupby([*by, "system"]).size()
    enough = size[size >= MIN_DIALOGUES].groupby(by).size()
    return _reason((enough >= 2).any(), f"No two systems have {MIN_DIALOGUES} judged dialogues each.")


def _groups(frames: Frames, study: Study) -> str | None:
    marks, key = _scored(frames["annotations"], study), ["corpus", "method", "label", "group"]
    if marks.empty:
        return NO_MEANS
    marks = codes.rows(marks, ~marks["corpus"].str.fullmatch(PREPARATION))
    sides = (marks[[*key, side]].set_axis([*key, "system"], axis=1) for side in ("system", "system_b"))
    sides = pd.concat([codes.plain(side.drop_duplicates()) for side in sides])
    enough = sides.groupby(key)["system"].nunique().ge(2).groupby(level=key[:3]).sum().ge(2).any()
    return _reason(
        enough, "No two groups of annotators judged the same label for two systems, so groups cannot be compared."
    )


def _metrics(frames: Frames, study: Study) -> str | None:
    """For notebook 09: people rated turns or dialogues, and there are scores or texts to compute them from."""
    if not _human(frames)["dialogue_b"].isna().any():
        return "Nobody rated turns or dialogues: only comparisons were made."
    rated = _scored(_human(frames), study)
    rated = rated[rated["dialogue_b"].isna()]
    if rated.empty:
        return NO_MEANS
    if with_directions(rated, study.label_list()).empty:
        return _directed(rated, study)
    if frames["metric_scores"]["score"].notna().any():
        return None
    if study.simulated:
        return "The data contain no scores of automatic metrics, and simulated texts are not worth computing them from."
    if study.metrics.computed == []:
        return "The data contain no scores of automatic metrics, and the YAML asks for none (`metrics.computed`)."
    texts = frames["dialogues"]["system_text"].notna().any()
    return _reason(texts, "The data contain neither scores of automatic metrics nor texts to compute them from.")


def _judges(frames: Frames, study: Study) -> str | None:
    marks = frames["annotations"]
    human = marks["annotator_kind"] == "human"
    if human.all():
        return "No model or classifier judged anything."
    both = unordered(marks)
    items = marks[["corpus", "method", "label", "turn"]].assign(low=both["low"], high=both["high"])
    common = items[human].drop_duplicates().merge(items[~human].drop_duplicates())
    return _reason(len(common), "No item was judged both by a person and by a model.")


def _control_system(frames: Frames, study: Study) -> str | None:
    if study.control_system is None:
        return "The YAML names no `control_system`."
    marks = frames["annotations"]
    rated = marks[(marks["system"] == study.control_system) & marks["dialogue_b"].isna()]
    if rated.empty:
        return f"The control system {study.control_system!r} was never rated."
    return _directed(rated, study)


def _directed(annotations: Annotations, study: Study) -> str | None:
    """None if one of the judged labels has a direction."""
    judged = set(annotations[["method", "label"]].drop_duplicates().itertuples(index=False, name=None))
    labels = [label for label in study.label_list() if (label.method, label.id) in judged]
    return None if any(label.direction for label in labels) else undirected(labels) or None


def _preparation(frames: Frames, study: Study) -> str | None:
    corpora = {corpus for name in ("annotations", "dialogues") for corpus in frames[name]["corpus"].unique()}
    quiz = study.pilot.quiz
    prepared = any("_pilot_" in corpus for corpus in corpora) or len(frames["screening"])
    prepared = prepared or (quiz is not None and quiz.corpus in corpora)
    return _reason(prepared, "The data contain neither a pilot nor screening attempts.")


def _known_annotators(frames: Frames, study: Study) -> str | None:
    reason = "The data do not say who judged: annotators are positions in a list."
    return _reason(_human(frames)["annotator_known"].any(), reason)


def _periods(frames: Frames, study: Study) -> str | None:
    """For notebook 18: three periods, in an order that their names tell."""
    people = evaluated(_human(frames))
    if people["period"].isna().all() and (study.over_time.every is None or people["completed_at"].isna().all()):
        return (
            "No file says in which week or other period judgements were made (`period`, see docs/own_data/weekly.md)."
        )
    names = periods(people, study.over_time.every or "week").dropna().unique()
    if len(names) < MIN_PERIODS:
        return f"Judgements are from {len(names)} period{'s' * (len(names) > 1)}: {MIN_PERIODS} are needed."
    return why_unordered(names) or _reason(len(_scored(people, study)), NO_MEANS)


def _votes(frames: Frames, study: Study) -> str | None:
    """For notebook 19: comparisons of two ranked systems, on a label that says which is better."""
    pairs = frames["annotations"][frames["annotations"]["dialogue_b"].notna()]
    outside = pairs[["system", "system_b"]].isin(study.unranked_systems).any(axis=1)
    between = pairs[~outside & (pairs["system_b"].astype(object) != pairs["system"].astype(object))]
    return _directed(between, study) if len(between) else "No judgement compares two systems."


def _moderation(frames: Frames, study: Study) -> str | None:
    """Judged with the method of that name, or by the label that the YAML names."""
    judged, section = frames["annotations"][["method", "label"]], study.moderation
    named = "category" in section.model_fields_set and judged["label"].eq(section.category).any()
    reason = "No reply was judged as acceptable or not (method `moderation`, or the label `moderation.category`)."
    return _reason(bool(named or judged["method"].eq("moderation").any()), reason)


def _equal_weights(frames: Frames, study: Study) -> str | None:
    """For notebooks whose methods know no sampling weights, and whose results are of no use without."""
    unequal = sampled(frames["annotations"])
    return _reason(not unequal, "Dialogues were drawn with unequal probability, which its methods do not allow for.")


def _embedded(frames: Frames, study: Study) -> str | None:
    """For what concerns the papers, not a study: it is shown once, with the study that every run has."""
    return _reason(study.simulate is not None, "It concerns the papers, not this study: see the report of `demo`.")


FEATURES: dict[str, Callable[[Frames, Study], str | None]] = {
    "repeated": _repeated,
    "two_systems": _two_systems,
    "scored_systems": _scored_systems,
    "techniques": _techniques,
    "predictable_quality": _predictable_quality,
    "comparable_systems": _comparable_systems,
    "groups": _groups,
    "metrics": _metrics,
    "judges": _judges,
    "control_system": _control_system,
    "preparation": _preparation,
    "known_annotators": _known_annotators,
    "periods": _periods,
    "moderation": _moderation,
    "votes": _votes,
    "equal_weights": _equal_weights,
    "embedded": _embedded,
}


def why_not(question: Question, study: Study, read: Callable[[str], pd.DataFrame]) -> str:
    """Why a study cannot have a notebook, as the pipeline would say; empty where it can.

    read : a frame of the study by its name; called only for frames that decide.
    """
    if question.across != study.across or question.only not in ("", study.key):
        return ACROSS if question.across else NO_DATA
    frames = _Frames(read)
    return " ".join(filter(None, (FEATURES[name](frames, study) for name in question.requires)))


class _Frames(Frames):
    """Frames that are read when they are first asked for."""

    def __init__(self, read: Callable[[str], pd.DataFrame]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, name: str) -> pd.DataFrame:
        return self.setdefault(name, self._read(name))


def profile(frames: Frames, study: Study) -> dict[str, Any]:
    """What the study offers: `features` (name -> null, or why it is absent) and the sizes a reader asks for first."""
    annotations = frames["annotations"]
    labels = codes.plain(annotations[["method", "label"]].drop_duplicates())
    return {
        "study": study.key,
        "features": {name: feature(frames, study) for name, feature in FEATURES.items()},
        "corpora": sorted(annotations["corpus"].unique()),
        "systems": _systems(frames),
        "groups": sorted(annotations["group"].unique()),
        "labels": sorted(labels["method"] + ":" + labels["label"]),
        "units": [u for u in get_args(Unit) if u in ("turn", "dialogue") or annotations[u].notna().all()],
        "n_annotations": len(annotations),
        "n_items": int((~annotations.duplicated([c for c in ITEM if c not in ("method", "label")])).sum()),
        "n_items_by_label": int((~annotations.duplicated(ITEM)).sum()),  # summed over labels
        "n_dialogues": len(frames["dialogues"].drop_duplicates(["corpus", "dialogue"])),
        "n_annotators": int(_human(frames)["annotator"].nunique()),
        "sampling": _sampling(annotations, study),
    }


def _sampling(annotations: Annotations, study: Study) -> dict[str, Any] | None:
    """How far the sampling weights of dialogues (pairs) differ, in the corpus where they do most; None if they do not.

    `by` : keys of the YAML that give them. `design_effect` : 1 + CV² of the weights (`scores.kish`).
    """
    if not sampled(annotations):
        return None
    drawn = annotations.dropna(subset="sampling_weight").drop_duplicates(["corpus", "dialogue", "dialogue_b"])
    by_corpus = drawn.groupby("corpus")["sampling_weight"].agg(
        low="min", high="max", design_effect=lambda w: kish(w.to_numpy())
    )
    named = [getattr(source, "sampling", None) for source in study.sources]
    keys = [columns[0] for columns in named if columns]
    row = by_corpus.loc[by_corpus["design_effect"].idxmax()]
    return {"by": list(dict.fromkeys(keys)), **{k: float(v) for k, v in row.items()}}
