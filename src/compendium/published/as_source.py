"""Printed numbers as their sources compute them, from raw files: plain pandas, statsmodels and krippendorff.

Each function of `SOURCES` takes `files`, which gives the path of a raw file by its name, and returns the place of a
printed number -> its value. `data/published/<paper>_mapping.yaml` has the rule of each in words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from compendium.published import mapping, numbers
from judgebook.study.results import Results, collect

Files = Callable[[str], Path]
#: element, panel, row and column -> value
Values = dict[tuple[str, str, str, str], float]


def kappa(first: pd.Series, second: pd.Series) -> float:
    """Cohen's kappa of two series of answers."""
    answers = sorted({*first, *second})
    table = pd.crosstab(first, second).reindex(index=answers, columns=answers, fill_value=0)
    return float(cohens_kappa(table.to_numpy()).kappa)


def counts(answers: pd.DataFrame, item: str | list[str], answer: str) -> pd.DataFrame:
    """How often each item got each answer."""
    return pd.crosstab([answers[i] for i in ([item] if isinstance(item, str) else item)], answers[answer])


def alpha(table: pd.DataFrame, level: str = "nominal") -> float:
    """Krippendorff's alpha of a table of `counts`; values are in the order of its columns."""
    values = table.columns.to_numpy()
    domain = values if level == "nominal" else values.astype(float)
    return float(krippendorff.alpha(value_counts=table.to_numpy(), value_domain=domain, level_of_measurement=level))


def anova(frame: pd.DataFrame, formula: str) -> pd.Series:
    """p of each term of an analysis of variance (type II), every row independent."""
    return anova_lm(ols(formula, frame).fit(), typ=2)["PR(>F)"]


def options(workers: pd.DataFrame, element: str) -> Values:
    """How many workers chose each option of the questions about themselves."""
    out: Values = {}
    for question, n in (("age", 5), ("education", 5), ("gender", 4)):
        for option in (f"option_{k}" for k in range(1, n + 1)):
            out[element, question, option, "workers"] = float((workers[question] == option).sum())
    return out


def llmbar(files: Files) -> Values:
    out: Values = {}
    parts = {"natural": "Natural"}
    parts |= {p.lower(): f"Adversarial/{p}" for p in ("Neighbor", "GPTInst", "GPTOut", "Manual")}
    models = ("GPT-4", "ChatGPT", "LLaMA2", "PaLM2", "Falcon")
    for (part, folder), model in product(parts.items(), models):
        pairs = json.loads(files(f"Dataset/LLMBar/{folder}/evaluators/{model}/Vanilla/result.json").read_text("utf-8"))
        winner = pd.DataFrame([{order: of["winner"] for order, of in p["results"][0].items()} for p in pairs])
        first, second = (winner[f"swap = {swapped}"].fillna("neither") for swapped in (False, True))
        label = pd.Series([str(p["label"]) for p in pairs])
        column = model.lower().replace("-", "_")
        out["statistics.json", "correct", part, column] = 100 * float((first == label).mean())
        out["statistics.json", "same_in_both_orders", part, column] = 100 * float((first == second).mean())
        out["statistics.json", "kappa_of_orders", part, column] = kappa(first == "1", second == "1")
    return out


def reprohum_d2t(files: Files) -> Values:
    """Best-worst scores out of the 240 times each system was shown; alpha of the answers as typed."""
    out: Values = {}
    systems = dict(zip(("gold", "template", "ed_cc", "hier", "macro"), (f"sys{i}" for i in range(5)), strict=True))
    workers = set[str]()
    for label, answer in {"coherence": "coh", "grammaticality": "grammar", "repetition": "redun"}.items():
        frame = pd.read_excel(files(f"{label.title()}.xlsx"), engine="calamine", dtype=str)
        best, worst = frame[f"Answer.best_{answer}"], frame[f"Answer.worst_{answer}"]
        for row, system in systems.items():
            score = 0
            for letter, shown in (("A", frame["Input.system1"]), ("B", frame["Input.system2"])):
                score += int(((best.str.upper() == letter) & (shown == system)).sum())
                score -= int(((worst.str.upper() == letter) & (shown == system)).sum())
            out["Results table", "scale", row, label] = 100 * score / 240
        table = counts(frame.assign(best=best), "Input.code", "best")
        out["Agreement notebook", "agreement", label, "alpha"] = alpha(table)
        out["Workers table", "workers", label, "count"] = frame["WorkerId"].nunique()
        workers |= {*frame["WorkerId"]}
    return out | {("Workers table", "workers", "overall", "count"): len(workers)}


