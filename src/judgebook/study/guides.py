"""docs/yaml.md and docs/results.md: every key of a study's YAML, from the models that read it, and where results lie
and what their columns mean, from the declarations that the code uses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from math import isinf
from typing import Any

import yaml
from pydantic import BaseModel

from judgebook.study import params, questions, result_schema, schema
from judgebook.study.labels import LABEL_SETS, METHODS, TEXT_METRICS
from judgebook.study.schema import ANNOTATIONS, DIALOGUES
from judgebook.study.source_shared import OURS, FileOptions, JudgementOptions, SourceModel

YAML_HEAD = """\
# The keys of a study's YAML

Written by `python run_all.py schema` from the models that read a YAML: to change a description, edit the model in
`src/judgebook/study/` or in `question.py` of the notebook's folder. [own_data.md](own_data.md) shows how keys are used
together.

`title` is required, and `sources` unless the study compares others (`across`). Every label in the data is declared,
under `labels` or by `label_set`. Maps are merged key by key with `params/defaults.yaml`; lists and single values
replace what is there. `--set section.key=value` changes a key for one run. Unknown keys are errors.

In the tables, `a → b` is a map from a to b, `NAME` a name of yours, and `[]` stands for each element of a list.
"""
#: headings of keys at the top of a YAML; all other keys are sections, which describe themselves
PARTS = {
    "The study": (
        "title",
        "description",
        "licence",
        "citation",
        "bibtex",
        "authors",
        "report_url",
        "open_questions",
        "assumed",
        "gate",
        "extra",
        "simulated",
        "across",
    ),
    "Labels": ("methods", "method", "label_set", "labels", "margin"),
    "Systems and metrics": ("systems", "corpora", "control_system", "unranked_systems", "metric_directions"),
    "People": ("groups", "pseudonyms"),
    "Which judgements count": ("spelling", "keep", "drop", "filters"),
}
ALL_NOTEBOOKS = ("bootstrap", "inference", "seeds", "figures")
OTHER = ("scope", "elicitation", "simulate", "heds")
#: long lists of values that many keys share: where they are listed
LISTED = {
    OURS: "[our column](#our-columns)",
    tuple(METHODS.built_in): "[method](#methods)",
    ("collection", *METHODS.built_in): "`collection` or [method](#methods)",
    TEXT_METRICS: "[text metric](#metrics-computed-from-texts)",
}


def yaml_keys() -> str:
    """docs/yaml.md as the models say it should be.

    Raises ValueError where a key has no place in the guide, or no description.
    """
    schema = params.json_schema()
    return _Guide(schema, params.defaults()).text()


def _anchor(heading: str) -> str:
    """Of a heading, as Git hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class _Guide:
    def __init__(self, schema: dict, defaults: dict) -> None:
        self.models, self.top, self.defaults = schema["$defs"], schema["properties"], defaults

    def text(self) -> str:
        placed = {
            "sources",
            *(k for keys in PARTS.values() for k in keys),
            *ALL_NOTEBOOKS,
            *questions.options(),
            *OTHER,
        }
        if placed != set(self.top):
            raise ValueError(f"keys without a place in the guide, or unknown: {sorted(placed ^ set(self.top))}")
        study, *others = PARTS
        parts = [YAML_HEAD, f"## {study}", self._top(PARTS[study]), *self._sources()]
        for title in others:
            parts += [f"## {title}", self._top(PARTS[title])]
        parts += ["## Sections for all notebooks", *self._sections(ALL_NOTEBOOKS)]
        parts += ["## Sections for one or two notebooks", *self._sections(questions.options())]
        parts += ["## Other sections", *self._sections(OTHER), *_names(), *self._public()]
        headings = re.findall(r"^## (.*)$", "\n\n".join(parts), re.MULTILINE)
        parts.insert(
            1, "Contents: " + " · ".join(f"[{title.replace('`', '')}](#{_anchor(title)})" for title in headings)
        )
        return "\n\n".join(part.strip("\n") for part in parts) + "\n"

    def _top(self, keys: tuple[str, ...]) -> str:
        return self._table({k: self.top[k] for k in keys}, required=("title",))

    def _sections(self, keys: Iterable[str]) -> Iterator[str]:
        for key in keys:
            model = self.models[_references(self.top[key])[0]]
            yield f"### `{key}`\n\n{_sentence(model['description'])}"
            yield self._table(model["properties"], model.get("required", ()), self.defaults.get(key, {}))

    def _sources(self) -> Iterator[str]:
        shared = {name: {*model.model_fields} for name, model in SHARED.items()}
        shared["judgements"] -= shared["all"]
        adapters = [self.models[name] for name in _references(self.top["sources"]["items"])]
        general = [a for a in adapters if shared["judgements"] <= {*a["properties"]}]
        any_ = general[0]
        yield "## Data: `sources`\n\nA list of files. `adapter` names what reads a file; the other keys depend on it."
        yield "### Every adapter"
        yield self._table({k: any_["properties"][k] for k in any_["properties"] if k in shared["all"]})
        for adapter in general:
            fields = {k: v for k, v in adapter["properties"].items() if k not in set.union(*shared.values())}
            yield f"### `adapter: {fields['adapter']['const']}`\n\n{_sentence(adapter['description'])}"
            yield self._table(fields, adapter["required"])
        both = " and ".join(f"`{a['properties']['adapter']['const']}`" for a in general)
        for title, name in (("how a file is read", "files"), ("what its values mean, which rows count", "judgements")):
            yield f"### {both}: {title}"
            yield self._table({k: v for k, v in any_["properties"].items() if k in shared[name]})

    def _public(self) -> Iterator[str]:
        yield "## Adapters of fixed formats"
        for name in _references(self.top["sources"]["items"]):
            adapter = self.models[name]
            if JudgementOptions.model_fields.keys() <= adapter["properties"].keys():
                continue
            fields = {k: v for k, v in adapter["properties"].items() if k not in SourceModel.model_fields}
            yield f"### `adapter: {fields['adapter']['const']}`\n\n{_sentence(adapter['description'])}"
            yield self._table(fields, adapter["required"])

    def _table(self, fields: dict, required: Any = (), defaults: dict | None = None) -> str:
        return table(("key", "type", "default", "meaning"), self._rows(fields, required, defaults or {}, ""))

    def _rows(self, fields: dict, required: Any, defaults: dict, prefix: str) -> Iterator[tuple[str, ...]]:
        for key, field in fields.items():
            if key == "adapter":
                continue
            if not (meaning := field.get("description", "")):
                raise ValueError(f"{prefix}{key}: no description")
            for example in field.get("examples", []):
                meaning += f"; e.g. `{key}: {_flow(example)}`"
            default = _flow(defaults.get(key, field.get("default")))
            shown = "required" if key in required else f"`{default}`"
            yield f"`{prefix}{key}`", self._type(field), shown, meaning
            for place, name in self._below(field):
                below, required_below = self.models[name]["properties"], self.models[name].get("required", ())
                if FileOptions.model_fields.keys() < below.keys():  # told once
                    below = {k: v for k, v in below.items() if k not in FileOptions.model_fields}
                yield from self._rows(below, required_below, {}, f"{prefix}{key}{place}.")

    def _below(self, field: dict) -> list[tuple[str, str]]:
        """Models in a field: where they stand in it (`[]` in a list, `.NAME` in a map), and their names."""
        if "$ref" in field:
            return [("", _references(field)[0])]
        inner = [("", f) for f in field.get("anyOf", [])]
        inner += [("[]", field["items"])] if isinstance(field.get("items"), dict) else []
        inner += [(".NAME", f) for f in _values(field)]
        return [(place + rest, name) for place, f in inner for rest, name in self._below(f)]

    def _type(self, field: dict) -> str:
        if "$ref" in field:
            return "keys below"
        if not field:
            return "value, list or map"
        if "anyOf" in field:
            if listed := LISTED.get(tuple(field["anyOf"][0].get("enum", ()))):
                return listed
            kinds = [self._type(f) for f in field["anyOf"]]
            if {"text", "number", "true or false"} <= {*kinds}:
                kinds = ["value", *kinds[4:]]
            return ", or ".join(kinds) if any(" of " in k for k in kinds) else " or ".join(kinds)
        if "enum" in field or "const" in field:
            values = field.get("enum", [field.get("const")])
            written = [f"`{_flow(v)}`" for v in values]
            return LISTED.get(tuple(values)) or (" or " if len(written) < 3 else ", ").join(written)
        if field.get("type") == "array":
            of, n = self._type(field["items"]), field.get("minItems")
            of = "value" if of.startswith("value") else of
            many = PLURALS.sub(r"\1s", of)
            return f"[{of}, {of}]" if n == 2 == field.get("maxItems") else f"list of {many}"
        if field.get("type") == "object":
            names = field.get("propertyNames", {})
            key = self._type({**names, "type": "string"}) if names else "name"
            return f"{key} → {self._type(_values(field)[0])}"
        kind = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
        return " ".join([kind.get(field["type"], "null"), *_bounds(field)])


