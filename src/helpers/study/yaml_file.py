"""A YAML file read as a pydantic model, with errors that name the file and the key."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

#: PyYAML's safe loader and dumper; those in C, where PyYAML was built with them, are several times as fast
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

_Model = TypeVar("_Model", bound=BaseModel)


def read(path: Path, model: type[_Model]) -> _Model:
    """The file as `model`. Raises ValueError naming the file and, key by key, what is wrong in it."""
    try:
        return model.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader))
    except yaml.YAMLError as error:
        raise ValueError(f"{path.name}: not valid YAML: {error}") from None
    except ValidationError as error:
        problems = "\n".join(f"  {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ValueError(f"{path.name}:\n{problems}") from None
