"""Bars of counts: how many checks, or printed numbers, came out how."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes


def counted(frame: pd.DataFrame, column: str, papers: Mapping[str, str], titles: Mapping[str, str]) -> pd.DataFrame:
    """How many rows of `frame` each paper has with each value of `column`; papers and values as titled."""
    wide = pd.crosstab(frame["paper"], frame[column]).reindex(index=list(papers), columns=list(titles), fill_value=0)
    return wide.rename(index=dict(papers), columns=dict(titles)).rename_axis(index=None, columns=None)


def bars(counts: pd.DataFrame, ax: Axes, colors: Mapping[str, str], *, title: str, xlabel: str) -> None:
    """Horizontal bars side by side: a group for each row of `counts`, a bar with its number for each column."""
    n = counts.shape[1]
    for i, (name, values) in enumerate(counts.items()):
        at = [y + (i - (n - 1) / 2) * 0.8 / n for y in range(len(counts))]
        ax.barh(at, values, 0.74 / n, color=colors[str(name)], label=str(name))
        for y, value in zip(at, values, strict=True):
            ax.text(value, y, f" {value}", va="center", fontsize=7)
    ax.set_yticks(range(len(counts)), counts.index)
    ax.set(ylim=(len(counts) - 0.5, -0.5), xlabel=xlabel, title=title)
    ax.set_xlim(right=1.12 * max(counts.to_numpy().max(), 1))
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