def cis_answerability(files: Files) -> Values:
    folder = "results/user_study_output/answerability/"
    frame = pd.read_csv(files(f"{folder}processed/aggregated_output_both_runs.csv"))
    source, right = frame["answers_ids"].isin(["A1", "A3"]), frame["answers_ids"].isin(["A1", "A2"])
    frame = frame.assign(controlled_1=right, controlled_2=source)
    out: Values = {}
    judged = ("factuality", "confidence", "satisfaction")
    for factor, label in product(("questions_ids", "familiarity"), ("familiarity", *judged)):
        if factor != label:
            out["README", "anova_oneway", factor, label] = anova(frame, f"{label} ~ C({factor})").iloc[0]
    for label in judged:
        p = anova(frame, f"{label} ~ C(controlled_1) * C(controlled_2)")
        rows = ("controlled_1", "controlled_2", "controlled_1_by_controlled_2")
        out |= {("README", "anova_twoway", row, label): p.iloc[i] for i, row in enumerate(rows)}
        if label != "satisfaction":
            out["README", "with_satisfaction", label, "pearson"] = frame[label].corr(frame["satisfaction"])
    return out | {place: n / 10 for place, n in options(frame, "README").items()}  # ten rows a worker


def cis_transparency(files: Files) -> Values:
    file = files("results/user_study_output/output_processed_aggregated.csv")
    frame = pd.read_csv(file, keep_default_na=False)  # "None" is a condition
    labels = ["usefulness", "relevance", "correctness", "completeness", "comprehensiveness", "conciseness"]
    labels += ["serendipity", "coherence", "factuality", "fairness", "readability", "satisfaction"]
    factors = ["response_quality", "additional_info_quality", "presentation_modes", "questions_ids"]
    explained = frame[frame["additional_info_quality"] != "None"]
    out = options(frame.drop_duplicates("worker_ids"), "README")
    for factor, label in product(factors, labels):
        out["One-way ANOVA", "all", factor, label] = anova(frame, f"{label} ~ C({factor})").iloc[0]
        if factor in ("additional_info_quality", "presentation_modes"):
            out["One-way ANOVA", "ec1_ec8", factor, label] = anova(explained, f"{label} ~ C({factor})").iloc[0]
    for kind, quality in product(("source", "confidence"), ("Good", "Flawed")):
        chosen = frame.loc[frame["additional_info_quality"] == quality, f"{kind}_usefulness"]
        mean = chosen.str.removeprefix("option_").astype(float).mean()
        out["Mean scores", "explanation", kind, f"explanation_{quality.lower()}"] = mean
    return out


def ttcw(files: Files) -> Values:
    experts = pd.DataFrame(json.loads(files("ttcw_annotations.json").read_text("utf-8")))
    yes = experts["binary_verdict"].eq("Yes").groupby([experts["story_id"], experts["ttcw_idx"]])
    table = pd.DataFrame({"no": yes.size() - yes.sum(), "yes": yes.sum()})
    out: Values = {("Paper", "experts", "all_tests", "fleiss_kappa"): float(fleiss_kappa(table.to_numpy()))}
    majority = table["yes"] > table["no"]
    for row, name in {"gpt4": "gpt4", "cgpt": "cgpt", "claude3_opus": "claude3-opus"}.items():
        said = pd.read_json(files(f"annotations_{name}.jsonl"), lines=True)
        place = said["id"].str.extract(r"^story_(.+)_test(\d+)$")
        index = pd.MultiIndex.from_arrays([place[0], place[1].astype(int)])
        judged = pd.Series(said["response"].str.lower().str.startswith("yes").to_numpy(), index)
        truth = majority.reindex(judged.index)
        hit, fine = float(judged[truth].mean()), float((~judged[~truth]).mean())
        precision = float(truth[judged].mean())
        values = {"balanced_accuracy": (hit + fine) / 2, "precision": precision, "recall": hit}
        values |= {"f1": 2 * precision * hit / (precision + hit), "pearson": float(np.corrcoef(judged, truth)[0, 1])}
        out |= {("Notebook", "majority", row, column): value for column, value in values.items()}
    return out


