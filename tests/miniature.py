"""Hand-made studies of a few rows: a YAML with its raw files beside it."""

import json
from pathlib import Path

import pandas as pd

from helpers import params
from helpers.sources.build import Built, build


def build_from(folder: Path, yaml: str, files: dict[str, object]) -> Built:
    """Write `yaml` and `files` (text, or anything that becomes JSON) to `folder`, and build the study."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_bytes(text.encode("utf-8"))
    (folder / "mini.yaml").write_text("title: Miniature\n" + yaml, encoding="utf-8")
    return build(params.load(folder / "mini.yaml"))


def counted(built: Built, what: str, action: str) -> dict[str, int]:
    """Counts of one kind of unit by reason, summed over corpora and files."""
    counts = built.frames["counts"]
    rows = counts[(counts["what"] == what) & (counts["action"] == action)]
    return rows.groupby("reason")["n"].sum().to_dict()


def printed(table: str, **where: str) -> dict[str, float]:
    """Printed values of `data/published/<table>` by column, of the rows where the given columns have these values."""
    rows = pd.read_csv(params.ROOT / "data" / "published" / table)
    for column, value in where.items():
        rows = rows[rows[column] == value]
    return dict(zip(rows["column"], rows["value"].astype(float), strict=True))
