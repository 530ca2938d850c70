"""Raw files of a simulated study, where a YAML asks for it (`simulate`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgebook.plugins import Extra

if TYPE_CHECKING:
    from judgebook.pipeline.nodes import Node, StudyNodes


def _raw(of: StudyNodes) -> list[Node]:
    if of.study.simulate is None:
        return []
    from compendium.simulation import node

    return node.nodes(of)


EXTRA = Extra(raw=_raw)
