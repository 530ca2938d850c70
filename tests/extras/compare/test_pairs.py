"""One published study of data to text, repeated by two laboratories: real repetitions that contradict each other."""

import pytest

from judgebook.extras.compare.analysis import NOT, compare
from judgebook.extras.compare.sides import Side
from judgebook.published import numbers
from judgebook.sources import build, places
from judgebook.study import params

pytestmark = [pytest.mark.data, pytest.mark.evidence]


@pytest.fixture(scope="module")
def side(atlas_data):

    def read(spec):
        key, _, corpus = spec.partition(":")
        study = params.load(key)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(places, "raw_roots", lambda: [atlas_data])
            scores = build.build(study).frames["annotations"]
        scores = scores[scores["corpus"] == corpus].reset_index(drop=True) if corpus else scores
        return Side(spec, study, atlas_data / key, (corpus,) if corpus else None, scores, spec)

    return read


@pytest.mark.parametrize("first", ["d2t_bws:lab1", "reprohum_d2t"])
def test_the_second_laboratory_contradicts_the_first(side, first):
    """The first one's template has the most wins, the second one's the fewest (printed)."""
    found = compare(side(first), side("d2t_bws:lab2"))
    row = found.deciding.iloc[0]
    assert (row["label"], row["verdict"], len(found.deciding)) == ("coherence", NOT, 1)
    assert row["r"] < 0
    assert (row["same_sign"], row["opposite"], row["only_a"], row["only_b"], row["changed"]) == (0, 0, 2, 0, 1)
    assert found.copies.people == 0
    means = found.means.set_index(["run", "system"])["estimate"] - 1  # from the low end of the scale
    for run, number in (("A", 1), ("B", 2))[first == "reprohum_d2t" :]:  # which leaves out other answers than lab 2
        printed = numbers.load("d2t_bws", f"Lab {number}").query("column == 'scale'").set_index("row")["value"] / 100
        assert means[run].tolist() == pytest.approx(printed[["templ", "ed_cc", "rbf_2020", "macro"]].tolist(), abs=6e-5)
