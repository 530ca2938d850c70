"""What was collected: how much, by whom, how long the texts are, what is missing, and how scores are distributed.

All functions take frames of `schema`; most return result rows, with a column for each key of their statistic. People
and models are distinguished by the key `kind`; positions of unnamed raters are not counted as people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from judgebook.codes import distinct
from judgebook.study.labels import METHODS, Label
from judgebook.study.schema import Annotations, Dialogues

#: words with inner apostrophes or hyphens, and each punctuation mark, are tokens
TOKEN = re.compile(r"\w+(?:['’\-]\w+)*|[^\w\s]")
#: corpora that prepare an evaluation (`annotation_pilot_1`, `gold`): notebook 01 is about them
PREPARATION = r".*_pilot_\d+|gold"
#: corpora with notebooks of their own (`extra_techniques`, `extra_moderation`)
_EXTRA = r"extra_.*"
_PART = ["corpus", "group", "annotator_kind", "method"]
_ITEM = ["label", "dialogue", "turn", "dialogue_b"]
_EVALUATION = ["corpus", "group", "method"]
#: columns on how judgements were made, on which neither agreement nor the performance of systems depends
CIRCUMSTANCES = ("study", "seconds", "completed_at", "period", "first_shown", "tie", "reason")


def evaluated(frame: Annotations) -> Annotations:
    """The rows of a frame that belong to the evaluation itself, not to pilots, gold units or extra corpora."""
    corpus = frame["corpus"]
    apart = [c for c in corpus.unique() if re.fullmatch(f"{PREPARATION}|{_EXTRA}", c)]
    # pandas copies values only where some are changed
    return frame[~corpus.isin(apart)] if apart else frame.copy(deep=False)


def with_means(annotations: Annotations, labels: Iterable[Label]) -> Annotations:
    """Judgements without labels of several answers that have no order: these have no mean (`collection.answers`)."""
    return _without(annotations, [(x.method, x.id) for x in labels if x.unordered])


def with_directions(annotations: Annotations, labels: Iterable[Label]) -> Annotations:
    """Judgements without labels of which nobody said whether a high score is good: no metric can agree with these."""
    return _without(annotations, [(x.method, x.id) for x in labels if not x.direction_declared])


def _without(annotations: Annotations, labels: Sequence[tuple[str, str]]) -> Annotations:
    if not labels:
        return annotations
    return annotations[~pd.MultiIndex.from_frame(annotations[["method", "label"]]).isin(labels)]


def by_turn(annotations: Annotations) -> pd.DataFrame:
    """Judgements of single turns of one system, under methods by which dialogues have judgements of several turns.

    Those of replies to toxic prompts are left out: they belong to notebook 12.
    """
    rows = annotations[annotations["turn"].notna() & annotations["dialogue_b"].isna()]
    rows = rows[rows["method"] != "moderation"]
    turns = rows.groupby(["method", "corpus", "dialogue"], observed=True)["turn"].nunique()
    return rows[rows["method"].isin(turns[turns > 1].index.get_level_values("method"))]


def main_group(annotations: Annotations) -> str:
    """The group that judged the most labels, of these the one with most annotations, of these the first by name."""
    labels = annotations.drop_duplicates(["group", "method", "label"]).groupby("group").size()
    size = pd.DataFrame({"labels": labels, "annotations": annotations.groupby("group").size()}).sort_index()
    return str(size.sort_values(["labels", "annotations"], ascending=False, kind="stable").index[0])


def judged_by(
    annotations: Annotations, people: str | Sequence[str], parts: Mapping[str, Sequence[str]] | None = None
) -> pd.DataFrame:
    """The annotations by a group, by a part of one, or by any of several. parts : part -> its annotators."""
    named = [people] if isinstance(people, str) else list(people)
    members = {i for name in named for i in (parts or {}).get(name, ())}
    return annotations[annotations["group"].isin(named) | annotations["annotator"].isin(members)]


def evaluations(annotations: Annotations) -> list[tuple[str, str, str]]:
    """Run, group and method of each evaluation by people (by all judges where there are none), the main one first.

    The main run is the one with most annotations, its main group that of `main_group`, and the main method the
    one by which this group gave most annotations.
    """
    people = annotations[annotations["annotator_kind"] == "human"]
    judged = people if len(people) else annotations
    if judged.empty:
        return []
    sizes = judged.groupby(_EVALUATION, sort=False).size().rename("n").reset_index()
    run = sizes.groupby("corpus", sort=False)["n"].sum().idxmax()
    group = main_group(judged[judged["corpus"] == run])
    sizes = sizes.assign(run=sizes["corpus"] == run, main=sizes["group"] == group)
    sizes = sizes.sort_values(["run", "main", "n"], ascending=False, kind="stable")
    return list(sizes[_EVALUATION].itertuples(index=False, name=None))


def in_sessions(annotations: Annotations) -> tuple[pd.DataFrame, str]:
    """Annotations of a corpus and group with what systems meet in as `session`, and what that is: `session`, or
    `context` where there are contexts and no sessions."""
    if annotations["session"].isna().all() and annotations["context"].notna().any():
        return annotations.assign(session=annotations["context"]), "context"
    return annotations, "session"


def in_scope(
    annotations: Annotations, *, dialogues: Mapping[str, Sequence[str]], sessions: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Annotations without those of the named dialogues and sessions, each given as method -> ids.

    A comparison is left out when one of its two dialogues is. Raises ValueError for an id that no annotation of the
    method has.
    """
    out = pd.Series(False, index=annotations.index)
    for named, columns in ((dialogues, ["dialogue", "dialogue_b"]), (sessions, ["session"])):
        for method, ids in named.items():
            of_method = annotations.loc[annotations["method"] == method, columns]
            unknown = sorted(set(ids) - set(of_method.to_numpy().ravel()))
            if unknown:
                raise ValueError(f"scope: no {method} annotation has {' or '.join(columns)} {', '.join(unknown)}")
            out[of_method.index[of_method.isin(list(ids)).any(axis=1)]] = True
    return annotations[~out]


