"""The published files: how each is read with pandas, and its facts, counted there."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from doors.public import File, content, csv, lines, long, number, plain, rows

_TOPIC = ("familiarity", "interest", "search_prob", "summary_result")
_PREFERRED = {"left": 1, "right": -1, "tie": 0, "model_a": 1, "model_b": -1, "0": 0, "1": 1, "2": -1}
_SERIOUS = "validating_emotions encouraging_elaboration demonstrating_understanding advice_giving self_oriented"
_CARE = [*_SERIOUS.split(), "dismissing_emotions"]
_FELT = [
    f"m_{x}" for x in "understood validated affirmed seen accepted caredfor emotional practical motivation".split()
]
_ANSWER = "relevance correctness completeness comprehensiveness conciseness serendipity coherence factuality fairness"
_DSTC9 = (
    "coherent error_recovery consistent diverse topic_depth likeable understanding flexible informative inquisitive"
)


def _felt(name: str) -> str:
    return name.removeprefix("m_")


def excel(path: Path, sheet: str | int = 0) -> pd.DataFrame:
    return pd.read_excel(path, sheet_name=sheet, dtype=str, engine="calamine", keep_default_na=False)


def numbers_only(path: Path) -> pd.DataFrame:
    held = [
        (d["dialog_id"], "system", None, plain(k), v)
        for d in content(path)
        for r in d["dialog_ratings"]
        for k, v in r.items()
    ]
    return rows(r for r in held if isinstance(r[4], int))


def votes(path: Path) -> pd.DataFrame:
    f = csv(path)
    pairs = zip(f.prompt, f.left, f.worker, f.winner.map(_PREFERRED), f.right, strict=True)
    return rows(((p, a, w, "winner", s, b) for p, a, w, s, b in pairs), pairs=True)


def mtbench(path: Path) -> pd.DataFrame:
    marks = []
    for folder, mapped in (("human", "people"), ("llm", "models")):
        for who, held in content(path.with_name(f"{folder}_annotations.json")).items():
            for key, won in held.items():
                q, a, b, turn = key.split("__")
                marks.append((f"{q}/{turn}", a, f"{mapped} {who}", "score", _PREFERRED[won], b))
    return rows(marks, pairs=True)


def maps(path: Path) -> pd.DataFrame:
    """Annotator -> item -> score, of people and, in the file beside it, of models."""
    files = [content(path.with_name(f"{x}_annotations.json")) for x in ("human", "llm")]
    return rows((i, "system", w, "score", s) for f in files for w, of in f.items() for i, s in of.items())


def pandalm(path: Path) -> pd.DataFrame:
    marks = []
    for r in content(path):
        a, b = r["cmp_key"].split("_")
        marks += [(r["idx"], a, f"annotator{k}", "better", _PREFERRED[str(r[f"annotator{k}"])], b) for k in (1, 2, 3)]
    return rows(marks, pairs=True)


def squality(path: Path) -> pd.DataFrame:
    marks = []
    for p, passage in enumerate(lines(path)):
        for q, question in passage["questions"].items():
            for system in ("bart", "bart-dpr", "human"):
                for review in question[system]["reviews"]:
                    scored = {k: v for k, v in review.items() if k.endswith(("-rating", "-rank"))}
                    marks += [(f"{p}/{q}", system, review["worker_id"], plain(k), v) for k, v in scored.items()]
    return rows(marks)


def decoding(path: Path) -> pd.DataFrame:
    with path.open(newline="", encoding="utf-8") as file:
        f = pd.read_csv(
            file, dtype=str, keep_default_na=False, names=file.readline().strip().replace('"', "").split(",")
        )
    marks = []
    for _, r in f.iterrows():
        for ij in (f"{i}{j}" for i in range(1, 6) for j in range(1, 6)):
            for label in ("coherence", "grammar", "interesting"):
                marks.append((r.HITId + ij, r[f"Input.sysid{ij}"], r.WorkerId, label, r[f"Answer.{label}{ij}"]))
    return rows(marks)


def judge_bench(path: Path) -> pd.DataFrame:
    return rows(
        (one["id"], "system", None, plain(label), score)
        for one in content(path)["instances"]
        for label, held in one["annotations"].items()
        for score in held["individual_human_scores"]
    )


def best_of_two(path: Path, answer: str, f: pd.DataFrame | None = None) -> pd.DataFrame:
    f = csv(path) if f is None else f
    won = f[f"Answer.best_{answer}"].str.upper().map({"A": 1, "B": -1})
    pairs = zip(
        f["Input.code"].str.split("#").str[0], f["Input.system1"], f["WorkerId"], won, f["Input.system2"], strict=True
    )
    held = rows(((i, a, w, f"best_{answer}", s, b) for i, a, w, s, b in pairs), pairs=True)
    return held[pd.to_numeric(held["score"]).notna()]


def side_by_side(path: Path, base: str) -> pd.DataFrame:
    f = csv(path)
    parts = [
        f[["mr_id", f"sys{i}", "_worker_id", f"{base}{i}"]].set_axis(["item", "system", "annotator", "score"], axis=1)
        for i in range(1, 6)
    ]
    held = pd.concat(parts).assign(label=base)
    return held[held["score"] != ""].assign(score=lambda x: x["score"].astype(float))


def pairs_in_rows(path: Path) -> pd.DataFrame:
    marks = []
    for _, r in csv(path).iterrows():
        for i in range(32):
            item = f"{r[f'dataset{i}']}/{r[f'ix{i}']}"
            won = -1 if r[f"meaning{i}"] == "True" else 1
            marks.append((item, r[f"systema{i}"], r["prolific_pid"], "meaning", won, r[f"systemb{i}"]))
    return rows(marks, pairs=True)


def spans(path: Path, label: str, of: str) -> pd.DataFrame:
    f = csv(path)
    f = f[f[of] != "NULL"]
    return rows(zip(f.bbcid, f.system, f.worker_id, [label] * len(f), f[of], strict=True))


def asset_pairs(path: Path) -> pd.DataFrame:
    f = csv(path)
    won = f["winner"].map(lambda w: {"asset": 1, "similar": 0}.get(w, -1))
    pairs = zip(f.sentence_id, f.worker_id, f.aspect, won, f.other_dataset, strict=True)
    return rows(((i, "asset", w, x, s, b) for i, w, x, s, b in pairs), pairs=True)


def abuse(path: Path) -> pd.DataFrame:
    f = csv(path)
    steps = f[[f"is_abuse.{n}" for n in (1, 0, -1, -2, -3)]].astype(int)
    item = f[["conv_id", "prev_agent", "prev_user", "agent", "user"]].agg("|".join, axis=1)
    return rows(zip(item, f.bot, f.annotator_id, ["is_abuse"] * len(f), steps.idxmax(axis=1).str[9:], strict=True))


def sets_of(path: Path, text: str, columns: tuple[str, ...], system: str) -> pd.DataFrame:
    f = csv(path)
    held = [(str(i), system, None, plain(c), ";".join(sorted(x.strip() for x in r[c].split(",") if x)))
            for i, r in f.iterrows() for c in columns if r[c]]  # fmt: skip
    return pd.DataFrame(held, columns=["item", "system", "annotator", "label", "score"])


def tutors(path: Path) -> pd.DataFrame:
    return rows(
        (i, system, None, plain(label), answer)
        for i, one in enumerate(content(path))
        for system, held in one["anno_llm_responses"].items()
        for label, answer in held["annotation"].items()
    )


def sentences(path: Path) -> pd.DataFrame:
    return rows(
        (f"{i}/{k}", "system", r["worker_id"], "response", r["response"])
        for i, one in enumerate(lines(path))
        for k, sentence in enumerate(one["summary_sentences"])
        for r in sentence["responses"]
    )


def experience(path: Path) -> pd.DataFrame:
    held = [(one["file"], one["post_task_answers"].get("q1")) for one in lines(path)]
    return rows((i, "system", None, "q1", s) for i, s in held if s is not None)


def summaries(path: Path) -> pd.DataFrame:
    return rows(
        (one["seg_id"], one["SYS"], f"{who} {k}", label, score)
        for one in lines(path)
        for who in ("expert", "turker")
        if isinstance(one[f"{who}_annotations"], list)
        for k, held in enumerate(one[f"{who}_annotations"])
        for label, score in held.items()
    ).assign(annotator=None)


def stories(path: Path) -> pd.DataFrame:
    f = pd.DataFrame(content(path)).astype(str)
    return rows(
        zip(f.story_id, ["system"] * len(f), f.expert_idx, f.category.map(plain), f.binary_verdict, strict=True)
    )


def sheets_of_workers(path: Path) -> pd.DataFrame:
    return rows(
        (item, "system", worker, plain(label), score)
        for item, people in content(path).items()
        for worker, held in people.items()
        for label, score in held.items()
        if label != "feedback"
    )


def two_outputs(path: Path) -> pd.DataFrame:
    held = (
        (i, "output_1", None, "label", _PREFERRED[str(r["label"])], "output_2") for i, r in enumerate(content(path))
    )
    return rows(held, pairs=True)


def experts(path: Path) -> pd.DataFrame:
    one = content(path)
    won = {"Answer A": 1, "Answer B": -1}
    held = ((r["q_id"], "answer1", str(r["annotator"]), "betteranswer", won[r["BetterAnswer"]], "answer2") for r in one)
    return rows(held, pairs=True)


def forms(path: Path) -> pd.DataFrame:
    f = pd.read_csv(path, dtype=str, keep_default_na=False, header=None, skiprows=1)
    f = f[f[0].str.match(r"\d+/\d+/\d+ ")]
    marks = []
    for i, r in f.iterrows():
        for k in range(36):
            block, model, label = k // 6, "ABC"[k % 6 // 2], ("quality", "diversity")[k % 2]
            marks.append((str(block), model, str(i), label, r[1 + k]))
    return rows(marks)


def words_of(path: Path, labels: tuple[str, ...], item: list[str], annotator: str | None) -> pd.DataFrame:
    f = csv(path, skipinitialspace=True)
    return long(f, labels, item, None, annotator)


_ATLAS, _MORE, _DATA = "atlas", "data_more", "data"
_CIS = f"{_ATLAS}/{{}}/results/user_study_output"
FILES = [
    File(f"{_MORE}/alttest/10k_prompts/human_annotations.json", maps),
    File(f"{_MORE}/alttest/mtbench/human_annotations.json", mtbench),
    File(f"{_MORE}/conture/data.json", numbers_only),
    File(f"{_MORE}/dices/dices_350_expert.json", judge_bench),
    File(f"{_MORE}/llmfao/crowd-comparisons.csv", votes),
    File(f"{_MORE}/mturk_decoding/Batch_3539631_batch_results.csv", decoding),
    File(f"{_MORE}/pandalm/testset-v1.json", pandalm),
    File(f"{_MORE}/squality/all-responses.jsonl", squality, ways={"correctness_rank": -1, "overall_rank": -1}),
    File(
        f"{_ATLAS}/asset/human_ratings.csv",
        lambda p: rows(
            (r.original_sentence_id, "system", r.worker_id, r.aspect, r.rating) for r in csv(p).itertuples()
        ),
    ),
    File(f"{_ATLAS}/asset/asset_pairwise_comparisons_with_turkcorpus_and_hsplit.csv", asset_pairs),
    File(
        f"{_CIS.format('cis_answerability')}/answerability/processed/aggregated_output_both_runs.csv",
        lambda p: long(csv(p), ("factuality", "confidence", "satisfaction"), ["questions_ids"], "answers_ids"),
        also=_TOPIC,
    ),
    File(
        f"{_CIS.format('cis_transparency')}/output_processed_aggregated.csv",
        lambda p: long(
            csv(p),
            (*_ANSWER.split(), "readability", "satisfaction", "usefulness"),
            ["questions_ids"],
            "answers_ids",
            "worker_ids",
        ),
        also=(*_TOPIC, "source_usefulness", "warning_usefulness", "confidence_usefulness"),
    ),
    File(f"{_ATLAS}/convabuse/1_full/ConvAbuseEMNLPfull.csv", abuse),
    File(
        f"{_ATLAS}/d2t_bws/lab1_coherence.csv",
        lambda p: best_of_two(p, "coh"),
        ways={"worst_coh": -1},
        also=("worst_coh",),
    ),
    File(f"{_ATLAS}/e2e_rankme/naturalness.csv", lambda p: side_by_side(p, "natur")),
    File(
        f"{_ATLAS}/empathy_judges/annotations/lend_an_ear/expert1_ratings.csv",
        lambda p: long(csv(p), _CARE, ["conversation_id"]),
    ),
    File(
        f"{_ATLAS}/empathy_judges/annotations/perceived_empathy/expert1_ratings.csv",
        lambda p: long(csv(p).rename(columns=_felt), map(_felt, _FELT), ["id"]),
    ),
    File(
        f"{_ATLAS}/empathy_judges/original_data/sample_lend_an_ear_annotations.csv",
        lambda p: long(csv(p), _CARE, ["conversation_id"], None, "user_id"),
    ),
    File(
        f"{_ATLAS}/empathy_judges/original_data/sample_perceived_empathy_annotations.csv",
        lambda p: long(csv(p).rename(columns=_felt), map(_felt, _FELT), ["OriginalDiscloserID"]),
    ),
    File(
        f"{_ATLAS}/factual_dialog/human_annotations/factual_dataset_crowd/dpr.csv",
        lambda p: long(
            csv(p),
            ("Avg Factual Correctness", "Hallucination", "Verifiable"),
            ["conv_index", "context", "response"],
            ["model_type", "decoding"],
        ),
    ),
    File(
        f"{_ATLAS}/factual_dialog/human_annotations/factual_dataset_expert.csv",
        lambda p: long(csv(p), ("Avg Factual Correctness", "Hallucination", "Verifiable"), ["context", "response"]),
    ),
    File(
        f"{_ATLAS}/faithdial_audit/data-audit/CTRL/ctrl_processed_cmu.csv",
        lambda p: sets_of(p, "ctrl", ("begin_label", "vrm_label"), "system"),
    ),
    File(
        f"{_ATLAS}/inferential_strategies/data/inferential-strategies/inferential_strategies.json",
        judge_bench,
        ways={"sound_reasoning": 1},
    ),
    File(f"{_ATLAS}/lfqa_experts/raw_annotation_data/Annotated_Dataset/Biology_12_Common20.json", experts),
    File(f"{_ATLAS}/llmbar/Dataset/LLMBar/Natural/dataset.json", two_outputs),
    File(f"{_ATLAS}/minp_forms/min_p user preference study v2.0 (Responses) - Form responses 1 (1) (2).csv", forms),
    File(f"{_ATLAS}/mrbench/MRBench/MRBench_V1.json", tutors),
    File(f"{_ATLAS}/qags/mturk_cnndm.jsonl", sentences),
    File(f"{_ATLAS}/recquest/dialogues_min.jsonl", experience),
    File(f"{_ATLAS}/reprohum0744/responses.csv", pairs_in_rows),
    File(
        f"{_ATLAS}/reprohum_d2t/Coherence.xlsx",
        lambda p: best_of_two(p, "coh", excel(p)),
        ways={"worst_coh": -1},
        also=("worst_coh",),
    ),
    File(
        f"{_ATLAS}/reprohum_definitions/results.xlsx",
        lambda p: long(excel(p), ["score"], ["item"], "model_type", "participant"),
    ),
    File(f"{_ATLAS}/summeval/cnndm_THumB-1.0.jsonl", summaries),
    File(f"{_ATLAS}/ttcw/ttcw_annotations.json", stories),
    File(f"{_ATLAS}/webnlg2020/en_TGen.json", sheets_of_workers),
    File(
        f"{_ATLAS}/xhate_stability/annotations.csv",
        lambda p: words_of(p, ("label1", "label2"), ["row", "condition"], "annotator"),
    ),
    File(
        f"{_ATLAS}/xsum_hallu/factuality_annotations_xsum_summaries.csv",
        lambda p: spans(p, "is_factual", "is_factual"),
        ways={"is_factual": 1},
    ),
    File(
        f"{_DATA}/convai2_wild/ratings.csv",
        lambda p: long(csv(p), ("eval_score", "profile_match"), ["round", "dialogue"], "bot", "user"),
    ),
    File(
        f"{_DATA}/dstc7/dstc7-task2-human-eval-per-judge.tsv",
        lambda p: long(
            csv(p, sep="\t", encoding="utf-8-sig"),
            ("Relevance", "Informativeness"),
            ["InstanceID"],
            "SystemID",
            "JudgeID",
        ),
    ),
    File(
        f"{_DATA}/dstc9/ratings.csv", lambda p: long(csv(p), (*_DSTC9.split(), "human_overall"), ["dialogue"], "system")
    ),
]
