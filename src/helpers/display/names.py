"""Order, display names, colours and markers of one study's labels, groups and systems.

Colours are those of Okabe and Ito (2008), which readers with the common colour-vision deficiencies can distinguish;
markers repeat what colour says. Yellow is left out because it is invisible on white.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from helpers.study.labels import METHODS, Label, spelled_out

if TYPE_CHECKING:
    from helpers.study.params import Study

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")


@dataclass(frozen=True)
class DisplayNames:
    """Order and display names of what one study's figures and tables show, and the colour of each.

    labels : (method, label) -> Label, in the order of figures.
    titles : kind (`method`, `group`, `system`, …) -> id -> display name, in the order of figures.
    """

    labels: dict[tuple[str, str], Label]
    titles: dict[str, dict[str, str]]

    def name(self, kind: str, key: str, method: str | None = None) -> str:
        """Display name of a method, group, system, corpus or (with its method) label; else its id."""
        if kind == "label":
            found = self.labels.get((method or "", key))
            return found.title if found else key
        if kind == "corpus":
            return self.titles.get(kind, {}).get(key) or spelled_out(key)
        return self.titles[kind].get(key, key)

    def position(self, kind: str, key: str) -> int:
        """Place of a method, group or system in the order of figures; unknown ones come last."""
        keys = list(self.titles[kind])
        return keys.index(key) if key in keys else len(keys)

    def color(self, kind: str, key: str) -> str:
        return COLORS[self.position(kind, key) % len(COLORS)]

    def marker(self, kind: str, key: str) -> str:
        return MARKERS[self.position(kind, key) % len(MARKERS)]

    def full(self, row: pd.Series) -> str:
        """Label, method and (where there are several) group of a row, as prose names it: `Quality, Dialogue Likert`."""
        parts = [self.name("label", row["label"], row["method"]), self.name("method", row["method"])]
        return ", ".join(parts if row["group"] == "all" else [*parts, self.name("group", row["group"])])

    def named(self, frame: pd.DataFrame) -> pd.DataFrame:
        """`frame` with its id columns replaced by display names, in front: Corpus, Group, System, Method, Label.

        Corpus and Group are left out where all rows have the same.
        """
        out = pd.DataFrame(index=frame.index)
        for kind in ("corpus", "group", "system", "method"):
            if kind in frame and (kind in ("system", "method") or len(set(frame[kind])) > 1):
                out[kind.capitalize()] = [self.name(kind, v) for v in frame[kind]]
        if "label" in frame:
            pairs = zip(frame["label"], frame["method"], strict=True)
            out["Label"] = [self.name("label", label, method) for label, method in pairs]
        ids = ["corpus", "group", "system", "method", "label"]
        return pd.concat([out, frame.drop(columns=ids, errors="ignore")], axis=1)

    def sort(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Rows in the order of figures: by method, label, group and system, whichever columns there are."""
        columns = [c for c in ("method", "label", "group", "system") if c in frame]
        rank = {k: [self.position(k, v) for v in frame[k]] for k in columns if k != "label"}
        if "label" in columns:
            place = {pair: i for i, pair in enumerate(self.labels)}
            methods = frame["method"] if "method" in frame else [""] * len(frame)
            rank["label"] = [place.get(pair, len(place)) for pair in zip(methods, frame["label"], strict=True)]
        order = pd.DataFrame(rank, index=range(len(frame))).sort_values(columns, kind="stable").index
        return frame.iloc[order]


def display_names(study: Study, *frames: pd.DataFrame, **kinds: dict[str, str]) -> DisplayNames:
    """The display names of a study. Groups and systems found only in `frames` follow those the YAML names, sorted.

    kinds : display names of further kinds, e.g. `metric={"bleu": "BLEU"}`.
    """

    def declared_and_found(declared: dict[str, str], *columns: str) -> dict[str, str]:
        found = {v for f in frames for column in columns if column in f for v in f[column].dropna().unique()}
        return declared | {v: "All evaluators" if v == "all" else v for v in sorted(found - set(declared))}

    titles = {
        "method": {m.id: m.title for m in METHODS.values()} | {"collection": "Conversation itself"},
        "corpus": dict(study.corpora),
        "group": declared_and_found({k: g.title or k for k, g in study.groups.items()}, "group"),
        "system": declared_and_found(dict(study.systems), "system", "system_b"),
    }
    return DisplayNames({(label.method, label.id): label for label in study.label_list()}, titles | kinds)