def summeval(files: Files) -> Values:
    """Alpha of the four criteria pooled: a summary and a criterion are an item."""
    lines = files("cnndm_THumB-1.0.jsonl").read_text("utf-8").splitlines()
    out: Values = {}
    for row, group in {"crowd": "turker", "experts_second_round": "expert"}.items():
        answers = [
            (i, criterion, score)
            for i, line in enumerate(lines)
            if isinstance(every := json.loads(line)[f"{group}_annotations"], list)
            for one in every
            for criterion, score in one.items()
        ]
        frame = pd.DataFrame(answers, columns=["summary", "criterion", "score"])
        table = counts(frame, ["summary", "criterion"], "score")
        out["Page 397", "agreement", row, "alpha"] = alpha(table, "interval")
    return out


def reprohum_definitions(files: Files) -> Values:
    frame = pd.read_excel(files("results.xlsx"), engine="calamine", dtype=str)
    system = frame["model_type"].str.partition("-")[0].str.lower()
    frame = frame.assign(score=frame["score"].astype(float), system=system)
    wide = frame.pivot_table(index="item", columns="participant", values="score")
    wide.columns = wide.columns.astype(str).str.lstrip("0").astype(int)
    two = frame[frame["participant"].str.lstrip("0").isin(["1", "2"])]
    place = ("Replication notebook", "agreement", "participants_1_2", "alpha")
    out: Values = {place: alpha(counts(two, "item", "score"), "ordinal")}
    for panel, people in {"direct": ["1", "2"], "team": ["9", "10"]}.items():
        of = frame[frame["participant"].str.lstrip("0").isin(people)].groupby("system")["score"]
        for system, scores in of:
            out["Responses notebook", panel, str(system), "mean"] = scores.mean()
            out["Responses notebook", panel, str(system), "sd"] = scores.std()
    for a, b in ((1, 10), (1, 2), (1, 9), (8, 5)):
        row = f"participants_{a}_{b}"
        out["Responses notebook", "correlations", row, "spearman"] = wide[a].corr(wide[b], method="spearman")
    return out


def webnlg2020(files: Files) -> Values:
    """Fleiss' kappa of sliders cut into five classes, of texts with three ratings."""
    out: Values = {}
    columns = {"Correctness": "correctness", "DataCoverage": "data_coverage", "Fluency": "fluency"}
    columns |= {"Relevance": "relevance", "TextStructure": "text_structure"}
    for language, element in {"en": "English notebook", "ru": "Russian notebook"}.items():
        texts = [
            [*workers.values()]
            for file in sorted(files(f"{language}_bt5.json").parent.glob(f"{language}_*.json"))
            for workers in json.loads(file.read_text("utf-8")).values()
            if len(workers) == 3
        ]
        for label, row in columns.items():
            classes = np.array([[int(5 * one[label] / 101) for one in three] for three in texts])
            table = np.stack([(classes == k).sum(axis=1) for k in range(5)], axis=1)
            out[element, "agreement", row, "fleiss_kappa"] = float(fleiss_kappa(table))
    return out