def comparisons(annotations: Annotations) -> pd.DataFrame:
    """How many comparisons each system is in, by corpus, group, method and kind of annotator: `count` rows."""
    pairs, rows = annotations[annotations["dialogue_b"].notna()], []
    for (corpus, group, kind, method), part in pairs.groupby(_PART, sort=False):
        keys = {
            "corpus": corpus,
            "group": group,
            "method": method,
            "level": "pair",
            "kind": kind,
            "what": "comparisons",
        }
        met = pd.concat([part["system"], part["system_b"]]).value_counts(sort=False)
        rows += [keys | {"statistic": "count", "system": system, "estimate": n} for system, n in met.items()]
    return pd.DataFrame(rows)


def utterances(dialogues: Dialogues) -> pd.DataFrame:
    """Sizes of each system turn's texts and of everything said before it.

    Returns the rows with a system text, with `user_words`, `system_words` (by white space), `user_tokens`,
    `system_tokens` (by `TOKEN`), missing where a side said nothing; and `context_words`, `context_utterances`: what was
    said before this system turn. The first `user_text` of a dialogue may contain a history, one utterance per line.
    """
    out = dialogues[dialogues["system_text"].notna()].sort_values(["corpus", "dialogue", "turn"], kind="stable").copy()
    for side in ("user", "system"):
        text = out[f"{side}_text"]
        out[f"{side}_words"] = text.map(lambda t: len(t.split()), na_action="ignore").astype("Float64")
        out[f"{side}_tokens"] = text.map(lambda t: len(TOKEN.findall(t)), na_action="ignore").astype("Float64")
    said = out["user_text"].notna().astype(float)
    first = ~out.duplicated(["corpus", "dialogue"])
    said[first] = out.loc[first, "user_text"].map(_lines).astype(float)
    words = out["user_words"].fillna(0).astype(float)
    key = [out["corpus"], out["dialogue"]]
    out["context_words"] = (words + out["system_words"].astype(float)).groupby(key).cumsum() - out["system_words"]
    out["context_utterances"] = (said + 1).groupby(key).cumsum() - 1
    return out


def _lines(text: object) -> int:
    return sum(bool(line.strip()) for line in text.splitlines()) if isinstance(text, str) else 0


