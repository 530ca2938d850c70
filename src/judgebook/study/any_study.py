"""What any study's YAML may say, whatever its questions: `params.Study` adds the sections that questions declare.

An element of `sources:` has a model per adapter, identified by `adapter`. An adapter is two modules with its name:
`sources/adapters/options/<name>.py` has its model, as `SOURCE`, and `sources/adapters/<name>.py` reads, with pandas,
which the command line does without. Both are found by their name, here and in packages that add to this one.
"""

from __future__ import annotations

import fnmatch
import importlib
import math
import operator
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, model_validator

from judgebook import project
from judgebook.study import conditions, escape, limits, questions
from judgebook.study import labels as label_registry
from judgebook.study.labels import DEFAULT_METHOD, METHODS, Label, Method, spelled_out
from judgebook.study.sections.data import (
    NO_METHODS,
    Bootstrap,
    Elicitation,
    Figures,
    Filter,
    Group,
    Heds,
    Identifier,
    Inference,
    LabelSpec,
    MethodName,
    MethodSpec,
    Scope,
    Section,
    Seeds,
    Simulate,
)
from judgebook.study.sections.margins import Margins, by_label
from judgebook.study.source_shared import Name, SourceModel, Values
from judgebook.study.yaml_file import ParamsError

#: the packages with the models of adapters, in each that has some
OPTIONS = "sources.adapters.options"


def _declared() -> list[type[SourceModel]]:
    """The model of each adapter, by name.

    Raises ValueError where a module declares the adapter of another.
    """
    packages = project.packages().items()
    found = {p.stem: package for package, path in packages for p in path.glob(f"{OPTIONS.replace('.', '/')}/[a-z]*.py")}
    models: list[type[SourceModel]] = []
    for name, package in sorted(found.items()):
        model = importlib.import_module(f"{package}.{OPTIONS}.{name}").SOURCE
        if adapter_of(model) != name:
            raise ValueError(f"{model.__module__}: expected the adapter {name!r}, found {adapter_of(model)!r}")
        models.append(model)
    return models


def adapter_of(model: type[SourceModel]) -> str:
    """The name of the adapter that a model is of."""
    (name,) = get_args(model.model_fields["adapter"].annotation)
    return name


MODELS = _declared()
if TYPE_CHECKING:
    Source = Any
else:
    Source = Annotated[reduce(operator.or_, MODELS), Field(discriminator="adapter")]


FilterColumn = Literal[
    "annotator", "system", "label", "method", "dialogue", "session", "context", "group", "corpus", "annotator_kind"
]


