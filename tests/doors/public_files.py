"""The published files and their facts, counted in the files themselves, and what `new` makes of each today."""

from __future__ import annotations

from doors import public_reading as by
from doors import reading
from doors.public import File, csv, long, rows

_TOPIC = ("familiarity", "interest", "search_prob", "summary_result")
_SERIOUS = "validating_emotions encouraging_elaboration demonstrating_understanding advice_giving self_oriented"
_CARE = (*_SERIOUS.split(), "dismissing_emotions")
_FELT = "understood validated affirmed seen accepted caredfor emotional practical motivation"
_ANSWER = "relevance correctness completeness comprehensiveness conciseness serendipity coherence factuality fairness"
_DSTC9 = (
    "coherent error_recovery consistent diverse topic_depth likeable understanding flexible informative inquisitive"
)


_ATLAS, _MORE, _DATA = "atlas", "data_more", "data"
_CIS = f"{_ATLAS}/{{}}/results/user_study_output"
FILES = [
    File(
        f"{_MORE}/alttest/10k_prompts/human_annotations.json",
        by.maps,
        facts=(1, 19, 1698, 14032),
        means={("score", None): 3.7794},
        most=4547,
    ),
    File(
        f"{_MORE}/alttest/mtbench/human_annotations.json",
        by.mtbench,
        facts=(6, 9, 120, 966),
        means={("score", "alpaca-13b"): -0.7692, ("score", "gpt-3.5-turbo"): 0.1839},
    ),
    File(
        f"{_MORE}/conture/data.json",
        by.numbers_only,
        also=("overall_impression",),
        facts=(1, 0, 119, 3816),
        means={("consistent", None): 0.9049, ("inquisitive", None): 2.6724},
    ),
    File(
        f"{_MORE}/dices/dices_350_expert.json",
        by.judge_bench,
        facts=(1, 0, 350, 350),
        means={("safety", None): 0.5},
        most=175,
    ),
    File(
        f"{_MORE}/llmfao/crowd-comparisons.csv",
        by.votes,
        facts=(59, 124, 2139, 8931),
        means={("winner", "Airoboros L2 70B"): -0.0179, ("winner", "command-nightly"): 0.5373},
    ),
    File(
        f"{_MORE}/mturk_decoding/Batch_3539631_batch_results.csv",
        by.decoding,
        facts=(90, 10, 125, 750),
        means={
            ("coherence", "clustered/beam_search_bs100_kpercand3.json_2"): 1.0,
            ("interesting", "original/standard_beam_search_bs10_npad0.3.json_7"): 0.75,
        },
    ),
    File(
        f"{_MORE}/pandalm/testset-v1.json",
        by.pandalm,
        facts=(5, 3, 999, 2997),
        means={("better", "bloom-7b"): -0.0188, ("better", "opt-7b"): -0.19},
    ),
    File(
        f"{_MORE}/squality/all-responses.jsonl",
        by.squality,
        ways={"correctness_rank": -1, "overall_rank": -1},
        facts=(3, 4, 300, 5400),
        means={("correctness_rating", "bart"): 34.8367, ("overall_rank", "human"): 1.0267},
    ),
    File(
        f"{_ATLAS}/asset/human_ratings.csv",
        lambda p: rows(
            (r.original_sentence_id, "system", r.worker_id, r.aspect, r.rating) for r in csv(p).itertuples()
        ),
        facts=(1, 31, 100, 4500),
        means={("meaning", None): 49.264, ("simplicity", None): 39.598},
    ),
    File(
        f"{_ATLAS}/asset/asset_pairwise_comparisons_with_turkcorpus_and_hsplit.csv",
        by.asset_pairs,
        facts=(3, 10, 718, 2154),
        means={("fluency", None): 0.2479, ("simplicity", None): 0.3273},
        becomes=reading.REFUSED,
    ),
    File(
        f"{_CIS.format('cis_answerability')}/answerability/processed/aggregated_output_both_runs.csv",
        lambda p: long(csv(p), ("factuality", "confidence", "satisfaction"), ["questions_ids"], "answers_ids"),
        also=_TOPIC,
        facts=(4, 0, 40, 2880),
        means={("factuality", "A1"): 3.4167, ("satisfaction", "A4"): 3.35},
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
        facts=(10, 160, 100, 19200),
        means={("relevance", "EC1"): 3.6187, ("usefulness", "EC9"): 3.4375},
    ),
    File(
        f"{_ATLAS}/convabuse/1_full/ConvAbuseEMNLPfull.csv",
        by.abuse,
        facts=(2, 8, 4185, 12768),
        means={("is_abuse", "CarbonBot"): 0.7875, ("is_abuse", "E.L.I.Z.A."): 0.3546},
        becomes=reading.REFUSED,
    ),
    File(
        f"{_ATLAS}/d2t_bws/lab1_coherence.csv",
        lambda p: by.best_of_two(p, "coh"),
        ways={"worst_coh": -1},
        also=("worst_coh",),
        facts=(5, 115, 200, 596),
        means={("best_coh", "sys0"): 0.1061, ("best_coh", "sys4"): 0.0179},
    ),
    File(
        f"{_ATLAS}/e2e_rankme/naturalness.csv",
        lambda p: by.side_by_side(p, "natur"),
        facts=(21, 107, 6012, 21195),
        means={("natur", "adapt"): 81.5848, ("natur", "zhaw2"): 185.5494},
        becomes=reading.ASKED,
    ),
    File(
        f"{_ATLAS}/empathy_judges/annotations/lend_an_ear/expert1_ratings.csv",
        lambda p: long(csv(p), _CARE, ["conversation_id"]),
        facts=(1, 0, 50, 300),
        means={("validating_emotions", None): 1.64, ("dismissing_emotions", None): 1.82},
    ),
    File(
        f"{_ATLAS}/empathy_judges/annotations/perceived_empathy/expert1_ratings.csv",
        lambda p: long(csv(p).rename(columns=by.felt), _FELT.split(), ["id"]),
        facts=(1, 0, 50, 450),
        means={("understood", None): 3.66, ("motivation", None): 4.02},
    ),
    File(
        f"{_ATLAS}/empathy_judges/original_data/sample_lend_an_ear_annotations.csv",
        lambda p: long(csv(p), _CARE, ["conversation_id"], None, "user_id"),
        facts=(1, 116, 50, 1162),
        means={("validating_emotions", None): 3.4439, ("dismissing_emotions", None): 2.0785},
    ),
    File(
        f"{_ATLAS}/empathy_judges/original_data/sample_perceived_empathy_annotations.csv",
        lambda p: long(csv(p).rename(columns=by.felt), _FELT.split(), ["OriginalDiscloserID"]),
        facts=(1, 0, 50, 450),
        means={("understood", None): 5.2967, ("motivation", None): 4.4117},
    ),
    File(
        f"{_ATLAS}/factual_dialog/human_annotations/factual_dataset_crowd/dpr.csv",
        lambda p: long(
            csv(p),
            ("Avg Factual Correctness", "Hallucination", "Verifiable"),
            ["conv_index", "context", "response"],
            ["model_type", "decoding"],
        ),
        facts=(12, 0, 1179, 2159),
        means={("avg_factual_correctness", "GPT2-large DBS"): 0.7, ("verifiable", "GPT2-xlarge nucleus"): 0.52},
        becomes=reading.ASKED,
    ),
    File(
        f"{_ATLAS}/factual_dialog/human_annotations/factual_dataset_expert.csv",
        lambda p: long(csv(p), ("Avg Factual Correctness", "Hallucination", "Verifiable"), ["context", "response"]),
        facts=(1, 0, 926, 2778),
        means={("avg_factual_correctness", None): 0.6995, ("verifiable", None): 0.6307},
    ),
    File(
        f"{_ATLAS}/faithdial_audit/data-audit/CTRL/ctrl_processed_cmu.csv",
        lambda p: by.sets_of(p, "ctrl", ("begin_label", "vrm_label"), "system"),
        facts=(1, 0, 200, 400),
        means={("begin_label", None): 0.135, ("vrm_label", None): 0.01},
    ),
    File(
        f"{_ATLAS}/inferential_strategies/data/inferential-strategies/inferential_strategies.json",
        by.judge_bench,
        ways={"sound_reasoning": 1},
        facts=(1, 0, 300, 600),
        means={("sound_reasoning", None): 0.1933},
        most=484,
    ),
    File(
        f"{_ATLAS}/lfqa_experts/raw_annotation_data/Annotated_Dataset/Biology_12_Common20.json",
        by.experts,
        facts=(2, 1, 20, 20),
        means={("betteranswer", None): 0.1},
        most=11,
    ),
    File(
        f"{_ATLAS}/llmbar/Dataset/LLMBar/Natural/dataset.json",
        by.two_outputs,
        facts=(2, 0, 100, 100),
        means={("label", None): -0.16},
        most=58,
    ),
    File(
        f"{_ATLAS}/minp_forms/min_p user preference study v2.0 (Responses) - Form responses 1 (1) (2).csv",
        by.forms,
        facts=(3, 70, 18, 2520),
        means={("quality", "A"): 7.3381, ("diversity", "C"): 7.1881},
        becomes=reading.ASKED,
    ),
    File(
        f"{_ATLAS}/mrbench/MRBench/MRBench_V1.json",
        by.tutors,
        facts=(9, 0, 1589, 12712),
        means={("mistake_identification", "Expert"): 0.8125, ("tutor_tone", "Sonnet"): 0.5781},
    ),
    File(
        f"{_ATLAS}/qags/mturk_cnndm.jsonl",
        by.sentences,
        facts=(1, 162, 714, 2142),
        means={("response", None): 0.7204},
        most=1543,
    ),
    File(
        f"{_ATLAS}/recquest/dialogues_min.jsonl",
        by.experience,
        facts=(1, 0, 451, 451),
        means={("q1", None): 3.8226},
        most=197,
    ),
    File(
        f"{_ATLAS}/reprohum0744/responses.csv",
        by.pairs_in_rows,
        facts=(7, 123, 1280, 3936),
        means={("meaning", "dips"): -0.4593, ("meaning", "vae"): 0.6949},
        becomes=reading.ASKED,
    ),
    File(
        f"{_ATLAS}/reprohum_d2t/Coherence.xlsx",
        lambda p: by.best_of_two(p, "coh", by.excel(p)),
        ways={"worst_coh": -1},
        also=("worst_coh",),
        facts=(5, 116, 200, 597),
        means={("best_coh", "sys0"): 0.1061, ("best_coh", "sys4"): 0.0179},
    ),
    File(
        f"{_ATLAS}/reprohum_definitions/results.xlsx",
        lambda p: long(by.excel(p), ["score"], ["item"], "model_type", "participant"),
        facts=(6, 10, 300, 1920),
        means={("score", "DEXPERT-JOURNAL"): 1.9838, ("score", "SVM-RERANK-NEWS"): 3.5116},
    ),
    File(
        f"{_ATLAS}/summeval/cnndm_THumB-1.0.jsonl",
        by.summaries,
        facts=(18, 0, 1800, 53600),
        means={("coherence", "BART"): 3.9575, ("relevance", "Unified-ext-abs"): 3.8963},
    ),
    File(
        f"{_ATLAS}/ttcw/ttcw_annotations.json",
        by.stories,
        facts=(1, 11, 48, 2016),
        means={("narrative_ending", None): 0.3819, ("character_development", None): 0.2569},
    ),
    File(
        f"{_ATLAS}/webnlg2020/en_TGen.json",
        by.sheets_of_workers,
        facts=(1, 71, 178, 2475),
        means={("correctness", None): 88.3152, ("textstructure", None): 88.8566},
    ),
    File(
        f"{_ATLAS}/xhate_stability/annotations.csv",
        lambda p: by.words_of(p, ("label1", "label2"), ["row", "condition"], "annotator"),
        facts=(1, 22, 95, 4180),
        means={("label1", None): 0.4986, ("label2", None): 0.5033},
    ),
    File(
        f"{_ATLAS}/xsum_hallu/factuality_annotations_xsum_summaries.csv",
        lambda p: by.spans(p, "is_factual", "is_factual"),
        ways={"is_factual": 1},
        facts=(4, 3, 1858, 5564),
        means={("is_factual", "BERTS2S"): 0.1504, ("is_factual", "TranS2S"): 0.0954},
    ),
    File(
        f"{_DATA}/convai2_wild/ratings.csv",
        lambda p: long(csv(p), ("eval_score", "profile_match"), ["round", "dialogue"], "bot", "user"),
        facts=(11, 478, 791, 1439),
        means={("eval_score", "Bot001"): 1.75, ("profile_match", "Bot011"): 0.6545},
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
        facts=(11, 317, 11000, 66000),
        means={("relevance", "Baseline"): 2.9107, ("informativeness", "TeamG"): 2.572},
        becomes=reading.REFUSED,
    ),
    File(
        f"{_DATA}/dstc9/ratings.csv",
        lambda p: long(csv(p), (*_DSTC9.split(), "human_overall"), ["dialogue"], "system"),
        facts=(11, 0, 2200, 70967),
        means={("coherent", "chatbot1"): 2.8017, ("human_overall", "chatbot9"): 3.8274},
    ),
]
