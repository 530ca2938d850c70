"""What the `sources:` part of a YAML may say: one model per adapter, identified by `adapter`.

An adapter is two modules with its name: `sources/adapters/options/<name>.py` has its model, as `SOURCE`, and
`sources/adapters/<name>.py` reads, with pandas, which the command line does without. Both are found by their name.
"""

from __future__ import annotations

import importlib
import operator
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import Field

from judgebook.study.source_shared import SourceModel

#: the package with the models of adapters
OPTIONS = "judgebook.sources.adapters.options"
_FOLDER = Path(__file__).resolve().parents[1] / "sources" / "adapters" / "options"


def _declared() -> list[type[SourceModel]]:
    """The model of each adapter, by name.

    Raises ValueError where a module declares the adapter of another.
    """
    models: list[type[SourceModel]] = []
    for name in sorted(path.stem for path in _FOLDER.glob("[a-z]*.py")):
        model = importlib.import_module(f"{OPTIONS}.{name}").SOURCE
        if adapter_of(model) != name:
            raise ValueError(f"{OPTIONS}.{name}: expected the adapter {name!r}, found {adapter_of(model)!r}")
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
