"""What notebook 10 says: sentences made from unfolded result rows (`quality_tables.unfold`).

Sentences speak from standardised scores, the rule, and intervals with workers resampled. They hold for any study with a
control system: one run or several, with or without families of systems.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from helpers import tables
from helpers.look import Look
from helpers.quality import OVERALL
from helpers.tables import interval, number
from helpers.views.quality_tables import AMONG, one, repeat_rows


def passing(results: pd.DataFrame, corpora: Sequence[str]) -> str:
    """How many passed, with the Wilson interval."""
    parts = []
    for corpus in corpora:
        rate = one(results, statistic="pass_rate", corpus=corpus, of="workers", list=None)
        count = one(
            results, statistic="qc_count", corpus=corpus, what="workers", workers="passed", list=None, threshold=None
        )
        total = one(
            results, statistic="qc_count", corpus=corpus, what="workers", workers="all", list=None, threshold=None
        )
        if rate is not None:
            ends = interval(100 * rate["estimate"], 100 * rate["ci_low"], 100 * rate["ci_high"], 0)
            parts.append(
                f"{int(count['estimate'])} of {int(total['estimate'])} workers in {tables.plain(corpus)} ({ends} %)"
            )
    return f"Who passes quality control: {'; '.join(parts)}." if parts else ""


def repeats(results: pd.DataFrame, corpora: Sequence[str], variant: str) -> list[str]:
    """What the quality control does to repeatability, for every corpus held against the first."""
    if len(corpora) < 2:
        return [
            "There is one run only. Whether results repeat cannot be said from it: a second run with other workers is"
            " needed. What quality control does to the scores of this run is shown above."
        ]
    return [text for corpus in corpora[1:] for text in _repeats(results, corpus, variant)]


def _repeats(results: pd.DataFrame, corpus: str, variant: str) -> list[str]:
    r = repeat_rows(results, corpus)
    found = {
        (among, workers, scores): one(r, interval="workers", among=among, workers=workers, scores=scores)
        for among in AMONG
        for workers in ("all", "passed", "failed", "once")
        for scores in ("z", "raw")
    }

    def told(*key: str) -> str:
        row = found[key]
        if row is None or pd.isna(row["estimate"]):
            return "not defined"
        return interval(row["estimate"], row["ci_low"], row["ci_high"], 3)

    z = ("passed", "z")
    out = [
        f"**{tables.plain(corpus)}.** Among systems r is {told('systems', *z)} with quality control and"
        f" {told('systems', 'all', 'z')} without any. {_random(results, corpus)}"
    ]
    out.append(
        f"Workers who failed give r = {told('systems', 'failed', 'z')} on standardised scores and"
        f" {told('systems', 'failed', 'raw')} on raw ones{_as_many(results, corpus)}; workers who passed"
        f" and took part in one run only, {told('systems', 'once', 'z')}."
    )
    if found[("variants", *z)] is not None:
        out.append(
            f"Between architectures r is {told('families', *z)}. What {tables.plain(variant)} adds to an architecture,"
            f" or takes from it, repeats with r = {told('variants', *z)} over {int(found[('variants', *z)]['n'])}"
            " architectures with quality control, and"
            f" {told('variants', 'all', 'z')} without."
        )
    return out


def _random(results: pd.DataFrame, corpus: str) -> str:
    share = one(results, statistic="replication_share", corpus=corpus, scores="z", workers="passed")
    random = one(results, statistic="replication_r", corpus=corpus, scores="z", workers="random as passed")
    if share is None or random is None or pd.isna(share["estimate"]):
        return ""
    ends = interval(random["estimate"], random["ci_low"], random["ci_high"], 3)
    verdict = (
        "so the choice of workers helps" if share["estimate"] < 0.05 else "so no gain in r can be told from chance"
    )
    return (
        f"As many workers chosen at random give {ends}; {100 * share['estimate']:.0f} % of such sets repeat at least as"
        f" well, {verdict}."
    )


def _as_many(results: pd.DataFrame, corpus: str) -> str:
    """r of as many random workers as failed, on both kinds of score, in brackets."""
    rows = [
        one(results, statistic="replication_r", corpus=corpus, scores=scores, workers="random as failed")
        for scores in ("z", "raw")
    ]
    if any(row is None or pd.isna(row["estimate"]) for row in rows):
        return ""
    return f" (as many at random: {number(rows[0]['estimate'], 3)} and {number(rows[1]['estimate'], 3)})"


def buys(results: pd.DataFrame, corpora: Sequence[str]) -> list[str]:
    """What quality control does to differences between systems, to their precision, and to the cost: one text a run."""
    out = []
    for corpus in corpora:
        z, raw = (_widths(results, corpus, scores) for scores in ("z", "raw"))
        if z is None or raw is None:
            continue
        change = {s: 100 * (z[s, "passed"] / z[s, "all"] - 1) for s in ("spread", "standard_error")}
        text = (
            f"**{tables.plain(corpus)}.** With quality control the systems' mean z scores lie"
            f" {abs(change['spread']):.0f} % {'further apart' if change['spread'] >= 0 else 'closer together'}, and"
            f" their standard errors are {abs(change['standard_error']):.0f} %"
            f" {'larger' if change['standard_error'] >= 0 else 'smaller'}. Their spread is {_ratio(z, 'passed'):.1f}"
            f" standard errors with it and {_ratio(z, 'all'):.1f} without; of raw scores"
            f" {_ratio(raw, 'passed'):.1f} and {_ratio(raw, 'all'):.1f}."
        )
        out.append(text + _price(results, corpus))
    return out


def _widths(results: pd.DataFrame, corpus: str, scores: str) -> dict[tuple[str, str], float] | None:
    """Spread and standard error of system means, for all and passed; None where one is missing or 0."""
    keys = [(s, w) for s in ("spread", "standard_error") for w in ("all", "passed")]
    rows = {k: one(results, statistic=k[0], corpus=corpus, scores=scores, workers=k[1]) for k in keys}
    if any(row is None or pd.isna(row["estimate"]) or row["estimate"] == 0 for row in rows.values()):
        return None
    return {key: row["estimate"] for key, row in rows.items()}


def _ratio(widths: dict[tuple[str, str], float], workers: str) -> float:
    return widths["spread", workers] / widths["standard_error", workers]


def answer(results: pd.DataFrame, corpora: Sequence[str], change: float = 0.1) -> str:
    """In one paragraph: what quality control buys. A ratio of spread to error counts as changed from `change` on."""
    shares = [
        row["estimate"]
        for c in corpora[1:]
        if (row := one(results, statistic="replication_share", corpus=c, scores="z", workers="passed")) is not None
    ]
    shares = [share for share in shares if pd.notna(share)]
    said = []
    if shares:
        better = sum(share < 0.05 for share in shares)
        none = (
            "Choosing workers does not make standardised results measurably more repeatable than drawing them at random"
        )
        some = (
            f"In {better} of {len(shares)} comparisons of runs, standardised results of chosen workers repeat better"
            " than those of 95 % of as many drawn at random"
        )
        said.append(some if better else none)
    for scores, name in (("z", "standardised"), ("raw", "raw")):
        found = [w for c in corpora if (w := _widths(results, c, scores)) is not None]
        if found:
            gain = sum(_ratio(w, "passed") / _ratio(w, "all") for w in found) / len(found) - 1
            how = (
                "as many standard errors wide as before" if abs(gain) < change else "wider" if gain > 0 else "narrower"
            )
            how += " in standard errors" if abs(gain) >= change else ""
            percent = f"{100 * gain:+.0f} %".replace("-", "−")
            said.append(f"differences between systems on {name} scores are {how} ({percent})")
    text = "; ".join(said)
    return f"{text[:1].upper()}{text[1:]}." if text else "The data are too few to say what quality control buys."


def _price(results: pd.DataFrame, corpus: str) -> str:
    kept = one(results, statistic="pass_rate", corpus=corpus, of="dialogues", list=None)
    text = "" if kept is None else f" It sets aside {100 * (1 - kept['estimate']):.0f} % of the dialogues."
    before, after = (
        one(results, statistic="crowd_cost", corpus=corpus, per=p) for p in ("dialogue", "passed dialogue")
    )
    if before is not None and after is not None and pd.notna(after["estimate"]):
        text += f" A dialogue that counts costs {after['estimate']:.2f} rather than {before['estimate']:.2f}."
    return text


def contrasts(results: pd.DataFrame, variant: str) -> str:
    """How many variants differ from their plain system, and whether runs agree on it."""
    rows = results[(results["statistic"] == "variant_contrast") & (results["label"] == OVERALL)]
    rows = rows[(rows["scores"] == "z") & (rows["workers"] == "passed")] if len(rows) else rows
    if rows.empty:
        return ""
    sign = (rows["ci_low"] > 0).astype(int) - (rows["ci_high"] < 0).astype(int)
    by_run = [
        f"{int((part > 0).sum())} better and {int((part < 0).sum())} worse of {len(part)} in {tables.plain(corpus)}"
        for corpus, part in sign.groupby(rows["corpus"], sort=False)
    ]
    wide = rows.assign(sign=sign).pivot_table(index="system", columns="corpus", values="sign")
    found = int((wide != 0).any(axis=1).sum())
    same = int(((wide > 0).all(axis=1) | (wide < 0).all(axis=1)).sum())
    text = (
        f"Systems with {tables.plain(variant)} against the same without (interval clear of zero): {'; '.join(by_run)}."
    )
    return text + (
        f" Of {found} differences found in any run, {same} are found in every run." if wide.shape[1] > 1 else ""
    )


def chosen_for(results: pd.DataFrame) -> str:
    """How far workers who passed agree because they were chosen by how they rate the control."""
    keys = {"statistic": "worker_pair_r", "of": "median", "pairs": "all"}
    rows = results[results["statistic"] == "worker_pair_r"]
    corpus = None if rows["corpus"].isna().any() else rows["corpus"].iloc[0] if len(rows) else None
    got = {
        (c, w): one(results, corpus=corpus, control=c, workers=w, **keys)
        for c in ("with", "without")
        for w in ("passed", "failed")
    }
    if any(row is None for row in got.values()):
        return ""
    value = {key: number(row["estimate"]) for key, row in got.items()}
    return (
        f"Over all pairs of workers the median r is {value['with', 'passed']} where both passed and"
        f" {value['with', 'failed']} where both failed. Passing means rating the control low, so that part of this"
        f" agreement is what workers were chosen for: without the control it is {value['without', 'passed']} and"
        f" {value['without', 'failed']}."
    )


def concordances(results: pd.DataFrame, corpora: Sequence[str], levels: Sequence[float]) -> str:
    """How far conclusions about pairs repeat, with quality control and without, at the smallest level."""
    out = []
    for corpus in corpora[1:]:
        for workers, name in (("passed", "with quality control"), ("all", "without")):
            keys = {"statistic": "concordance", "corpus": corpus, "alpha": str(min(levels)), "workers": workers}
            keys |= {"test": "wald", "list": None}
            got = {of: one(results, of=of, **keys) for of in ("identical", "contradiction", "power_mismatch", "kappa")}
            if all(row is not None for row in got.values()):
                n, v = int(got["identical"]["n"]), {of: row["estimate"] for of, row in got.items()}
                out.append(
                    f"{name} {round(n * v['identical'])} of {n} conclusions in {tables.plain(corpus)} are those of the"
                    f" first run (kappa {number(v['kappa'])}); {v['contradiction']:.0f} contradict it and"
                    f" {v['power_mismatch']:.0f} are found in one run only"
                )
    return f"At p < {min(levels):g}, workers resampled: {'; '.join(out)}." if out else ""


def ids(look: Look, systems: Sequence[str]) -> str:
    """What the short names in figures stand for."""
    named = [(s, look.name("system", s)) for s in systems]
    said = [f"{tables.plain(s)} is {tables.plain(name)}" for s, name in named if s != name]
    return f"In figures: {'; '.join(said)}." if said else ""


def conclusions_in_print(cells: pd.DataFrame) -> str:
    """Which printed shares of identical conclusions come out and which do not. cells : of `verdicts.beside`."""
    found = cells[(cells["row"] == "identical_conclusions") & cells["here"].notna()]
    said = [
        f"{cell.printed} % at p < {cell.column.removeprefix('p_').replace('_', '.', 1)}"
        f" {'comes out' if cell.verdict == 'match' else 'does not come out'} ({number(cell.here, 1)} %)"
        for cell in found.itertuples()
    ]
    return f"Of the printed shares of identical conclusions, {' and '.join(said)}." if said else ""


def lists(results: pd.DataFrame, workers: pd.DataFrame) -> str:
    """How far the rule gives the verdicts that the data carry."""
    rows = results[results["statistic"] == "verdict_agreement"]
    said = []
    for name, part in rows.groupby("list", sort=False):
        differ = int((workers["passed"] != workers[name]).sum())
        kind = (
            "the list found by searching for printed values" if name == "fitted" else "the verdicts that the data carry"
        )
        said.append(f"{int(part['n'].sum()) - differ} of {int(part['n'].sum())} workers (of a run) as {kind}")
    return f"The rule judges {'; '.join(said)}." if said else "The data carry no verdicts to hold the rule against."
