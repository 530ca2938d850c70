"""The YAML of a study: strict models, inheritance from `defaults.yaml`, errors that name file, line and key.

`load("demo")` reads `params/demo.yaml` on top of `params/defaults.yaml`; `load(path)` reads a file anywhere. Maps are
merged key by key, lists and scalars replace. Nothing here imports pandas: the command line must start at once.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel, ValidationError, create_model

from judgebook import project
from judgebook.study import limits, questions, yaml_file
from judgebook.study.any_study import MODELS, AnyStudy, adapter_of
from judgebook.study.yaml_file import ParamsError

#: mistakes of a YAML that are told at a time
_MOST = 20
#: how a YAML writes what Python writes so
_PLAIN = {"None": "nothing", "True": "true", "False": "false"}
_WORDS = (
    ("Input should be a valid integer", "expected a whole number"),
    ("Input should be a valid number", "expected a number"),
    ("Input should be greater than or equal to", "expected at least"),
    ("Input should be less than or equal to", "expected at most"),
    ("Input should be greater than", "expected more than"),
    ("Input should be", "expected"),
    ("String should match pattern", "expected a name that matches"),
    ("String should have", "expected text of"),
    ("List should have", "expected a list of"),
    ("Field required", "this key is required"),
)


def explained(
    error: ValidationError, model: type[BaseModel], path: Path, node: yaml.Node | None, overridden: dict[str, str]
) -> str:
    """The mistakes of a file, one per line.

    model : what the file should have been. overridden : dotted keys whose values the file did not give -> what they are
    called where they were given; empty for `--set`.
    """
    errors = error.errors(include_url=False)
    sentences = [_sentence(e, model, path, node, overridden) for e in errors[:_MOST]]
    more = len(errors) - len(sentences)
    return "\n".join([*sentences, f"… and {more:,} more"] if more else sentences)


def _sentence(e: Any, model: type[BaseModel], path: Path, node: yaml.Node | None, overridden: dict[str, str]) -> str:
    """One mistake: place, key, what was expected and found."""
    # the adapter's name is no key of the YAML, and "[key]" marks a key that is itself wrong
    loc = tuple(p for i, p in enumerate(e["loc"]) if p != "[key]" and not (i == 2 and e["loc"][0] == "sources"))
    text = e["msg"].removeprefix("Value error, ")
    named, colon, rest = text.partition(": ")
    if not loc and colon and _line_of(node, tuple(named.split("."))):
        loc, text = tuple(named.split(".")), rest  # a check of the whole study names the key itself
    key = ".".join(str(p) for p in loc) or "(file)"
    line = _line_of(node, loc)
    # a wrong name high up makes a key of its own, which the file does not have
    given = [o for o in overridden if key == o or key.startswith(f"{o}.") or (line is None and o.startswith(f"{key}."))]
    place = "--set" if given else f"{path}" + (f", line {line}" if line else "")
    place = overridden[given[0]] if given and overridden[given[0]] else f"{place}: {key!r}"
    if e["type"] == "extra_forbidden":
        allowed = _fields_at(e["loc"], model)
        near = difflib.get_close_matches(str(loc[-1]), allowed, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(allowed)}"
        return f"{place}: unknown key; {hint}"
    if e["type"] in ("union_tag_invalid", "union_tag_not_found"):
        adapters = ", ".join(map(adapter_of, MODELS))
        return f"{place}: adapter: expected one of {adapters}, found {e['ctx'].get('tag', 'none')!r}"
    for theirs, ours in _WORDS:
        text = text.replace(theirs, ours)
    content = f", found {quoted(e['input'])}" if e["type"] not in ("missing", "value_error") else ""
    hint = "; YAML reads yes, no, on, off as true and false: put text in quotes" if _reads_as_bool(e) else ""
    if e["type"] == "list_type" and isinstance(e["input"], str | int | float):
        hint = f"; write `{loc[-1]}: [{e['input']}]`"
    return f"{place}: {text}{content}{hint}"


def _line_of(node: yaml.Node | None, loc: tuple) -> int | None:
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


def _fields_at(loc: tuple, model: Any) -> list[str]:
    """Names allowed at the place of an unknown key, to suggest the nearest."""
    for part in loc[:-1]:
        field = model.model_fields.get(part) if isinstance(part, str) and hasattr(model, "model_fields") else None
        candidates: list[type[BaseModel]] = [model] if field is None else _models_in(field.annotation)
        if field is None:  # the tag of a union, a list index or a free key: step into the model it names, if any
            candidates = [*(m for m in MODELS if part == adapter_of(m))] or [model]
        if not candidates:
            return []
        model = candidates[0]
    return list(getattr(model, "model_fields", {}))


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for arg in getattr(annotation, "__args__", ()) for m in _models_in(arg)]


def _reads_as_bool(e: Any) -> bool:
    return isinstance(e["input"], bool) and e["type"] in ("string_type", "literal_error")


def quoted(value: object) -> str:
    """A value as a message quotes it: not at any length."""
    text = _PLAIN.get(str(value), "") if value is None or isinstance(value, bool) else ""
    text = text or (repr(str(value)) if isinstance(value, os.PathLike) else repr(value))
    return text if len(text) <= limits.QUOTED else f"{text[: limits.QUOTED]}… ({len(text):,} characters)"


ROOT = project.ROOT


if TYPE_CHECKING:
    from judgebook.study.asked import Study
else:
    Study = create_model(
        "Study",
        __base__=AnyStudy,
        __doc__="One study. `key` is the stem of its file.",
        __module__=__name__,
        **{name: (model, model.model_construct()) for name, model in questions.options().items()},
    )


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
        raise ParamsError(
            f"{path}: expected `key: value` lines, found {'a list' if isinstance(data, list) else quoted(data)}"
        )
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


def parse_set(items: list[str]) -> dict:
    """`["a.b=1"]` as `{"a": {"b": 1}}`; values are read as YAML."""
    out: dict = {}
    for item in items:
        key, eq, text = item.partition("=")
        parts = key.split(".")
        if not eq or not all(p.isidentifier() for p in parts) or len(parts) > limits.YAML_DEPTH:
            raise ParamsError(f"--set: expected section.key=value, found {quoted(item)}")
        try:
            value, _ = yaml_file.parse(text)
        except yaml_file.ParseError as error:
            raise ParamsError(f"--set: {key}: not a YAML value: {quoted(text)}: {error}") from None
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
            f"no study {quoted(study)}"
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


def names() -> list[str]:
    """Studies in `params/`."""
    return sorted({name for folder in project.yaml_folders() for name in _names(folder)})


def own() -> list[str]:
    """Studies of the folder that somebody works in, where that is a project of their own."""
    mine, ours = project.folder() / "params", project.ROOT / "params"
    return [] if mine == ours else sorted(_names(mine))


def _names(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("[!.]*.yaml")} - {"defaults"}


@cache
def defaults() -> dict:
    """What `params/defaults.yaml` gives every study."""
    return _read(ROOT / "params" / "defaults.yaml")[0]


def load(
    study: str | os.PathLike,
    overrides: dict | None = None,
    *,
    key: str | None = None,
    called: Mapping[str, str] = MappingProxyType({}),
) -> Study:
    """A study by name or path, on top of `params/defaults.yaml`, with `overrides` (as from `parse_set`) on top of both.

    `key` names the study when the file's stem does not. called : dotted keys of `overrides` -> what they are called
    where they were given, if not by `--set`: messages name that.

    Raises ParamsError naming every problem with file, line, key, what was expected and what was found.
    """
    path = find(study)
    return _validated(*_read(path), path, key or path.stem, overrides or {}, called)


def of_text(text: str, path: Path) -> Study:
    """The study of a YAML that is not written yet, as if it stood at `path`. Raises ParamsError as `load` does."""
    try:
        data, node = yaml_file.parse(text)
    except yaml_file.ParseError as error:
        raise ParamsError(f"{path}: {error}") from None
    return _validated(data, node, path, path.stem, {}, {})


def _validated(
    data: dict, node: yaml.Node | None, path: Path, key: str, overrides: dict, called: Mapping[str, str]
) -> Study:
    if not key.isidentifier():
        raise ParamsError(f"{path}: a study's file name is its key: expected letters, digits and _, found {key!r}")
    given = merged(defaults(), data, overrides)
    declared = given.get("methods")
    try:
        out = Study.model_validate(given, context={"methods": declared if isinstance(declared, dict) else ()})
    except ValidationError as error:
        overridden = {name: called.get(name, "") for name in _paths(overrides)}
        raise ParamsError(explained(error, Study, path, node, overridden)) from None
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