def texts(dialogues: Dialogues) -> pd.DataFrame:
    """Size of the conversations, for all systems and for each: `count` and `mean_count` rows.

    `count`: dialogues (with text), interactors. `mean_count`: turns per dialogue (a turn is one message of one
    side), tokens and words per user and system turn. n is what the mean is over. Empty where there is no text.
    """
    sizes = utterances(dialogues)
    rows = []
    parts = [(corpus, None, part) for corpus, part in sizes.groupby("corpus", sort=False)]
    parts += [(corpus, system, part) for (corpus, system), part in sizes.groupby(["corpus", "system"], sort=False)]
    for corpus, system, part in parts:
        keys = {"corpus": corpus, "system": system}
        turns = part[["user_text", "system_text"]].notna().sum(axis=1).groupby(part["dialogue"]).sum()
        rows.append(keys | _count("dialogues", len(turns)))
        if part["interactor"].notna().any():
            rows.append(keys | _count("interactors", part["interactor"].nunique()))
        rows.append(keys | _mean("turns a dialogue", turns))
        for side in ("user", "system"):
            rows.append(keys | _mean(f"tokens a {side} turn", part[f"{side}_tokens"]))
            rows.append(keys | _mean(f"words a {side} turn", part[f"{side}_words"]))
    return pd.DataFrame(rows)


def _count(what: str, n: float) -> dict[str, object]:
    return {"statistic": "count", "level": "dialogue", "what": what, "estimate": n}


def _mean(what: str, values: pd.Series) -> dict[str, object]:
    values = values.dropna().astype(float)
    mean = values.mean() if len(values) else np.nan
    note = None if len(values) else "the data contain no such text"
    return {"statistic": "mean_count", "what": what, "estimate": mean, "n": len(values), "note": note}


def card(annotations: Annotations, dialogues: Dialogues) -> pd.DataFrame:
    """The data-set card: the columns of Table 1 of Zhang et al. 2022, for each corpus and method.

    `count`: instances (turns, dialogues or pairs judged by people), criteria, annotations, systems, and contexts where
    all are known. `mean_count`, over instances: utterances (context and response), context words, response words (white
    space); of a judged dialogue or pair all utterances count as context. Missing where the data contain no text.

    Zhang et al. do not count alike everywhere. Therefore added: words with the speakers' names (one per
    utterance), response words of responses that have a reference, and what was said before the last exchange.
    """
    columns = ["corpus", "method", "system", "system_b", "context", *_ITEM]
    human = annotations.loc[annotations["annotator_kind"] == "human", columns]
    sizes = utterances(dialogues)
    heard = sizes["user_text"].notna().groupby(sizes["corpus"]).transform("any")
    sizes["context_words"], sizes["context_utterances"] = (
        sizes[c].astype(float).where(heard) for c in ("context_words", "context_utterances")
    )
    last = _last(sizes)
    rows = []
    for (corpus, method), part in human.groupby(["corpus", "method"], sort=False):
        unit = METHODS[method].unit
        instances = part.drop_duplicates(["dialogue", "turn", "dialogue_b"])
        keys = {"corpus": corpus, "method": method, "level": unit}
        amounts = {"instances": len(instances), "criteria": part["label"].nunique(), "annotations": len(part)}
        amounts["systems"] = len(distinct(part["system"], part["system_b"]))
        amounts |= {"contexts": part["context"].nunique()} if part["context"].notna().all() else {}
        rows += [keys | _count(what, n) | {"level": unit} for what, n in amounts.items()]
        lengths = _of_turns(instances, sizes) if unit == "turn" else _whole(instances, last)
        rows += [keys | _mean(what, values) for what, values in lengths.items()]
    return pd.DataFrame(rows)


