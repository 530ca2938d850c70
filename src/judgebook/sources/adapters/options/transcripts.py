"""What a study's YAML may say about a file of transcripts: who said what in dialogues that other sources judge."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from judgebook.sources.adapters.options.records import check_iterations, is_table
from judgebook.study import limits, paths
from judgebook.study.source_shared import FileOptions, Name, SourceModel

Column = Literal[
    "corpus", "dialogue", "system", "session", "context", "turn", "speaker", "text", "user_text", "system_text"
]


class Transcripts(FileOptions, SourceModel):
    """The texts of dialogues that other sources judge, one row for each message or turn; no judgements.

    A turn is a reply of the system with what was said to it before. Dialogues that nobody judged are left out.
    """

    adapter: Literal["transcripts"]
    file: Annotated[
        str,
        Field(
            min_length=1, max_length=limits.PATH, description="as in `records`: {names} and * stand for several files"
        ),
    ]
    turns: Name | None = Field(
        None,
        description="path of the turns or messages in a record that is a whole dialogue; default: a record is one",
        examples=["messages.[]"],
    )
    columns: dict[Column, Name] = Field(
        {},
        description="our column -> path of its value: `speaker` and `text` where each message has a row, `user_text` "
        "and `system_text` where each turn has one; `turn` is the number of the system's reply, by default its place "
        "in the dialogue; `system` is by default that of the judgements",
        examples=[{"dialogue": "id", "speaker": "role", "text": "content"}],
    )
    identify: dict[Literal["dialogue"], Annotated[list[Name], Field(min_length=1)]] = Field(
        {}, description="as in `records`"
    )
    users: list[Name] = Field(
        [], description="speakers who talk to the system, as the file spells them; all others are the system"
    )
    skip_speakers: list[Name] = Field([], description="speakers whose messages are left out")
    first_turn: int = Field(0, description="number of the first turn in the file")

    @property
    def variables(self) -> set[str]:
        """Names that stand for something: those in the names of the file and the sheet, and places in lists."""
        return paths.names(self.file) | paths.names(self.sheet or "") | paths.names(self.turns or "")

    def looked_up(self) -> dict[str, str]:
        """Paths -> where the YAML gives them."""
        named = {path: f"columns.{ours}" for ours, path in self.columns.items()}
        return named | {path: "identify.dialogue" for path in self.identify.get("dialogue", [])}

    def steps(self, path: str) -> list[paths.Step]:
        return paths.parse(path, table=is_table(self.file))

    @model_validator(mode="after")
    def _complete(self) -> Transcripts:
        if "dialogue" not in self.columns and not self.identify and "dialogue" not in self.variables:
            raise ValueError("columns: expected a path for `dialogue`")
        spoken = {"speaker", "text"} & set(self.columns)
        if len(spoken) == 1 or bool(spoken) == ("system_text" in self.columns):
            raise ValueError("columns: expected `speaker` and `text`, or `system_text` (and `user_text`)")
        if spoken and not self.users:
            raise ValueError("users: expected the speakers who talk to the system, as the file spells them")
        walks = [self.steps(self.turns)] if self.turns else []
        for path, place in self.looked_up().items():
            if paths.ALONE.fullmatch(path):
                if unbound := paths.names(path) - self.variables:
                    raise ValueError(f"{place}: {{{min(unbound)}}} is not in `file` or `turns`")
            else:
                check_iterations(path, place, self.steps(path), walks, self.variables)
        return self


SOURCE = Transcripts
