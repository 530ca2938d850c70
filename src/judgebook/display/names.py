"""Order, display names, colours and markers of one study's labels, groups and systems.

A colour has one meaning in a whole study: systems, groups and methods have palettes of their own, and verdicts
(better, worse, open) a fourth. Systems have the colours of Okabe and Ito (2008) without yellow, which is invisible on
white; the others were chosen to maximise the smallest distance in CIE L*a*b*, within a palette for all common kinds of
colour vision (Machado et al. 2009), across palettes for the usual one. Markers repeat what colour says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judgebook.study import escape
from judgebook.study.labels import METHODS, Label, spelled_out

if TYPE_CHECKING:
    from judgebook.study.params import Study

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
GROUP_COLORS = ("#965ABE", "#326E00", "#D2465A", "#00AAAA", "#961E46", "#5A466E")
METHOD_COLORS = ("#324696", "#D2825A", "#AA3282", "#968200", "#466ED2", "#6E4632", "#AA96D2", "#5A5A00", "#AA6E6E")
PALETTES = {"system": COLORS, "group": GROUP_COLORS, "method": METHOD_COLORS}
#: what is good or shown, what is bad or contradicted, what is open or undecided, what was not asked
GOOD, BAD, OPEN, NONE = "#01665E", "#8C510A", "#8F8F8F", "#DDDDDD"
#: of what has no colour of its own: one of very many, or of a kind without a palette
NEUTRAL = ("#6B6B6B", "#333333", "#A3A3A3", "#C4C4C4")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
#: columns that change sign where a pair is turned round; the ends of intervals change places, too
TURNED = (("estimate", "estimate"), ("ci_low", "ci_high"), ("light_low", "light_high"))


@dataclass(frozen=True)
class DisplayNames:
    """Order and display names of what one study's figures and tables show, and the colour of each.

    labels : (method, label) -> Label, in the order of figures.
    titles : kind (`method`, `group`, `system`, …) -> id -> display name, in the order of figures.
    colored : kind -> ids in the order in which they have their colours, where figures have another order.
    confidence : of the study's intervals.
    """

    labels: dict[tuple[str, str], Label]
    titles: dict[str, dict[str, str]]
    colored: dict[str, list[str]] = field(default_factory=dict)
    confidence: float = 0.95

    @property
    def ci(self) -> str:
        """What figures and captions call an interval: `95% CI`."""
        return f"{100 * self.confidence:g}% CI"

    def systems(self, *, without: Iterable[str | None] = ()) -> list[str]:
        """Ids of systems in the order of the YAML, in which analyses go through them, without some (those that are not
        compared)."""
        left_out = set(without)
        return [system for system in self.colored.get("system", self.titles["system"]) if system not in left_out]

    def in_order(self, kind: str, keys: Iterable[str]) -> DisplayNames:
        """The same names with these first, and every colour as it is."""
        titles = self.titles[kind]
        first = {key: titles.get(key, key) for key in keys}
        colored = {kind: self.colored.get(kind, list(titles))}
        return replace(self, titles=self.titles | {kind: first | titles}, colored=self.colored | colored)

    def name(self, kind: str, key: str, method: str | None = None) -> str:
        """Display name of a method, group, system, corpus or (with its method) label; else its id."""
        if kind == "label":
            declared = self.labels.get((method or "", key))
            return declared.title if declared else key
        if kind == "corpus":
            return self.titles.get(kind, {}).get(key) or spelled_out(key)
        return self.titles[kind].get(key, key)

    def stem(self, method: str) -> str:
        """A method in names of files: its id, or its number where the id has other than lower-case letters."""
        return method if re.fullmatch(r"[a-z0-9_]+", method) else f"method{self.position('method', method)}"

    def distinct_label(self, label: str, method: str) -> str:
        """Display name of a label, with its method where another method has a label of the same name."""
        title = self.name("label", label, method)
        shared = sum(known.title == title for known in self.labels.values()) > 1
        return f"{title} ({self.name('method', method)})" if shared else title

    def position(self, kind: str, key: str) -> int:
        """Place of a method, group or system in the order of figures; unknown ones come last."""
        keys = list(self.titles[kind])
        return keys.index(key) if key in keys else len(keys)

    def color(self, kind: str, key: str) -> str:
        """The colour of a system, group or method in all figures; neutral beyond the palette, where figures name what
        they show directly. Kinds without a palette have that of methods."""
        palette, place = PALETTES.get(kind, METHOD_COLORS), self._place(kind, key)
        return palette[place] if place < len(palette) else NEUTRAL[0]

    def marker(self, kind: str, key: str) -> str:
        return MARKERS[self._place(kind, key) % len(MARKERS)]

    def _place(self, kind: str, key: str) -> int:
        """Place in the palette; of methods those with labels come first."""
        labelled = [m for m, _ in self.labels] if kind == "method" else []
        keys = list(dict.fromkeys([*labelled, *self.colored.get(kind, self.titles[kind])]))
        return keys.index(key) if key in keys else len(keys)

    def styles(self) -> dict[str, tuple[str, str]]:
        """Display name -> colour and marker of every system, group and method; `hue` of `grid_figure` is looked up."""
        kinds = [k for k in ("method", "group", "system") if k in self.titles]  # the last wins where two share a name
        return {
            title: (self.color(kind, key), self.marker(kind, key))
            for kind in kinds
            for key, title in self.titles[kind].items()
        }

    def pair(self, a: str, b: str) -> tuple[str, str, int]:
        """Two systems in the order of figures, and the sign of their difference: −1 where it is turned round.

        All notebooks name a pair in this order, so that a difference has one sign in a whole study.
        """
        turned = (self.position("system", a), a) > (self.position("system", b), b)
        return (b, a, -1) if turned else (a, b, 1)

    def pair_name(self, a: str, b: str) -> str:
        """`Blender2 − Emora`, in the order of `pair`."""
        return " − ".join(self.name("system", s) for s in self.pair(a, b)[:2])

    def pairs(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Differences between `system` and `system_b`, each pair in the order of `pair`: signs and intervals turned."""
        known = {*frame["system"].dropna(), *frame["system_b"].dropna()}
        place = {s: i for i, s in enumerate(sorted(known, key=lambda s: (self.position("system", s), s)))}
        turned = (frame["system"].map(place) > frame["system_b"].map(place)).to_numpy(bool)
        if not turned.any():
            return frame
        ends = {"system": frame["system_b"].where(turned, frame["system"])}
        ends |= {"system_b": frame["system"].where(turned, frame["system_b"])}
        for low, high in TURNED:
            if low in frame:
                ends |= {low: frame[low].where(~turned, -frame[high]), high: frame[high].where(~turned, -frame[low])}
        return frame.assign(**ends)

    def full(self, row: Mapping[str, str]) -> str:
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
        place = {pair: i for i, pair in enumerate(self.labels)}
        rank = {}
        for k in columns:
            by = ["method", "label"] if k == "label" and "method" in frame else [k]
            cell = frame.groupby(by, sort=False, dropna=False).ngroup().to_numpy()
            rows = np.unique(cell, return_index=True)[1]  # each combination is looked up once
            keys = frame[by].iloc[rows].itertuples(index=False, name=None)
            if k == "label":
                ranks = [place.get(("", *key)[-2:], len(place)) for key in keys]
            else:
                ranks = [self.position(k, key) for (key,) in keys]
            rank[k] = np.array(ranks, dtype=int)[cell]
        order = pd.DataFrame(rank, index=range(len(frame))).sort_values(columns, kind="stable").index
        return frame.iloc[order]


