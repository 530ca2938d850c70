"""The YAML of a study: strict models, inheritance from `defaults.yaml`, errors that name file, line and key.

`load("demo")` reads `params/demo.yaml` on top of `params/defaults.yaml`; `load(path)` reads a file anywhere. Maps are
merged key by key, lists and scalars replace. Nothing here imports pandas: the command line must start at once.
"""

from __future__ import annotations

import difflib
import fnmatch
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import yaml
from pydantic import BaseModel, Field, ValidationError, create_model, model_validator

from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.study import labels as label_registry
from judgebook.study import limits, questions, yaml_file
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
from judgebook.study.source_options import Source
from judgebook.study.source_shared import Values

ROOT = project.ROOT
FilterColumn = Literal[
    "annotator", "system", "label", "method", "dialogue", "session", "context", "group", "corpus", "annotator_kind"
]


class ParamsError(JudgebookError, ValueError):
    """A YAML that cannot be used. The message has file, line, key, what was expected and what was found."""


class _Study(Section):
    """What any study may say; `Study` adds the sections that questions declare."""

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
    groups: dict[Identifier, Group] = Field(
        {},
        description="evaluator groups, in the order of figures: id as in the column `group` -> who belongs to it",
        examples=[{"students": {"title": "Students"}}],
    )
    keep: dict[FilterColumn, Values] = Field(
        {},
        description="only these judgements, of all sources: our column -> value or values, as spelt there",
        examples=[{"label": ["fluency", "quality"]}],
    )
    drop: dict[FilterColumn, Values] = Field(
        {},
        description="judgements left out, of all sources: our column -> value or values; * is any text",
        examples=[{"annotator": "w13"}],
    )
    filters: list[Filter] = Field(
        [],
        description="rules by which ratings or annotators that differ from the others are left out, in order; after "
        "them, agreement is higher by construction",
        examples=[[{"rule": "deviation", "most": 1}, {"rule": "kappa", "least": 0.2}]],
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
    def _has_data(self) -> _Study:
        if not self.sources and not self.across:
            raise ValueError("sources: expected a list of at least 1 item, found []")
        if self.sources and self.across:
            raise ValueError("sources: expected none where `across` is true, found some")
        return self

    @model_validator(mode="after")
    def _own_methods(self) -> _Study:
        for name in self.methods:
            if name in (*METHODS.built_in, *NO_METHODS):
                raise ValueError(f"methods.{name}: expected a name that no other method has, found {name!r}")
        METHODS.declare(self.own_methods)
        return self

    @model_validator(mode="after")
    def _known_names(self) -> _Study:
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
    def _as_questions_ask(self) -> _Study:
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

    def label_list(self, *, every: bool = False) -> list[Label]:
        """The labels of the study, its own after those of `label_set`, in the order of figures.

        every : also those that `keep` and `drop` leave out.
        """
        out = list(label_registry.LABEL_SETS[self.label_set]) if self.label_set else []
        out += [self._label(id_, spec) for id_, spec in self.labels.items()]
        return out if every else [label for label in out if not self._left_out(label.id)]

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
        own = [getattr(source, "keep", {}) for source in self.sources], [getattr(s, "drop", {}) for s in self.sources]
        return _excluded(label, self.keep, self.drop) or (
            bool(self.sources) and all(_excluded(label, *rules) for rules in zip(*own, strict=True))
        )


if TYPE_CHECKING:
    from judgebook.study.asked import Study
else:
    Study = create_model(
        "Study",
        __base__=_Study,
        __doc__="One study. `key` is the stem of its file.",
        __module__=__name__,
        **{name: (model, model.model_construct()) for name, model in questions.options().items()},
    )


def _excluded(label: str, keep: dict[FilterColumn, Values], drop: dict[FilterColumn, Values]) -> bool:
    def named(rules: dict[FilterColumn, Values]) -> bool:
        values = rules["label"] if isinstance(rules["label"], list) else [rules["label"]]
        return any(fnmatch.fnmatchcase(label, str(value)) for value in values)

    return ("label" in keep and not named(keep)) or ("label" in drop and named(drop))


def _read(path: Path) -> tuple[dict, yaml.Node | None]:
    try:
        with path.open("rb") as file:
            raw = file.read(4 * limits.YAML_BYTES + 1)
        # a byte order mark, as editors on Windows write it, says which encoding it is
        text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except FileNotFoundError:
        raise ParamsError(f"{path}: no such file") from None
    except OSError as error:
        raise ParamsError(f"{path}: expected a file that can be read, found: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ParamsError(f"{path}, line {line}: expected UTF-8 text, found a byte that is not ({error})") from None
    try:
        data, node = yaml_file.parse(text)
    except yaml_file.ParseError as error:
        place = f"{path}, line {error.line}" if error.line else f"{path}"
        raise ParamsError(f"{place}: {error}") from None
    if not isinstance(data, dict):
        raise ParamsError(f"{path}: expected `key: value` lines, found {type(data).__name__}")
    return data, node


def merged(*trees: Any) -> Any:
    """Nested dicts as one, key by key; what is not a dict is replaced by what comes later."""
    out: Any = {}
    for tree in trees:
        both = isinstance(out, dict) and isinstance(tree, dict)
        out = {**out, **{k: merged(out.get(k), v) for k, v in tree.items()}} if both else tree
    return out


def nested(path: str, value: Any) -> dict:
    """`nested("a.b", 1)` is `{"a": {"b": 1}}`."""
    for part in reversed(path.split(".")):
        value = {part: value}
    return value


def _line(node: yaml.Node | None, loc: tuple) -> int | None:
    """Line of the deepest part of `loc` that the file has."""
    line = None
    for part in loc:
        if isinstance(node, yaml.MappingNode):
            for key, value in reversed(node.value):  # what was merged by << stands first
                if key.value == str(part):
                    line, node = key.start_mark.line + 1, value
                    break
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line


def _fields_at(loc: tuple) -> list[str]:
    """Names allowed at the place of an unknown key, to suggest the nearest."""
    model: Any = Study
    for part in loc[:-1]:
        field = model.model_fields.get(part) if isinstance(part, str) and hasattr(model, "model_fields") else None
        candidates = [model] if field is None else _models_in(field.annotation)
        if field is None:  # the tag of a union, a list index or a free key: step into the model it names, if any
            candidates = [m for m in _models_in(Source) if part in _models_tag(m)] or [model]
        if not candidates:
            return []
        model = candidates[0]
    return list(getattr(model, "model_fields", {}))


def _models_tag(model: type[BaseModel]) -> tuple[str, ...]:
    return getattr(model.model_fields["adapter"].annotation, "__args__", ())


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for arg in getattr(annotation, "__args__", ()) for m in _models_in(arg)]


#: mistakes of a YAML that are told at a time
_MOST_SAID = 20


def _explain(error: ValidationError, path: Path, node: yaml.Node | None, overridden: set[str]) -> str:
    errors = error.errors(include_url=False)
    said = [_sentence(e, path, node, overridden) for e in errors[:_MOST_SAID]]
    more = len(errors) - len(said)
    return "\n".join([*said, f"… and {more:,} more"] if more else said)


def _sentence(e: Any, path: Path, node: yaml.Node | None, overridden: set[str]) -> str:
    """One mistake: place, key, what was expected and found."""
    # the adapter's name is no key of the YAML, and "[key]" marks a key that is itself wrong
    loc = tuple(p for i, p in enumerate(e["loc"]) if p != "[key]" and not (i == 2 and e["loc"][0] == "sources"))
    text = e["msg"].removeprefix("Value error, ")
    own, colon, rest = text.partition(": ")
    if not loc and colon and _line(node, tuple(own.split("."))):
        loc, text = tuple(own.split(".")), rest  # a check of the whole study names the key itself
    key = ".".join(str(p) for p in loc) or "(file)"
    line = _line(node, loc)
    # a wrong name high up makes a key of its own, which the file does not have
    by_set = any(key == o or key.startswith(f"{o}.") or (line is None and o.startswith(f"{key}.")) for o in overridden)
    place = "--set" if by_set else f"{path}" + (f", line {line}" if line else "")
    if e["type"] == "extra_forbidden":
        allowed = _fields_at(e["loc"])
        near = difflib.get_close_matches(str(loc[-1]), allowed, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(allowed)}"
        return f"{place}: {key!r}: unknown key; {hint}"
    if e["type"] in ("union_tag_invalid", "union_tag_not_found"):
        tags = ", ".join(tag for model in _models_in(Source) for tag in _models_tag(model))
        return f"{place}: {key!r}: adapter: expected one of {tags}, found {e['ctx'].get('tag', 'none')!r}"
    for theirs, ours in _WORDS:
        text = text.replace(theirs, ours)
    found = f", found {_quoted(e['input'])}" if e["type"] not in ("missing", "value_error") else ""
    hint = "; YAML reads yes, no, on, off as true and false: put text in quotes" if _reads_as_bool(e) else ""
    return f"{place}: {key!r}: {text}{found}{hint}"


_WORDS = (
    ("Input should be", "expected"),
    ("String should match pattern", "expected a name that matches"),
    ("String should have", "expected text of"),
    ("List should have", "expected a list of"),
    ("Field required", "this key is required"),
)


def _reads_as_bool(e: Any) -> bool:
    return isinstance(e["input"], bool) and e["type"] in ("string_type", "literal_error")


def parse_set(items: list[str]) -> dict:
    """`["a.b=1"]` as `{"a": {"b": 1}}`; values are read as YAML."""
    out: dict = {}
    for item in items:
        key, eq, text = item.partition("=")
        parts = key.split(".")
        if not eq or not all(p.isidentifier() for p in parts) or len(parts) > limits.YAML_DEPTH:
            raise ParamsError(f"--set: expected section.key=value, found {_quoted(item)}")
        try:
            value, _ = yaml_file.parse(text)
        except yaml_file.ParseError as error:
            raise ParamsError(f"--set: {key}: not a YAML value: {_quoted(text)}: {error}") from None
        out = merged(out, nested(key, value))
    return out


def find(study: str | os.PathLike) -> Path:
    """The YAML of a study given by name (`params/<name>.yaml`) or by path. Raises ParamsError with what there is."""
    path = Path(study)
    if path.suffix in (".yaml", ".yml"):
        if not is_file(path):
            raise ParamsError(f"{str(path)[: limits.QUOTED]}: no such file")
        return path.resolve()
    known = next((p for p in (f / f"{study}.yaml" for f in project.yaml_folders()) if is_file(p)), None)
    if known is None:
        near = difflib.get_close_matches(str(study)[: limits.NAME], names(), n=1)
        raise ParamsError(
            f"no study {_quoted(study)}"
            + (f"; did you mean {near[0]!r}?" if near else ".")
            + f" There are {', '.join(names())}"
        )
    return known


def is_file(path: Path) -> bool:
    """Whether there is such a file; False also for a path that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # longer than the system allows, or with a null character
        return False


def _quoted(value: object) -> str:
    """A value as a message quotes it: not at any length."""
    text = repr(str(value)) if isinstance(value, os.PathLike) else repr(value)
    return text if len(text) <= limits.QUOTED else f"{text[: limits.QUOTED]}… ({len(text):,} characters)"


def names() -> list[str]:
    """Studies in `params/`."""
    found = {path.stem for folder in project.yaml_folders() for path in folder.glob("[!.]*.yaml")}
    return sorted(found - {"defaults"})


def defaults() -> dict:
    """What `params/defaults.yaml` gives every study."""
    return _read(ROOT / "params" / "defaults.yaml")[0]


def load(study: str | os.PathLike, overrides: dict | None = None, *, key: str | None = None) -> Study:
    """A study by name or path, on top of `params/defaults.yaml`, with `overrides` (as from `parse_set`) on top of both.

    `key` names the study when the file's stem does not.

    Raises ParamsError naming every problem with file, line, key, what was expected and what was found.
    """
    path = find(study)
    key = key or path.stem
    if not key.isidentifier():
        raise ParamsError(f"{path}: a study's file name is its key: expected letters, digits and _, found {key!r}")
    data, node = _read(path)
    overrides = overrides or {}
    given = merged(defaults(), data, overrides)
    declared = given.get("methods")
    try:
        out = Study.model_validate(given, context={"methods": declared if isinstance(declared, dict) else ()})
    except ValidationError as error:
        raise ParamsError(_explain(error, path, node, _paths(overrides))) from None
    out._key, out._path = key, path
    return out


def origin(study: Study, path: str) -> str:
    """Where the value at a dotted path is from, if nothing overrode it: the name of the study's file, or `default`."""
    if study.path is None:
        return "default"
    data: Any = _read(study.path)[0]
    for part in path.split("."):
        if not isinstance(data, dict) or part not in data:
            return "default"
        data = data[part]
    return study.path.name


def _paths(tree: Any, prefix: str = "") -> set[str]:
    if not isinstance(tree, dict):
        return {prefix}
    return {p for k, v in tree.items() for p in _paths(v, f"{prefix}.{k}" if prefix else str(k))}


def json_schema() -> dict:
    """JSON schema of a study's YAML, for editors. Little is required: defaults are inherited."""
    schema = Study.model_json_schema()
    schema["required"] = ["title"]
    return schema