def design(annotations: Annotations, dialogues: Dialogues) -> pd.DataFrame:
    """Facts of design that papers state and that the data show: `design_fact` rows.

    By label: lowest and highest score given, and how many different ones, of people. By method: the same over all
    labels; fewest, median and most annotations of an item, and the median among items that have several; how many
    dialogues an item has. By corpus: sessions all of whose dialogues were judged twice; fewest and median messages of a
    dialogue (of both sides, without empty ones), and fewest messages of the user. Where there are several corpora, the
    same over all of them, without `corpus`; not so sessions.
    """
    columns = ["corpus", "method", "session", "score", *_ITEM]
    human = annotations.loc[annotations["annotator_kind"] == "human", columns]
    rows = []
    for method, judged in human.groupby("method", sort=False):
        for corpus, part in _with_all(judged):
            keys = {"corpus": corpus, "method": method}
            rows += [keys | {"label": label} | row for label, of in part.groupby("label") for row in _scores_given(of)]
            rows += [keys | row for row in (*_scores_given(part), *_times(part))]
    for corpus, part in human.dropna(subset="session").groupby("corpus", sort=False):
        times = part.groupby(["session", *_ITEM], dropna=False, sort=False).size()
        twice = times.groupby(["session", "dialogue"]).max().eq(2).groupby("session").all()
        rows.append({"corpus": corpus, "what": "sessions judged twice", "estimate": twice.sum()})
    for corpus, part in _with_all(dialogues):
        texts = part[["user_text", "system_text"]].notna()
        sides = texts.groupby([part["corpus"], part["dialogue"]]).sum()
        both = sides.sum(axis=1)
        facts = {"fewest messages of a dialogue": both.min(), "median messages of a dialogue": both.median()}
        facts |= {"fewest messages of the user": sides["user_text"].min()} if sides["user_text"].any() else {}
        rows += [{"corpus": corpus, "what": w, "estimate": n} for w, n in facts.items() if both.any()]
    return pd.DataFrame(rows).assign(statistic="design_fact")


def _with_all(frame: pd.DataFrame) -> list[tuple[str | None, pd.DataFrame]]:
    """Each corpus and its rows; all rows, without a name, where there are several."""
    parts = list(frame.groupby("corpus", sort=False))
    return [*parts, *([(None, frame)] if len(parts) > 1 else [])]


def _scores_given(part: pd.DataFrame) -> Iterator[dict[str, object]]:
    scores = part["score"]
    for what, value in (("lowest score", scores.min()), ("highest score", scores.max()), ("scores", scores.nunique())):
        yield {"what": what, "estimate": float(value), "n": len(scores)}


def _times(part: pd.DataFrame) -> Iterator[dict[str, object]]:
    times = part.groupby(["corpus", *_ITEM], dropna=False, sort=False).size()
    facts = {"fewest annotations of an item": times.min(), "median annotations of an item": times.median()}
    facts |= {"most annotations of an item": times.max(), "dialogues of an item": 1 + part["dialogue_b"].notna().all()}
    if (times > 1).any():
        facts["median annotations of an item with several"] = times[times > 1].median()
    yield from ({"what": what, "estimate": float(n), "n": len(times)} for what, n in facts.items())


def _of_turns(instances: pd.DataFrame, sizes: pd.DataFrame) -> dict[str, pd.Series]:
    """Utterances and words of each judged turn and of what was said before it."""
    merged = instances.merge(sizes, on=["corpus", "dialogue", "turn"])
    out = {
        "utterances": merged["context_utterances"] + 1,
        "context words": merged["context_words"],
        "response words": merged["system_words"],
        "context words with names": merged["context_words"] + merged["context_utterances"],
        "response words with names": merged["system_words"] + 1,
    }
    referred = merged["reference"].notna()
    return out | ({"response words with a reference": merged.loc[referred, "system_words"]} if referred.any() else {})


def _last(sizes: pd.DataFrame) -> pd.DataFrame:
    """Utterances and words of each dialogue, all of it and before its last exchange."""
    end = sizes.groupby(["corpus", "dialogue"], sort=False).tail(1).set_index(["corpus", "dialogue"])
    # a blank is a text without an utterance
    said = np.minimum(end["user_text"].notna(), end["context_utterances"])
    return pd.DataFrame(
        {
            "utterances": end["context_utterances"] + 1,
            "context words": end["context_words"] + end["system_words"].astype(float),
            "utterances before the last exchange": end["context_utterances"] - said,
            "context words before the last exchange": end["context_words"] - end["user_words"].fillna(0).astype(float),
        }
    )


def _whole(instances: pd.DataFrame, last: pd.DataFrame) -> dict[str, pd.Series]:
    """Utterances and words of each judged dialogue, or of both dialogues of a pair together."""

    def side(column: str) -> pd.DataFrame:
        return last.reindex(pd.MultiIndex.from_frame(instances[["corpus", column]])).reset_index(drop=True)

    total = side("dialogue")
    if instances["dialogue_b"].notna().any():
        total = total + side("dialogue_b")
    return dict(total.items())