#: kinds of values that can be counted
PLURALS = re.compile(r"^((?:whole )?number|value)")
#: options that several adapters share
SHARED: dict[str, type[BaseModel]] = {"all": SourceModel, "files": FileOptions, "judgements": JudgementOptions}


def _values(field: dict) -> list[dict]:
    """Of a map: what its values are."""
    values = [field.get("additionalProperties"), *field.get("patternProperties", {}).values()]
    return [f for f in values if isinstance(f, dict)]


def _references(field: dict) -> list[str]:
    """Names of the models that a field may hold."""
    many = [field, *field.get("anyOf", []), *field.get("oneOf", []), *field.get("allOf", [])]
    return [f["$ref"].rpartition("/")[2] for f in many if "$ref" in f]


def _bounds(field: dict) -> list[str]:
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    given = {sign: field[name] for name, sign in signs.items() if name in field}
    bounds = [f"{sign} {int(v) if v == int(v) else v:,}" for sign, v in given.items()]
    return [", ".join(bounds)] if bounds else []


def _flow(value: Any) -> str:
    """A value as it is written in a YAML, on one line."""
    if isinstance(value, str) and value:
        line = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=1000)
        return line.removesuffix("\n").removesuffix("\n...")
    if isinstance(value, float) and value == int(value):
        value = int(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return json.dumps(value)


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    return "\n".join([_row(header), _row(["---"] * len(header)), *map(_row, rows)])


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace(" -> ", " → ") for cell in cells) + " |"


