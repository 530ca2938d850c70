"""Written by `run_all.py schema` from what questions declare: `params.Study`, for type checkers."""

from judgebook.questions.agreement.question import Iaa
from judgebook.questions.annotators.question import Annotators
from judgebook.questions.collection.question import Costs, Pilot
from judgebook.questions.comparisons.question import Comparisons
from judgebook.questions.fragility.question import Fragility
from judgebook.questions.groups.question import GroupEffects
from judgebook.questions.judges.question import Judges
from judgebook.questions.metrics.question import Metrics
from judgebook.questions.moderation.question import Moderation
from judgebook.questions.operating_characteristics.question import Operating
from judgebook.questions.over_time.question import OverTime
from judgebook.questions.performance.question import Performance
from judgebook.questions.planning.question import Planning
from judgebook.questions.quality_control.question import QualityControl
from judgebook.questions.sensitivity.question import Sensitivity
from judgebook.questions.techniques.question import Techniques
from judgebook.questions.validity.question import Coverage, Importance, LabelSelection
from judgebook.study.any_study import AnyStudy

class Study(AnyStudy):
    pilot: Pilot
    costs: Costs
    iaa: Iaa
    importance: Importance
    sensitivity: Sensitivity
    coverage: Coverage
    label_selection: LabelSelection
    performance: Performance
    group_effects: GroupEffects
    metrics: Metrics
    quality_control: QualityControl
    techniques: Techniques
    moderation: Moderation
    judges: Judges
    planning: Planning
    annotators: Annotators
    fragility: Fragility
    over_time: OverTime
    comparisons: Comparisons
    operating: Operating