def display_names(study: Study, *frames: pd.DataFrame, **kinds: dict[str, str]) -> DisplayNames:
    """The display names of a study. Groups and systems found only in `frames` follow those the YAML names, sorted.
    Where two of a kind would have the same name, each has its id in brackets.

    kinds : display names of further kinds, e.g. `metric={"bleu": "BLEU"}`.
    """

    def declared_and_found(declared: dict[str, str], *columns: str) -> dict[str, str]:
        in_data = {v for f in frames for column in columns if column in f for v in f[column].dropna().unique()}
        return declared | {v: "All evaluators" if v == "all" else v for v in sorted(in_data - set(declared))}

    corpora = {v: spelled_out(v) for f in frames if "corpus" in f for v in f["corpus"].dropna().unique()}
    titles = {
        "method": {m: METHODS[m].title for m in METHODS.built_in}
        | {m.id: m.title for m in study.own_methods}
        | {"collection": "Conversation itself", "together": "All methods of a task"},
        "corpus": dict(study.corpora) | {v: t for v, t in corpora.items() if v not in study.corpora},
        "group": declared_and_found({k: g.title or k for k, g in study.groups.items()}, "group"),
        "system": declared_and_found(dict(study.systems), "system", "system_b"),
    }
    titles = {kind: escape.distinct(of_kind) for kind, of_kind in (titles | kinds).items()}
    labels = {(label.method, label.id): label for label in study.label_list()}
    return DisplayNames(labels, titles, confidence=study.bootstrap.confidence)
