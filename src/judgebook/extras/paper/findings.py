"""What an author can say of a study: facts from its data and results, put into words by `text.md.j2`.

A passage is a function of the material that gives its facts, or None where the study has nothing to say; the macro of
the template has its name. Values are those of the results, settings those of the YAML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd
from markupsafe import Markup

from judgebook.annotations.population import Population, modelled
from judgebook.annotations.scores import sampled
from judgebook.display.latex import tex
from judgebook.display.names import DisplayNames, display_names
from judgebook.display.text import Phrases
from judgebook.extras.paper import references
from judgebook.model.fit import ANNOTATOR, ANSWER, CONTEXT, ITEM, TASTE
from judgebook.questions.agreement.items import primary
from judgebook.questions.judges import analysis as judges_analysis
from judgebook.questions.performance import analysis as performance_analysis
from judgebook.questions.performance import leading
from judgebook.questions.performance.arrangement import in_order
from judgebook.questions.performance.leading import ALIKE, by_margin
from judgebook.questions.quality_control.worker_tests import of_those_who_passed
from judgebook.study.labels import METHODS
from judgebook.study.params import Study
from judgebook.study.results import Results, read
from judgebook.study.schema import COUNTS
from judgebook.study.sections.margins import told
from judgebook.study.stored import StoredStudy

_PHRASES = Phrases(__package__)
#: more systems than this are not listed
MANY = 12
#: packages whose versions are named
PACKAGES = ("numpy", "scipy", "statsmodels", "pandas")
#: what fits may take as random, in the order in which it is named
PARTS = (CONTEXT, ITEM, ANSWER, ANNOTATOR, TASTE)
_LABEL = ["corpus", "method", "group", "label"]
_SIDES = ("dialogue", "dialogue_b")
#: units of judgement in words
_UNITS = {"turn": "turn", "dialogue": "dialogue", "pair": "pair of dialogues"}


@dataclass(frozen=True)
class Made:
    """How a report came about. date : of its newest notebook. version : of this project. data : digest of the raw
    files. packages : versions by name."""

    date: str
    version: str
    data: str
    python: str
    packages: dict[str, str] = field(default_factory=dict)

    @property
    def year(self) -> str:
        return self.date[:4]


@dataclass(frozen=True)
class Material:
    """scores : judgements, one a row. results : notebook -> its results, of those that ran. counts : what became of the
    judgements that were read."""

    study: Study
    scores: pd.DataFrame
    results: dict[str, Results]
    names: DisplayNames
    made: Made
    counts: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(COUNTS)))

    def of(self, notebook: str) -> Results:
        """Results of the notebook with this number; none where it did not run or found nothing."""
        return next((r for name, r in self.results.items() if name.startswith(f"{notebook}_")), Results())

    @cached_property
    def populations(self) -> dict[tuple[str, str], Population]:
        """Whose judgements results of a run and group are about, as in notebook 07."""
        study = self.study
        counted = of_those_who_passed(self.scores, study.label_list(), study.control_system, study.quality_control)
        judged = performance_analysis.chosen(counted, study.unranked_systems, study.label_list())
        return modelled(judged, study.inference.annotators)

    @property
    def seeds(self) -> dict[str, int]:
        """The seeds in use, by name."""
        seeds = self.study.seeds.model_dump()
        return seeds if self.study.simulated else {name: seed for name, seed in seeds.items() if name != "simulate"}

    @property
    def human(self) -> pd.DataFrame:
        return self.scores[self.scores["annotator_kind"] == "human"]


def gather(stored: StoredStudy, made: Made) -> Material:
    """The material of a study that was run; of notebook 05 nothing, as which systems differ follows from 07."""
    scores = stored.scores.dropna(subset="score")
    folder = stored.folder / "results"
    paths = sorted(p for p in folder.glob("*.parquet") if "." not in p.stem) if folder.is_dir() else []
    results = {path.stem: read(path) for path in paths if not path.stem.startswith("05_")}
    fitted = results.get("07_bot_performance", Results())
    names = in_order(display_names(stored.params, scores), stored.params, scores, fitted)
    counts = stored.frame("counts")
    return Material(stored.params, scores, results, names, made, counts)


def items(scores: pd.DataFrame) -> pd.Series:
    """A number for what each judgement is about: method and dialogue, turn, or pair of dialogues in either order."""
    ends = scores[["dialogue", "dialogue_b"]].astype(object)
    swapped = (ends["dialogue_b"].notna() & (ends["dialogue_b"].fillna("") < ends["dialogue"].fillna(""))).to_numpy()
    left = ends["dialogue"].where(~swapped, ends["dialogue_b"])
    right = ends["dialogue_b"].where(~swapped, ends["dialogue"])
    keys = [scores["corpus"], scores["method"], left, right.fillna(""), scores["turn"].fillna(-1)]
    return scores.groupby(keys, sort=False, dropna=False).ngroup()


def people(scores: pd.DataFrame) -> dict[str, int | None]:
    """Annotators by group, of human judgements; None where they are positions in a list."""
    return {
        group: part["annotator"].nunique() if part["annotator_known"].all() else None
        for group, part in scores[scores["annotator_kind"] == "human"].groupby("group", sort=False)
    }


def judged_systems(scores: pd.DataFrame) -> list[str]:
    """Systems of either side, in order of appearance."""
    both = pd.concat([scores["system"], scores["system_b"]]).dropna()
    return list(dict.fromkeys(both))


def methods(m: Material) -> dict[str, str]:
    """The methods by passage, as Markdown with citations; without those of which there is nothing to say."""
    facts = {name: passage(m) for name, passage in PASSAGES.items()}
    texts = {name: _PHRASES.say(name, **content) for name, content in facts.items() if content is not None}
    return {name: re.sub(r"(?<=\S) {2,}", " ", text) for name, text in texts.items() if text}


def joined(texts: Mapping[str, str]) -> str:
    """Passages as one text."""
    return "\n\n".join(texts.values()) + "\n"


def level(m: Material) -> float:
    """Confidence level of the intervals."""
    return m.study.bootstrap.confidence


# Data


def _dialogues(scores: pd.DataFrame) -> int:
    """Dialogues that were judged; an id may recur in another corpus."""
    sides = [scores[["corpus", side]].dropna().set_axis(["corpus", "dialogue"], axis=1) for side in _SIDES]
    return len(pd.concat(sides).drop_duplicates())


def data(m: Material) -> dict:
    """What was judged by whom."""
    systems, of_data = judged_systems(m.scores), references.of_data(m.study)
    methods_ = [_method(m, method, part) for method, part in _by_method(m)]
    groups = people(m.scores)
    n_people = m.human.loc[m.human["annotator_known"].astype(bool), "annotator"].nunique()
    models = [m.names.name("group", g) for g in m.scores.loc[m.scores["annotator_kind"] != "human", "group"].unique()]
    return {
        "title": m.study.title,
        "cite": Markup(f" [@{of_data.key}]") if of_data else "",
        "simulated": m.study.simulated,
        "n": len(m.scores),
        "n_human": len(m.human),
        "dialogues": _dialogues(m.scores),
        "n_systems": len(systems),
        "systems": [m.names.name("system", s) for s in sorted(systems, key=lambda s: m.names.position("system", s))]
        if len(systems) <= MANY
        else [],
        "methods": methods_,
        "groups": [(m.names.name("group", g), n) for g, n in groups.items()],
        "overlap": None not in groups.values() and sum(n or 0 for n in groups.values()) > n_people,
        "n_people": n_people,
        "models": models,
        "control": m.names.name("system", m.study.control_system) if m.study.control_system else "",
    }


def _by_method(m: Material) -> list[tuple[str, pd.DataFrame]]:
    parts = dict(list(m.scores.groupby("method", sort=False)))
    return [(name, parts[name]) for name in METHODS if name in parts]


def _method(m: Material, method: str, part: pd.DataFrame) -> dict:
    judged = set(part["label"].unique())
    labels = [label for (of, _), label in m.names.labels.items() if of == method and label.id in judged]
    scales = list(dict.fromkeys(label.scale for label in labels))
    human = part[part["annotator_kind"] == "human"]
    return {
        "name": m.names.name("method", method),
        "unit": _UNITS[METHODS[method].unit],
        "labels": [label.title for label in labels],
        "scale": scales[0] if len(scales) == 1 else None,
        "binary": all(label.scale == (0, 1) and label.integer for label in labels),
        "words": any(label.categories for label in labels),
        "n_items": items(part).nunique(),
        "each": len(human) / len(human.assign(item=items(human))[["group", "label", "item"]].drop_duplicates())
        if len(human)
        else None,
    }


# Methods


def agreement(m: Material) -> dict | None:
    """How agreement was measured."""
    results = m.of("03")
    rows = primary(results) if results else pd.DataFrame()
    if not len(rows):
        return None
    return {
        "measurement": sorted(set(rows["measurement"])),
        "first": m.study.iaa.first,
        "units": agreement_units(rows[~rows["ci_kind"].isin(["jackknife_t", "not_estimable"])]),
        "both": agreement_units(rows[rows["ci_kind"] == "jackknife_t"]),
        "fixed": bool(rows["others"].notna().any()),
        "ac": bool(len(results["ac"])),
        "reason": bool((rows["resample"] == "dialogue").any()),
        "n_resamples": m.study.bootstrap.n_resamples,
        "level": level(m),
        "bca": bool((rows["ci_kind"] == "bca").any()),
        "bounds": bool((rows["ci_kind"] == "exact_bound").any()),
        "profile": bool((rows["ci_kind"] == "profile").any()),
        "weighted": sampled(m.scores),
    }


def agreement_units(rows: pd.DataFrame) -> list[str]:
    """What the intervals of alpha take for samples, in words: `contexts`, `contexts and annotators`."""
    words = {"pair": "pairs of dialogues"}
    each = ([words.get(u, f"{u}s") for u in over.split(" and ")] for over in rows["resample"])
    return list(dict.fromkeys(" and ".join(unit) for unit in each))


def scores(m: Material) -> dict | None:
    """How single systems were scored."""
    results = m.of("07")
    if not any(len(results[s]) for s in performance_analysis.SCORES):
        return None
    rows = performance_analysis.primary_scores(results)
    kinds, both = set(rows["statistic"]), rows["resample_unit"].fillna("").str.endswith(" and annotator")
    return {
        "statistics": [w for s, w in (("mean", "mean score"), ("rate", "rate of marks"), ("share", "share won"))
                       if s in kinds],
        "people": bool(both.any()),
        "alone": bool((~both).any()),
        "clusters": sorted({str(u).removesuffix(" and annotator") for u in rows["resample_unit"].dropna()}),
        "bca": bool((rows["ci_kind"] == "bca").any()),
        "n_resamples": m.study.bootstrap.n_resamples,
        "bounds": bool(rows["ci_kind"].isin(["exact_bound", "clustered_exact"]).any()),
        "level": level(m),
        "weighted": bool(len(results["unweighted"])),
    }  # fmt: skip


def order(m: Material) -> dict | None:
    """How systems were compared and ordered: `ratings` and `votes` by what their fits take as random."""
    results = m.of("07")
    if not results or not len(results["contrast"]):
        return None
    random: dict[bool, set[str]] = {votes: set() for votes in set(results["contrast"]["method"].map(_votes))}
    for row in results["component_share"].dropna(subset="estimate").itertuples():
        random[_votes(row.method)].add(row.part)
    ratings, votes = ([p for p in PARTS if p in random[v]] if v in random else None for v in (False, True))
    return {
        "ratings": ratings,
        "votes": votes,
        "marks": bool(len(results["rate"])),
        "level": level(m),
        "ranks": bool(len(results["rank"]) or len(results["overall_rank"])),
        "overall": bool(len(results["overall_level"])),
        "alike": within(m, results["contrast"]),
    }


def within(m: Material, contrasts: pd.DataFrame) -> str:
    """The margin of the YAML within which systems are equivalent, in words; empty where no label compared has one."""
    keys = dict.fromkeys(contrasts[["method", "label"]].itertuples(index=False, name=None))
    sizes = [told(m.study.margins[key], m.names.labels[key]) if key in m.study.margins else "" for key in keys]
    each = list(dict.fromkeys(filter(None, sizes)))
    return f"±{each[0]}" if len(each) == 1 and all(sizes) else "the margin stated for the label" if each else ""


def _votes(method: str) -> bool:
    return METHODS[method].unit == "pair"


def filters(m: Material) -> dict | None:
    """The rules of the YAML by which ratings were left out, and how many were."""
    if not m.study.filters:
        return None
    left = m.counts[m.counts["reason"].astype(str).str.endswith("(`filters`)")]
    remaining = m.counts[m.counts["what"].str.endswith("annotations") & (m.counts["action"] == "kept")]
    titles = {label: of_study.title for (_, label), of_study in m.names.labels.items()}
    rules = [(rule, [titles[label] for label in rule.labels]) for rule in m.study.filters]
    return {"rules": rules, "n": int(left["n"].sum()), "of": int(left["n"].sum() + remaining["n"].sum())}


def quality_control(m: Material) -> dict | None:
    """How workers were screened and runs compared."""
    results = m.of("10")
    if not results or not len(results["pass_rate"]):
        return None
    options = m.study.quality_control
    passed = of_those_who_passed(m.human, m.study.label_list(), m.study.control_system, options)
    n_passed, n = (len(f[["corpus", "annotator"]].drop_duplicates()) for f in (passed, m.human))
    return {
        "kept": n_passed,
        "n": n,
        "control": m.names.name("system", m.study.control_system or ""),
        "alpha": options.alpha,
        "labels": [_label(m, label) for label in options.labels],
        "replicated": bool(len(results["replication_r"])),
        "level": level(m),
    }


def judges(m: Material) -> dict | None:
    """How models were compared with people."""
    results = m.of("13")
    if not results or not len(results["judge_alpha"]):
        return None
    tested = results["winning_rate"]
    return {
        "judges": judge_titles(m, results["judge_alpha"]["metric"]),
        "cost": m.study.judges.cost,
        "min_items": m.study.judges.min_items,
        "alt_test": bool(tested["estimate"].notna().any()),
        "n_resamples": m.study.bootstrap.n_resamples,
        "level": level(m),
        "units": [f"{u}s" for u in dict.fromkeys(results["judge_alpha"]["resample_unit"].dropna())],
    }


def software(m: Material) -> dict:
    """What computed the results, from which data, with which seeds."""
    versions = {name: m.made.packages[name] for name in PACKAGES if name in m.made.packages}
    used = {"pick": "annotations picked at random", "downsample": "dialogues drawn", "permute": "permutations",
            "bootstrap": "resampling", "simulate": "simulated data"}  # fmt: skip
    return {
        "cite": Markup(f" [@{report_key(m)}]"),
        "version": m.made.version,
        "python": m.made.python,
        "numpy": versions.get("numpy"),
        "scipy": versions.get("scipy"),
        "others": [f"{n} {v}" for n, v in versions.items() if n not in ("numpy", "scipy")],
        "data": m.made.data,
        "seeds": [f"{used[name]}: {seed}" for name, seed in m.seeds.items()],
    }


def _label(m: Material, label: str) -> str:
    return next((of_study.title for (_, id_), of_study in m.names.labels.items() if id_ == label), label)


def judge_titles(m: Material, metrics_: Any) -> list[str]:
    """Display names of models."""
    titles = judges_analysis.judge_titles(m.study.groups, m.scores, m.study.judges.titles)
    return [titles.get(j, m.names.name("group", j)) for j in dict.fromkeys(metrics_)]


PASSAGES: Mapping[str, Callable[[Material], dict | None]] = {
    "data": data,
    "filters": filters,
    "agreement": agreement,
    "scores": scores,
    "order": order,
    "quality_control": quality_control,
    "judges": judges,
    "software": software,
}


def report_key(m: Material) -> str:
    """Key of the BibTeX entry of the report."""
    return f"{m.study.key}_report_{m.made.year}".lower()


def report_entry(m: Material) -> references.Entry:
    """How to cite the report: its authors and address, if the YAML names them; date, version, data and seeds."""
    seeds = ", ".join(f"{name} {seed}" for name, seed in m.seeds.items())
    authors = " and ".join(map(tex, m.study.authors))
    fields = {
        "author": authors or "{The judgebook contributors}",
        "title": "{Analysis of the study: " + tex(m.study.title) + "}",
        "howpublished": "judgebook, a reproducible compendium for human evaluation of chat systems",
        "year": m.made.year,
        "version": tex(m.made.version),
        "url": tex(m.study.report_url),
        "note": tex(f"Report of {m.made.date}; data {m.made.data}; seeds: {seeds}"),
    }
    return references.entry("misc", report_key(m), {name: value for name, value in fields.items() if value})


# Pairs of systems


@dataclass(frozen=True)
class OnLabel:
    """The sentences on a label (Markdown), in the order of systems; evaluation : method, group and run."""

    evaluation: str
    label: str
    sentences: list[str]


def on_pairs(m: Material) -> list[OnLabel]:
    """All sentences by evaluation and label; none where systems were not compared."""
    results = m.of("07")
    rows = results["contrast"].dropna(subset="ci_low") if results else pd.DataFrame()
    return list(_by_label(m, rows)) if len(rows) else []


def _by_label(m: Material, rows: pd.DataFrame) -> Iterator[OnLabel]:
    rows = rows.assign(decided=leading.decided(rows))
    for (corpus, method, group, label), part in m.names.sort(rows).groupby(_LABEL, sort=False):
        others = m.populations[corpus, group].others
        each = by_margin(part, m.study.margins, method).to_dict("records")
        sentences = [_sentence(m, row, len(part), others=others) for row in each]
        yield OnLabel(_evaluation(m, corpus, method, group, rows), m.names.name("label", label, method), sentences)


def _evaluation(m: Material, corpus: str, method: str, group: str, rows: pd.DataFrame) -> str:
    """Method, with group and corpus where `rows` have several."""
    several = {"group": group, "corpus": corpus}
    parts = [m.names.name(column, name) for column, name in several.items() if len(rows[column].unique()) > 1]
    return ", ".join([m.names.name("method", method), *parts])


def _unit(m: Material, method: str, label: str) -> tuple[float, float] | str:
    """What differences on a label are in: `wins` (share won minus share lost), `share` of marks, or the scale."""
    if METHODS[method].unit == "pair":
        return "wins"
    scale = m.names.labels[method, label].scale
    return "share" if scale == (0, 1) else scale


def _sentence(m: Material, row: dict, n: int, *, others: bool) -> str:
    """row : of `contrast`, with its verdict, and whether it is decided. n : pairs that the interval and p are adjusted
    for."""
    unit = _unit(m, row["method"], row["label"])
    scale = 1 if isinstance(unit, tuple) else 100
    turned = row["estimate"] < 0
    values = [row["estimate"], row["ci_low"], row["ci_high"]]
    values = [scale * v * (-1 if turned else 1) for v in values]
    systems = [m.names.name("system", row[k]) for k in ("system", "system_b")]
    facts = {
        "label": m.names.name("label", row["label"], row["method"]),
        "first": systems[turned],
        "second": systems[not turned],
        "estimate": values[0],
        "ends": sorted(values[1:]),
        "unit": unit,
        "p": row["p_adjusted"],
        "n": n,
        "level": level(m),
        "decided": row["decided"],
        "others": others,
        "alike": told(row["margin"], m.names.labels[row["method"], row["label"]]) if row["verdict"] == ALIKE else "",
        "worse": m.names.labels[row["method"], row["label"]].direction == -1,
    }
    return _PHRASES.say("pair", **facts)
