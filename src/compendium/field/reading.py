"""The committed tables of the atlas."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from judgebook import project

FOLDER = project.ROOT / "data" / "atlas"


def read(folder: Path = FOLDER) -> tuple[dict[str, str], pd.DataFrame, pd.DataFrame]:
    """Title of each study by its name, labels, and values. Raises FileNotFoundError where a table is not there."""
    tables = (
        pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=[""])
        for name in ("studies", "labels", "values")
    )
    studies, labels, values = tables
    return dict(zip(studies["study"], studies["title"], strict=True)), labels, values
