"""docs/six_answers.md and docs/requirements.md: how answers are made and what they need, with values of the code."""

from __future__ import annotations

from pathlib import Path

import jinja2

from judgebook.annotations import population
from judgebook.annotations.features import FEATURES, MIN_DIALOGUES, MIN_RATED
from judgebook.questions.annotators import indicators
from judgebook.questions.judges import alternative_annotator
from judgebook.questions.metrics import correlations
from judgebook.statistics import intervals
from judgebook.study import params, questions
from judgebook.summary.analysis import SMALL
from judgebook.summary.answers.parts import QUESTIONS
from judgebook.summary.cost import MORE
from judgebook.summary.next_steps import OFTEN

#: values that the pages name
VALUES = {
    "clusters": intervals.MIN_CLUSTERS,
    "judged": alternative_annotator.MIN_JUDGED,
    "least": population.LEAST,
    "minority": intervals.MIN_MINORITY,
    "more": MORE,
    "mostly": population.MOSTLY,
    "often": OFTEN,
    "people": alternative_annotator.MIN_ANNOTATORS,
    "rated": MIN_RATED,
    "shared": indicators.MIN_SHARED,
    "small": SMALL,
    "systems": correlations.MIN_SYSTEMS,
    "tested": MIN_DIALOGUES,
}


def text(name: str) -> str:
    """A page of docs/ by its name. Raises UndefinedError where a feature of the data has no words in its template."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["percent"] = lambda share: f"{share:.0%}"
    inherited, options = params.defaults(), questions.options()
    defaults = {name: model(**inherited.get(name, {})) for name, model in options.items()}
    return environment.get_template(f"{name}.md.j2").render(
        VALUES, defaults=defaults, declared=questions.declared(), features=list(FEATURES), asked=QUESTIONS
    )