def _sentence(description: str) -> str:
    return description if description.endswith((".", "?")) else f"{description}."


def _names() -> Iterator[str]:
    """The lists that other tables refer to."""
    yield "## Our columns\n\nWhat `columns`, `constants` and the like may fill; in results, people have pseudonyms."
    docs = {name: column.doc for name, column in {**DIALOGUES, **ANNOTATIONS}.items()}
    docs["system_text_b"] = "of a comparison, what the right system said"  # a dialogue of its own, once it is read
    yield table(("column", "meaning"), ((f"`{name}`", docs[name]) for name in OURS))
    yield "## Methods\n\nHow judgements are asked for, and what one is about. A study can declare others: `methods`."
    rows = ((f"`{m}`", METHODS[m].title, METHODS[m].unit) for m in METHODS.built_in)
    yield table(("method", "shown as", "a judgement is about one"), rows)
    sets = "; ".join(
        f"`{name}`: " + ", ".join(f"`{label}`" for label in dict.fromkeys(label.id for label in labels))
        for name, labels in LABEL_SETS.items()
    )
    yield f"## Sets of labels\n\n{sets}."
    yield "## Metrics computed from texts\n\n" + ", ".join(f"`{m}`" for m in TEXT_METRICS) + "."


RESULTS_HEAD = """\
# Results of a run

Written by `python run_all.py schema` from `src/judgebook/study/` (`result_schema.py`, `schema.yaml`) and
from `statistics.yaml` of the folder of each question.

For each study, a run leaves in the project's folder (or in `--out`, `$COMPENDIUM_OUT`):

| folder | contains |
| --- | --- |
| `reports/<study>/` | the pages, and the answers of the first one as `answers.json` |
| `figures/<study>/`, `tables/<study>/` | every figure, and every table as CSV and LaTeX |
| `data/processed/<study>/` | the data as they were read (`annotations.parquet` and other frames), `params.yaml` |
| `data/processed/<study>/results/` | the numbers: one file per notebook, as CSV (up to a million rows) and Parquet |

In Python, where the package is installed, from a notebook of `python run_all.py lab`, or with `src/` on the path:

```python
import judgebook as jb

study = jb.open_study("ji2022")
study.statistics  # what the notebooks stored
study.results("mean")  # one row per estimate, with interval
study.results("mean", label="fluent", interval="session")
study.results("contrast")  # every two systems: difference in the fit that the report answers with, p_value, p_adjusted
study.scores  # one row per judgement
study.params.systems  # names shown
```

[examples/explore.ipynb](../examples/explore.ipynb) draws a figure from them. `params` are those of the last run: a
notebook that was left out of it keeps results from its own settings, and its page says so. Elsewhere, read the CSV
files: the same rows, with the keys of a statistic in the column `condition`.

A difference is that of `system` minus `system_b`, on the scale of the label, and each pair is stored once: turn the
sign to ask about `system_b`, and where less of a label is better (its `direction` is -1). `primary` marks
alpha, Gwet's AC, the reliability of means, and rates, means and shares: one row for each thing that is estimated.

[Notebooks of your own](own_project.md#a-statistic-of-your-own) store statistics that are not in the list below.
"""