def _plain(value: Any) -> Any:
    """Raises ValueError where a value could not be written to JSON and read again."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise ValueError(f'expected keys that are text, found {key!r}: write "{key}"')
            _plain(inner)
    elif isinstance(value, list):
        for inner in value:
            _plain(inner)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"expected a finite number, found {value}")
    return value


#: whatever a YAML can say
Free = Annotated[Any, AfterValidator(_plain)]


class AnyStudy(Section):
    """What any study may say."""

    title: Annotated[str, Field(min_length=1, max_length=limits.TITLE)] = Field(
        description="what the study is called on every page"
    )
    description: str = Field("", description="what it is about, in a sentence or two, for its first page")
    simulated: bool = Field(False, description="true: every figure and page says so")
    licence: str = Field("", description="licence of the data")
    citation: str = Field("", description="what to cite when the data are used")
    bibtex: str = Field(
        "",
        description="the same as a BibTeX entry, for the references of a paper; or the key of one in "
        "src/judgebook/extras/paper/data.bib",
        examples=["ji2022"],
    )
    authors: list[str] = Field(
        [], description="who answers for the report, as its citation names them", examples=[["Doe, Jane"]]
    )
    report_url: str = Field("", description="where the report is published, for its citation")
    open_questions: dict[str, str] = Field(
        {},
        description="what `new` was unsure of: fact → question with the answer assumed. `check` and the first page "
        "repeat each until its line is deleted",
        examples=[{"system": "Which column names the system? Assumed: the column 'bot'."}],
    )
    assumed: dict[str, str] = Field(
        {},
        description="what `new --yes` took for granted: fact → question with the answer assumed. The first page "
        "repeats each until its line is deleted; `check` asks for nothing",
        examples=[{"annotator": "Who judged? Assumed: the column 'worker'."}],
    )
    gate: list[str] = Field(
        [],
        description="what `gate` requires of the study, where its call names nothing",
        examples=[["new not worse than old on quality by 0.2", "agreement on quality at least 0.667"]],
    )
    extra: dict[Identifier, Free] = Field(
        {},
        description="what notebooks of your own read: any keys, each a value, a list or a map "
        "([how](own_project.md#values-of-your-own)); in a run, ids of people in it become pseudonyms",
        examples=[{"min_words": 5, "experts": ["w1", "w7"]}],
    )
    heds: Heds = Heds()
    sources: list[Source] = Field([], description="the files, each with the adapter that reads it")
    across: bool = Field(False, description="true: no data of its own; its notebooks read results of other studies")
    methods: dict[Identifier, MethodSpec] = Field(
        {},
        description="methods of the study's own, beside [those that every study has](#methods): id -> what it is",
        examples=[{"best_worst": {"title": "Best-worst scaling", "unit": "pair"}}],
    )
    method: MethodName | None = Field(
        None, description=f"method of labels that do not name one; null: {DEFAULT_METHOD}", examples=["turn_rating"]
    )
    label_set: str | None = Field(
        None, description="a set of labels that a paper defines, in addition to `labels`", examples=["abc_eval"]
    )
    labels: dict[Identifier, LabelSpec] = Field(
        {}, description="label -> what its scores mean", examples=[{"fluency": {"scale": [1, 5]}}]
    )
    margin: Margins = Field(
        {},
        description="smallest difference between two systems that matters, in units of the label or (`5%`) in "
        "percentage points of a rate: for all labels, by label, or by method and label; without a method, a label that "
        "is both rated and compared means the ratings. The first page, notebooks 05 and 14 and `gate` compare with it; "
        "labels without one have `planning.effect`, in standard deviations",
        examples=[0.2, {"fluency": 0.25}],
    )
    systems: dict[str, str] = Field(
        {},
        description="system as in the data -> name shown, in the order of figures",
        examples=[{"blender_3b": "BlenderBot (3B)"}],
    )
    corpora: dict[str, str] = Field(
        {},
        description="corpus (run or part of the data) as in the data -> name shown",
        examples=[{"free_run1": "First run"}],
    )
    control_system: str | None = Field(None, description="the deliberately degraded system, for quality control")
    unranked_systems: list[str] = Field(
        [], description="people and dummies: shown, but left out of rankings", examples=[["human"]]
    )
    metric_directions: dict[str, Literal[-1, 1]] = Field(
        {}, description="metric -> -1 where it is lower for better systems", examples=[{"perplexity": -1}]
    )
    groups: dict[Name, Group] = Field(
        {},
        description="evaluator groups, in the order of figures: id as in the column `group` -> who belongs to it",
        examples=[{"students": {"title": "Students"}}],
    )
    pseudonyms: Literal["by appearance", "shuffled"] = Field(
        "by appearance",
        description="how people and tasks are numbered: in the order of the files, or in a random one that only "
        "`own_ids.csv` tells, with judgements sorted by it. For judgements that are to be shared: the order of the "
        "files may be that of names or ids",
        examples=["shuffled"],
    )
    keep: dict[FilterColumn, Values] = Field(
        {},
        description="only these judgements, of all sources: our column -> value or values, as spelt there",
        examples=[{"label": ["fluency", "quality"]}],
    )
    drop: dict[FilterColumn, Values] = Field(
        {},
        description="judgements left out, of all sources: our column -> value or values (* is any text), or a "
        "condition as in `sources[].drop`",
        examples=[{"annotator": "w13"}],
    )
    spelling: dict[Literal["system", "annotator", "label"], dict[Name, Annotated[list[Name], Field(min_length=1)]]] = (
        Field(
            {},
            description="names that the data spell in several ways: what they name -> the spelling that counts -> the "
            "others, merged before repeated judgements are looked for and before any `keep` and `drop`. `check` "
            "proposes it",
            examples=[{"system": {"ChatGPT": ["Chatgpt", "chat gpt"]}, "annotator": {"anna": ["Anna"]}}],
        )
    )
    filters: list[Filter] = Field(
        [],
        description="rules by which ratings that differ from the others are left out, in order; after them, agreement "
        "is higher by construction",
        examples=[[{"rule": "deviation", "most": 1}]],
    )
    bootstrap: Bootstrap = Bootstrap()
    inference: Inference = Inference()
    seeds: Seeds = Seeds()
    figures: Figures = Figures()
    elicitation: Elicitation = Elicitation()
    scope: Scope | None = Field(None, description="what a paper left out")
    simulate: Simulate | None = Field(None, description="generate the study's data; absent: they are read")

    _key: str = ""
    _path: Path | None = None

    @model_validator(mode="after")
    def _has_data(self) -> AnyStudy:
        if not self.sources and not self.across:
            hint = "before there are data, name the file that will hold them, as in the first lines of docs/annotate.md"
            raise ValueError(f"sources: expected a list of at least 1 item, found []; {hint}")
        if self.sources and self.across:
            raise ValueError("sources: expected none where `across` is true, found some")
        return self

    @model_validator(mode="after")
    def _own_methods(self) -> AnyStudy:
        for name in self.methods:
            if name in (*METHODS.built_in, *NO_METHODS):
                raise ValueError(f"methods.{name}: expected a name that no other method has, found {name!r}")
        METHODS.declare(self.own_methods)
        return self

    @model_validator(mode="after")
    def _spelt_once(self) -> AnyStudy:
        for column, names in self.spelling.items():
            others = [one for many in names.values() for one in many]
            twice = [one for one in others if one in names or others.count(one) > 1]
            if twice:
                raise ValueError(f"spelling.{column}: expected each spelling under one name, found {twice[0]!r} twice")
        return self

    @model_validator(mode="after")
    def _known_names(self) -> AnyStudy:
        if self.label_set is not None and self.label_set not in label_registry.LABEL_SETS:
            raise ValueError(
                f"label_set: expected one of {sorted(label_registry.LABEL_SETS)}, found {self.label_set!r}"
            )
        for name, spec in self.labels.items():
            if self._method_of(spec).unit == "pair" and not -1 <= spec.ends[0] < spec.ends[1] <= 1:
                raise ValueError(
                    f"labels.{name}.scale: a comparison says who is better: expected [-1, 1], found {list(spec.ends)}; "
                    "`values` of the source maps what the file says, e.g. {A much better: 1, A better: 1, same: 0, B "
                    "better: -1}"
                )
        listed: dict[str, list[str]] = {}
        for name, group in self.groups.items():
            for id_ in group.annotators:
                listed.setdefault(id_, []).append(name)
        for id_, names_ in listed.items():
            if len(names_) > 1:
                raise ValueError(f"groups.{names_[0]}.annotators: expected {id_!r} in one group, found it in {names_}")
        for name, group in self.groups.items():
            for part in group.parts:
                if part in self.groups or sum(part in other.parts for other in self.groups.values()) > 1:
                    raise ValueError(f"groups.{name}.parts: expected a name that nothing else has, found {part!r}")
        if self.simulate is not None and not self.simulated:
            raise ValueError("simulated: expected true where there is a `simulate` section, found false")
        return self

    @property
    def unconfirmed(self) -> dict[str, str]:
        """What nobody has confirmed of how the data are read: fact -> question with the answer assumed."""
        return self.open_questions | self.assumed

    @property
    def own_methods(self) -> list[Method]:
        """The methods that the YAML declares."""
        return [Method(id_, spec.title or spelled_out(id_), spec.unit) for id_, spec in self.methods.items()]

    def _method_of(self, spec: LabelSpec) -> Method:
        return METHODS[spec.method or self.method or DEFAULT_METHOD]

    @property
    def parts(self) -> dict[str, list[str]]:
        """Members of the parts of groups, by the name of the part."""
        return {part: ids for group in self.groups.values() for part, ids in group.parts.items()}

    @model_validator(mode="after")
    def _margins_fit(self) -> AnyStudy:
        by_label(self.margin, self.label_list(every=True))
        return self

    @property
    def margins(self) -> dict[tuple[str, str], float]:
        """(method, label) -> the smallest difference that matters, in units of the label; only where one is stated."""
        return by_label(self.margin, self.label_list(every=True))

    @model_validator(mode="after")
    def _as_questions_ask(self) -> AnyStudy:
        for question in questions.declared().values():
            if question.check:
                question.check(self)
        return self

    @property
    def key(self) -> str:
        return self._key

    @property
    def path(self) -> Path | None:
        return self._path

    def section(self, name: str) -> Any:
        """The named part of the YAML, defaults filled in."""
        if name not in type(self).model_fields:
            raise ParamsError(f"no section {name!r}; there are {', '.join(type(self).model_fields)}")
        return getattr(self, name)

    def label_list(self, *, every: bool = False, told_apart: bool = True) -> list[Label]:
        """The labels of the study, its own after those of `label_set`, in the order of figures.

        every : also those that `keep` and `drop` leave out. told_apart : with ids in titles that two labels of one
        method share.
        """
        out = list(label_registry.LABEL_SETS[self.label_set]) if self.label_set else []
        out += [self._label(id_, spec) for id_, spec in self.labels.items()]
        out = out if every else [label for label in out if not self._left_out(label.id)]
        return _told_apart(out) if told_apart else out

    def _label(self, id_: str, spec: LabelSpec) -> Label:
        """A label as declared; without a direction it is a preference by its name, or nobody said which way is good."""
        label = Label(
            id=spec.id or id_,
            method=self._method_of(spec).id,
            title=spec.title or id_.replace("_", " ").capitalize(),
            scale=spec.ends,
            level=spec.measurement,
            integer=spec.integer,
            direction=spec.direction or 0,
            task=spec.task,
            categories=tuple(spec.categories),
        )
        if spec.direction is not None or label.unordered:
            return label
        preferred = METHODS[label.method].unit == "pair" and label.id in label_registry.PREFERENCES
        return replace(label, direction=int(preferred), direction_declared=preferred)

    def _left_out(self, label: str) -> bool:
        """Whether `keep` and `drop` leave out a label: here, or in all sources."""
        of_sources = [(getattr(source, "keep", {}), getattr(source, "drop", {})) for source in self.sources]
        return _excluded(label, self.keep, self.drop) or (
            bool(self.sources) and all(_excluded(label, *rules) for rules in of_sources)
        )


def _told_apart(labels: list[Label]) -> list[Label]:
    methods = {label.method for label in labels}
    titles = {m: escape.distinct({label.id: label.title for label in labels if label.method == m}) for m in methods}
    return [replace(label, title=titles[label.method][label.id]) for label in labels]


def _excluded(label: str, keep: dict[FilterColumn, Values], drop: dict[FilterColumn, Values]) -> bool:
    def named(rules: dict[FilterColumn, Values]) -> bool:
        values = rules["label"] if isinstance(rules["label"], list) else [rules["label"]]
        return any(fnmatch.fnmatchcase(label, str(value)) for value in values)

    if any(conditions.parse(v) for r in (keep, drop) for v in conditions.listed(r.get("label", []))):
        return False
    return ("label" in keep and not named(keep)) or ("label" in drop and named(drop))