def minp_forms(files: Files) -> Values:
    """Of each story the mean over valid raters, and the share of pairs of raters who differ."""
    forms = {"v2": "min_p user preference study v2.0 (Responses) - Form responses 1 (1) (2).csv"}
    forms["v3"] = "[LIVE] min_p user preference study v3.0 (Responses) - Form responses 1.csv"
    out: Values = {}
    for version, name in forms.items():
        frame = pd.read_csv(files(name), header=None, skiprows=1, dtype=str)
        people = frame[frame[41].isin(["0", "1"])]
        second = {"v2": "diversity", "v3": "creativity"}[version]
        for k, (block, model, label) in enumerate(product(range(1, 7), "abc", ("quality", second)), start=1):
            place = (f"Form {version}", label, f"block_{block}_model_{model}")
            valid = people.loc[people[41] == "1", k].astype(float)
            out[*place, "mean"] = valid.mean()
            out[*place, "agreement_valid"] = differing(valid)
            out[*place, "agreement_all"] = differing(people[k].astype(float))
    return out


def differing(scores: pd.Series) -> float:
    """The share of pairs of scores that differ."""
    n = scores.value_counts()
    return float(1 - (n * (n - 1)).sum() / (n.sum() * (n.sum() - 1)))


def recquest(files: Files) -> Values:
    frame = pd.read_json(files("dialogues_min.jsonl"), lines=True)
    frame["recommended"] = [len(r) if isinstance(r, list) else 0 for r in frame["recommendations"]]
    out: Values = {}
    for domain, of in frame.groupby("domain"):
        values = {"dialogues": len(of), "utterances": of["n_human"].sum() + of["n_ai"].sum()}
        values |= {"mean_turns": of["n_human"].mean(), "mean_recommendations": of["recommended"].mean()}
        out |= {("README", "domains", str(domain), column): float(value) for column, value in values.items()}
    return out


def accuracy_spans(files: Files) -> Values:
    """How many rows of the sheet of annotations have a category of each worker."""
    frame = pd.read_excel(files("participants_and_annotations.xlsx"), sheet_name="annotations", engine="calamine")
    marks = frame[["T1", "T2", "T3"]].notna()
    out: Values = {("Participants", "errors", "all_texts", t.lower()): float(n) for t, n in marks.sum().items()}
    for text, of in marks.groupby(frame["sheet"]):
        out |= {("Texts", "errors", str(text).lower(), t.lower()): float(n) for t, n in of.sum().items()}
    return out


def qags(files: Files) -> Values:
    """Both parts together: a sentence of a summary is an item."""
    answers = [
        ((part, i, j), one["response"])
        for part in ("cnndm", "xsum")
        for i, line in enumerate(files(f"mturk_{part}.jsonl").read_text("utf-8").splitlines())
        for j, sentence in enumerate(json.loads(line)["summary_sentences"])
        for one in sentence["responses"]
    ]
    table = counts(pd.DataFrame(answers, columns=["item", "answer"]), "item", "answer")
    place = ("Results file", "both_parts")
    return {(*place, "consistent", "alpha"): alpha(table), (*place, "items", "count"): float(len(table))}


def reprohum0744(files: Files) -> Values:
    """Comparisons as stored, of people who never chose a distractor; the scale of the original as printed."""
    wide = pd.read_csv(files("responses.csv"), dtype=str)
    fields = ("systema", "systemb", "dataset", "ix", "meaning")
    parts = [wide[["prolific_pid", *(f"{f}{i}" for f in fields)]].set_axis(["who", *fields], axis=1) for i in range(32)]
    frame = pd.concat(parts, ignore_index=True)
    frame["chosen"] = frame["systemb"].where(frame["meaning"] == "True", frame["systema"])
    fooled = set(frame.loc[frame["chosen"] == "distractor", "who"])
    systems = ["vae", "sep_ae", "lbow", "dips"]
    frame = frame[~frame["who"].isin(fooled) & frame["systema"].isin(systems) & frame["systemb"].isin(systems)]
    table = counts(frame, ["dataset", "ix", "systema", "systemb"], "meaning")
    wins = frame["chosen"].value_counts()
    shown = frame["systema"].value_counts() + frame["systemb"].value_counts()
    return {
        ("Agreement", "agreement", "all", "fleiss_kappa"): float(fleiss_kappa(table.to_numpy())),
        ("Correlations", "pearson", "4_systems", "pearson"): with_original("reprohum0744", 2 * wins / shown - 1),
    }


