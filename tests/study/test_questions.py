"""What questions declare, and what is refused."""

import pytest
from pydantic import ValidationError

from judgebook.study.questions import Question


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"knobs": {"seed\nimport os": "seeds.bootstrap"}}, "knobs"),
        ({"reeds": ["annotations"]}, "reeds\n  Extra inputs are not permitted"),
        ({"seconds": [1.0]}, "seconds"),
    ],
)
def test_a_wrong_declaration_is_refused(wrong, said):
    with pytest.raises(ValidationError, match=said.partition("\n")[0]) as error:
        Question(**{"notebook": "03_x", "asks": "?"} | wrong)
    assert said in str(error.value)
