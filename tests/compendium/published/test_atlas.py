"""Public studies of the atlas: what their READMEs count, in the frames of their YAML.

Columns of COUNTS: judgements, people who are known, models that judged, systems with a name, items (pairs, turns).
"""

import pandas as pd
import pytest

from judgebook.sources import build, places
from judgebook.study import params

COUNTS = {
    "accuracy_spans": (63, 3, 0, 3, 21),
    "asset": (6654, 41, 0, 3, 818),
    "cis_answerability": (2880, 0, 0, 4, 40),
    "cis_transparency": (19200, 160, 0, 10, 100),
    "convabuse": (12768, 8, 0, 2, 4185),
    "d2t_bws": (1196, 246, 0, 5, 200),
    "e2e_rankme": (36090, 159, 0, 21, 6012),
    "empathy_judges": (6300, 3, 3, 0, 200),
    "esa_wmt23": (8061, 28, 0, 13, 2687),
    "faireval80": (80, 0, 0, 2, 80),
    "faithdial_audit": (2404, 0, 0, 4, 2404),
    "inferential_strategies": (600, 0, 0, 0, 300),
    "lfqa_experts": (260, 13, 0, 4, 140),
    "llmbar": (4599, 0, 5, 2, 419),
    "minp_forms": (2988, 83, 0, 3, 18),
    "mrbench": (12712, 0, 0, 9, 1589),
    "qags_cnndm": (2142, 162, 0, 0, 714),
    "qags_xsum": (717, 84, 0, 0, 239),
    "recquest": (451, 0, 0, 0, 451),
    "reprohum0744": (3600, 120, 0, 4, 1200),
    "reprohum_d2t": (1785, 208, 0, 5, 200),
    "reprohum_definitions": (1920, 10, 0, 3, 300),
    "summeval": (53600, 0, 0, 18, 1800),
    "ttcw": (4032, 11, 3, 4, 48),
    "webnlg2020": (55465, 124, 0, 18, 3198),
    "xhate_stability": (4180, 22, 0, 0, 95),
    "xsum_hallu": (20562, 0, 0, 5, 2500),
}


#: study, which judgements, statistic, its argument, number as printed


@pytest.fixture(scope="module")
def atlas(atlas_data):
    frames: dict[str, pd.DataFrame] = {}

    def read(name):
        if name not in frames:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(places, "raw_roots", lambda: [atlas_data])
                frames[name] = build.build(params.load(name)).frames["annotations"]
        return frames[name]

    return read


@pytest.mark.data
@pytest.mark.evidence
@pytest.mark.parametrize("name", COUNTS)
def test_counts(atlas, name):
    marks = atlas(name)
    human = marks["annotator_kind"] == "human"
    people = marks.loc[human & marks["annotator_known"].astype(bool), "annotator"].nunique()
    models = marks.loc[~human, "annotator"].nunique()
    named = {*marks["system"].dropna(), *marks["system_b"].dropna()} - {"system"}
    items = marks[["dialogue", "dialogue_b", "turn"]].drop_duplicates()
    assert (len(marks), people, models, len(named), len(items)) == COUNTS[name]
