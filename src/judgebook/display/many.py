"""Very many systems, labels or panels: how many are drawn, and how a figure is divided into pages.

Rows have the columns `panel`, `block` and `hue` of `grid_plots`. What a caption says of those left out:
`captions.chosen`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from judgebook.display.grid_plots import GAP, ROW

#: with more systems than this, each has a row of its own and labels are panels or columns, instead of the reverse
MANY = 6
#: with more of a kind (systems, labels) than the first, as many as the second are drawn: those that say most
MOST, DRAWN = 24, 20
#: the tallest figure of `pages`, and what of it is legend, title and axis, in inches
TALLEST, AROUND = 9.45, 1.3
#: panels in one figure of `even_pages`, and inches its panels may be tall together
PANELS, TALL = 12, 7.8


def pages(rows: pd.DataFrame, columns: int = 4, around: float = AROUND) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each figure that `grid_figure` can draw without being taller than `TALLEST`, and the end of its name.

    around : what of its height is legend, title and axis, in inches. Panels are kept together where that is possible;
    where one is too tall, its blocks are divided, in all panels alike.
    """
    names = [list(dict.fromkeys(part["block"])) for _, part in rows.groupby("panel", sort=False)]
    columns = columns if all(n == names[0] for n in names) else 2
    hues = rows.groupby("block", sort=False)["hue"].nunique()
    parts: list[list[str]] = [[]]
    height = 0.0
    for block, n in hues.items():
        height += ROW * n + GAP
        if parts[-1] and height > TALLEST - around:
            parts, height = [*parts, []], ROW * n + GAP
        parts[-1].append(block)
    figures = []
    for part in parts:
        shown = rows[rows["block"].isin(part)]
        panels = list(dict.fromkeys(shown["panel"]))
        heading = 0.14 * (max(map(len, panels)) // 22 if columns > 2 else 0)
        line = max((ROW * hues[list(set(p["block"]))] + GAP).sum() for _, p in shown.groupby("panel")) + 0.52 + heading
        per_page = columns * max(1, int((TALLEST - around + 0.52) / line))
        even = -(-len(panels) // (-(-len(panels) // per_page)))  # pages of about as many panels each
        even = -(-even // columns) * columns
        figures += [shown[shown["panel"].isin(panels[k : k + even])] for k in range(0, len(panels), even)]
    yield from ((f"_{i}" if i else "", page) for i, page in enumerate(figures))


def even_pages(rows: pd.DataFrame, columns: int = 4) -> Iterator[pd.DataFrame]:
    """The rows of each figure of at most PANELS panels that are together no taller than TALL. columns : panels beside
    each other.

    Unlike in `pages`, all blocks have the same hues, and are divided into parts of about one length.
    """
    row = ROW * rows["hue"].nunique() + GAP
    blocks = list(dict.fromkeys(rows["block"]))
    size = -(-len(blocks) // max(1, -(-len(blocks) // max(1, int(TALL / row)))))
    for i in range(0, len(blocks), size):
        part = rows[rows["block"].isin(blocks[i : i + size])]
        panels = list(dict.fromkeys(part["panel"]))
        lines = max(1, int(TALL / (row * part.groupby("panel")["block"].nunique().max() + 0.36)))
        shared = all(set(p["block"]) == set(part["block"]) for _, p in part.groupby("panel"))
        across = columns if shared else 2
        step = min(PANELS // across, lines) * across
        yield from (part[part["panel"].isin(panels[j : j + step])] for j in range(0, len(panels), step))
