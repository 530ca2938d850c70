"""What docs/ says of the answers: docs/six_answers.md and docs/requirements.md, how they are made and what they need,
with values of the code; what docs/results.md says of `answers.json`, and the file's schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2

from judgebook.annotations import population
from judgebook.annotations.features import FEATURES, MIN_DIALOGUES, MIN_RATED
from judgebook.questions.annotators import indicators
from judgebook.questions.judges import alternative_annotator
from judgebook.questions.metrics import correlations
from judgebook.statistics import intervals
from judgebook.study import params, questions
from judgebook.study.guides import table
from judgebook.summary.analysis import OFTEN, SMALL
from judgebook.summary.answers import verdicts
from judgebook.summary.answers.document import Answers
from judgebook.summary.answers.parts import QUESTIONS
from judgebook.summary.answers.verdicts import Verdict
from judgebook.summary.cost import MORE

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


def page(name: str) -> str:
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


TEXT = """\
## answers.json for a dashboard

Beside each first page, `reports/<study>/answers.json` has its answers as data: verdict, sentence, estimate with its
interval, the population that it speaks of, and the facts that the page puts into words.
[answers.schema.json](answers.schema.json) describes every field. `version` changes only when a field or code is removed
or changes its meaning.

```python
import judgebook as jb

answers = jb.read_answers("ji2022")
for answer in answers.answers:
    print(answer.key, answer.verdict, "" if answer.this_run else f"from an earlier run: {answer.earlier}")
if first := answers["order"].estimate:
    print(first.name, first.estimate, first.ci_low, first.ci_high, first.unit)
```

- `evidence` says where the numbers stand: a file of results, and the values of its columns that select the rows; the
  other columns that identify rows are empty.
- `this_run` is false where an answer rests on notebooks of an earlier run with other settings or data: the page says
  so, too.
- `design_findings` and `open_questions` are reasons to doubt an answer whatever its interval.
- A field is null where there is no value, such as an interval that cannot be estimated."""
#: fields of facts that have codes of their own
_WITHIN = {
    "replication": verdicts.Replication,
    "models.verdict": verdicts.Models,
    "margin.pairs.verdict": verdicts.Margin,
}


def text() -> str:
    codes: list[tuple[str, type[Verdict]]] = [
        *((f"`{key}`", kind) for key, kind in verdicts.OF_ANSWER.items()),
        *((f"`{field}` in `facts`", kind) for field, kind in _WITHIN.items()),
    ]
    rows = [row for where, kind in codes for row in _rows(where, kind)]
    asked = ", ".join(f"`{key}` ({question})" for key, question in QUESTIONS.items())
    return f"{TEXT}\n\nAnswers: {asked}. Their verdicts:\n\n{table(('answer', 'verdict', 'meaning'), rows)}"


def _rows(where: str, kind: type[Verdict]) -> Iterator[tuple[str, str, str]]:
    for i, verdict in enumerate(kind):
        yield "" if i else where, f"`{verdict.value}`", verdict.meaning


def schema() -> dict[str, Any]:
    """JSON Schema of the file; each list of codes says what they mean."""
    made = Answers.model_json_schema(mode="serialization")
    kinds: list[type[Verdict]] = [*verdicts.OF_ANSWER.values(), *_WITHIN.values(), verdicts.Other]
    for kind in kinds:
        codes = "; ".join(f"{code.value}: {code.meaning}" for code in kind)
        made["$defs"][kind.__name__]["description"] = f"{kind.__doc__} {codes}."
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
