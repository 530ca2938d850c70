"""What notebooks 04 and 06 say of how much a study can find."""

import numpy as np
import pytest
from scipy.stats import norm

from judgebook.questions.validity import reach


def test_the_correlation_that_is_found_in_80_percent():
    power = pytest.approx(0.8, abs=0.005)
    z = np.arctanh(reach.detectable(105)) * np.sqrt(102)
    assert norm.sf(1.96 - z) + norm.cdf(-1.96 - z) == power