def results(answers: str) -> str:
    """docs/results.md as the code says it should be. answers : its section on `answers.json`."""
    columns = [(f"`{name}`", dtype.lower(), doc) for name, (dtype, doc) in result_schema.COLUMNS.items()]
    parts = [
        RESULTS_HEAD,
        answers,
        "## Columns of results",
        "A column that a statistic does not use is empty; `results()` leaves it out.",
        table(("column", "type", "meaning"), columns),
        "## Statistics",
        "[Keys](#keys) tell its rows apart, in addition to the identifiers above; in Python each is a column.",
        table(("statistic", "what it is", "keys", "range"), map(_statistic, result_schema.statistics().items())),
        KEYS,
        table(("key", "type", "statistics", "meaning"), _result_keys()),
        "## Frames",
    ]
    for name, frame in FRAMES.items():
        rows = [
            (f"`{c}`", column.dtype.lower(), "yes" if column.missing else "", column.doc) for c, column in frame.items()
        ]
        parts += [f"### `{name}`", table(("column", "type", "may be missing", "meaning"), rows)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


KEYS = """\
## Keys

What a key says of a row. Values between backticks are all that it has; other keys hold names of the study, or what the
text says. Where statistics are named, the meaning is that for these."""

FRAMES = {
    "annotations": schema.ANNOTATIONS,
    "dialogues": schema.DIALOGUES,
    "metric_scores": schema.METRIC_SCORES,
    "screening": schema.SCREENING,
    "work_units": schema.WORK_UNITS,
    "dialogue_facts": schema.DIALOGUE_FACTS,
    "counts": schema.COUNTS,
}


def _result_keys() -> Iterator[tuple[str, ...]]:
    """A row for each meaning of each key, with the statistics that give it this meaning where it has others."""
    found: dict[str, dict[tuple[str, str], list[str]]] = {}
    for name, one in result_schema.statistics().items():
        for key, meaning in one.meanings.items():
            what = _TYPES[one.type_of(key)], meaning
            found.setdefault(key, {}).setdefault(what, []).append(f"`{name}`")
    for key, meanings in sorted(found.items()):
        for (type_, meaning), statistics in meanings.items():
            yield f"`{key}`", type_, ", ".join(statistics) if len(meanings) > 1 else "", meaning


#: types of keys, in words
_TYPES = {str: "text", int: "whole number", float: "number"}


def _statistic(item: tuple[str, result_schema.Statistic]) -> tuple[str, ...]:
    name, statistic = item
    low, high = statistic.range
    known = [f"≥ {low:g}"] * (not isinf(low)) + [f"≤ {high:g}"] * (not isinf(high))
    ends = f"{low:g} to {high:g}" if len(known) == 2 else "".join(known)
    return f"`{name}`", statistic.title, ", ".join(f"`{k}`" for k in statistic.keys), ends
