"""The published files, how each is read with pandas, and what `new` makes of it today.

`tests/sources/test_more_data.py` has others, of which numbers were printed.
"""

from __future__ import annotations

from doors import public_reading as by
from doors import reading
from doors.public import File

_ATLAS, _MORE = "atlas", "data_more"
FILES = [
    File(f"{_MORE}/llmfao/crowd-comparisons.csv", by.votes),
    File(f"{_MORE}/squality/all-responses.jsonl", by.squality, ways={"correctness_rank": -1, "overall_rank": -1}),
    File(f"{_ATLAS}/convabuse/1_full/ConvAbuseEMNLPfull.csv", by.abuse, becomes=reading.ASKED),
    File(f"{_ATLAS}/e2e_rankme/naturalness.csv", lambda p: by.side_by_side(p, "natur"), becomes=reading.ASKED),
    File(f"{_ATLAS}/lfqa_experts/raw_annotation_data/Annotated_Dataset/Biology_12_Common20.json", by.experts),
    File(
        f"{_ATLAS}/xsum_hallu/factuality_annotations_xsum_summaries.csv",
        lambda p: by.spans(p, "is_factual", "is_factual"),
        ways={"is_factual": 1},
    ),
]