def with_original(paper: str, scale: pd.Series) -> float:
    """The correlation of a scale of systems with that of the original study, as printed."""
    original = numbers.load(paper, "Original study").set_index("row")["value"]
    return float(original.corr(scale.reindex(original.index)))


def d2t_bws(files: Files) -> Values:
    systems = dict(zip((f"sys{i}" for i in range(5)), ("gold", "templ", "ed_cc", "rbf_2020", "macro"), strict=True))
    out: Values = {}
    for lab in (1, 2):
        frame = pd.read_csv(files(f"lab{lab}_coherence.csv"), dtype=str)
        best = frame["Answer.best_coh"].where(frame["Answer.best_coh"].isin(["A", "B"]))
        frame = frame.assign(best=best).dropna(subset="best")
        chosen = frame["Input.system1"].where(frame["best"] == "A", frame["Input.system2"]).value_counts()
        shown = frame["Input.system1"].value_counts() + frame["Input.system2"].value_counts()
        scale = (2 * chosen / shown - 1).rename(index=systems)
        out["Comparison", "pearson", f"lab_{lab}", "pearson"] = with_original("d2t_bws", scale)
    return out


def esa_wmt23(files: Files) -> Values:
    """Means over all segments, also those that share a number: the newest row of each login and item."""
    names = ["login", "system", "item", "kind", "from", "to", "score", "document", "flag", "errors", "start", "end"]
    campaigns = {"esa_1": "240315rc5ESA", "esa_2": "240520rc6ESA", "mqm": "240315rc5MQM"}
    weights = {"minor": 1, "major": 5, "critical": 25}
    out: Values = {}
    for column, file in campaigns.items():
        frame = pd.read_csv(files(f"{file}.scores.csv"), header=None, names=names)
        frame = frame[(frame["kind"] == "TGT") & ~frame["document"].str.contains("#duplicate|tutorial")]
        frame = frame.sort_values("end").drop_duplicates(["login", "item"], keep="last")
        if column == "mqm":
            spans = [json.loads(text) for text in frame["errors"]]
            frame["score"] = [
                -sum(0.1 if "Punctuation" in e["error_type"] else weights[e["severity"]] for e in of) for of in spans
            ]
        for system, mean in frame.groupby("system")["score"].mean().items():
            row = str(system).removeprefix("wmt23.").lower().replace("-", "_")
            out["Score files", "means", row, column] = mean
    return out


#: paper -> its function
SOURCES: Mapping[str, Callable[[Files], Values]] = {
    f.__name__: f
    for f in (
        *(accuracy_spans, cis_answerability, cis_transparency, d2t_bws, esa_wmt23, llmbar, minp_forms, qags, recquest),
        *(reprohum0744, reprohum_d2t, reprohum_definitions, summeval, ttcw, webnlg2020),
    )
}


def added(
    results: Mapping[tuple[str, str], Results | None],
    papers: Iterable[mapping.Mapping],
    find: Callable[[str, str], Path | None],
) -> dict[tuple[str, str], Results | None]:
    """Results of studies, with the values of `SOURCES` among those that `mapping.AS_SOURCE` names.

    find : a raw file by its name and study. There are no values where notebook 00 of the study did not run, or a file
    is absent.
    """
    out = dict(results)
    for paper in papers:
        place = next(((e.study, e.notebook) for e in paper.entries if e.rule and e.study), None)
        if not place or not (known := out.get(place)):
            continue

        def files(name: str, paper: mapping.Mapping = paper) -> Path:
            found = [path for study in paper.needs if (path := find(f"{paper.paper}/{name}", study))]
            if not found:
                raise FileNotFoundError(name)
            return found[0]

        try:
            values = SOURCES[paper.paper](files)
        except FileNotFoundError:
            continue
        rows = pd.DataFrame([*values], columns=numbers.PLACE).assign(estimate=[*values.values()])
        out[place] = collect(known, rows.assign(statistic=mapping.AS_SOURCE))
    return out