def coverage(annotations: Annotations, dialogues: Dialogues) -> pd.DataFrame:
    """Share of all possible items that were judged, by corpus, group, method and label: `coverage` rows.

    What could be judged: every turn and dialogue the study knows in the corpus, and every pair (where turns were
    compared, every pair of turns) that anyone compared. n is how many there are. `times`: judged at least once, or at
    least twice.
    """
    known = {
        "turn": pd.concat([f[["corpus", "dialogue", "turn"]] for f in (dialogues, annotations)]).dropna(),
        "dialogue": pd.concat([f[["corpus", "dialogue"]] for f in (dialogues, annotations)]),
        "pair": annotations[["corpus", "dialogue", "dialogue_b"]].dropna(),
        "pair of turns": annotations[["corpus", "dialogue", "dialogue_b", "turn"]].dropna(),
    }
    size = {unit: frame.drop_duplicates().groupby("corpus").size() for unit, frame in known.items()}
    judged = annotations.groupby([*_PART, *_ITEM], dropna=False, sort=False).size()
    rows = []
    for (corpus, group, kind, method, label), times in judged.groupby([*_PART, "label"], sort=False):
        unit = METHODS[method].unit
        of_turns = unit == "pair" and times.index.get_level_values("turn").notna().all()
        n = int(size["pair of turns" if of_turns else unit][corpus])
        keys = {"corpus": corpus, "group": group, "method": method, "label": label, "level": unit, "n": n}
        for least in (1, 2):
            share = (times >= least).sum() / n
            rows.append(keys | {"kind": kind, "times": least, "estimate": share})
    return pd.DataFrame(rows).assign(statistic="coverage")


def workload(annotations: Annotations) -> pd.DataFrame:
    """What each known annotator did: corpus, group, method, annotator and `units`, the dialogues or pairs judged."""
    known = annotations[annotations["annotator_known"] & (annotations["annotator_kind"] == "human")]
    units = known.drop_duplicates(["corpus", "group", "method", "annotator", "dialogue", "dialogue_b"])
    return units.groupby(["corpus", "group", "method", "annotator"], sort=False).size().rename("units").reset_index()


def workload_summary(work: pd.DataFrame) -> pd.DataFrame:
    """Of each group and method, the median of what an annotator did, and the share of the busiest: result rows."""
    rows = []
    for (corpus, group, method), part in work.groupby(["corpus", "group", "method"], sort=False):
        keys = {"corpus": corpus, "group": group, "method": method, "level": METHODS[method].unit, "n": len(part)}
        median = {"statistic": "mean_count", "what": "median units an annotator"}
        rows.append(keys | median | {"estimate": part["units"].median()})
        rows.append(keys | {"statistic": "busiest_share", "estimate": part["units"].max() / part["units"].sum()})
    return pd.DataFrame(rows)


def shares(annotations: Annotations, labels: Iterable[Label], *, bins: int = 5) -> pd.DataFrame:
    """Share of each score among the annotations of a label, by corpus, method and kind of annotator: `score_share`.

    Every score of the scale has a row, also those nobody gave. Scales with more than 11 whole scores, or with
    fractions, are cut into `bins` equal parts, named `0-20`, … (each part includes its upper end).
    """
    known = {(label.method, label.id): label for label in labels}
    rows = []
    for (corpus, kind, method, name), part in annotations.groupby(
        ["corpus", "annotator_kind", "method", "label"], sort=False
    ):
        names, codes = _scores(part["score"].to_numpy(float), known[method, name], bins)
        share = np.bincount(codes, minlength=len(names)) / len(part)
        keys = {"corpus": corpus, "method": method, "label": name, "n": len(part)}
        rows += [keys | {"score": s, "kind": kind, "estimate": p} for s, p in zip(names, share, strict=True)]
    return pd.DataFrame(rows).assign(statistic="score_share")


def _scores(values: np.ndarray, label: Label, bins: int) -> tuple[list[str], np.ndarray]:
    low, high = label.scale
    if label.integer and high - low <= 10:
        return [f"{v:g}" for v in np.arange(low, high + 1)], (values - low).astype(int)
    edges = np.linspace(low, high, bins + 1)
    names = [f"{a:g}-{b:g}" for a, b in pairwise(edges)]
    return names, np.clip(np.searchsorted(edges, values, side="left") - 1, 0, bins - 1)
