"""What a YAML may say of the annotations of Spot The Bot."""

from __future__ import annotations

from typing import Literal

from judgebook.study.source_shared import File, SourceModel


class SpotTheBot(SourceModel):
    """Chats between two bots, cut after some exchanges: for each side, person or bot? One row per annotation."""

    adapter: Literal["spot_the_bot"]
    file: File


SOURCE = SpotTheBot
