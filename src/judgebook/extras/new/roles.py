"""Which column says which item, which system and who judged: by its usual name, the question of a form or the words of
its name, else by what makes rows unique."""

from __future__ import annotations

import re
import unicodedata

import pandas as pd

from judgebook.extras.new.columns import Guess
from judgebook.extras.new.words import SHORT, TEXT, are_names, is_prose
from judgebook.sources.nature import NAMES, plain

#: words of names, without accents and plural s, in English, German, French and Spanish
_WORDS = {
    "annotator": "annotator rater judge worker crowdworker turker evaluator assessor reviewer labeler labeller "
    "coder expert participant respondent subject grader marker voter tester listener "
    "ann annotateur evaluateur juge bewerter annotierer "
    "gutachter prufer kodierer anotador evaluador juez anotadora bewerterin proband probandin versuchsperson vp "
    "teilnehmer teilnehmerin participante sujet pid",
    "system": "system sys model bot chatbot agent assistant engine generator llm architecture approach method "
    "submission algorithm decoder variant modell bots modele systeme modelo sistema verfahren ansatz",
    "dialogue": "dialogue dialog conversation conv convo chat item sample example instance sentence sent segment seg "
    "article art document doc story query prompt question passage unit topic post thread gesprach beispiel satz frage "
    "text phrase exemple conversacion dialogo ejemplo frase pregunta summary case stimulus caso fall aufgabe tarea "
    "oracion tache",
    "label": "label metric criterion dimension aspect attribute kriterium merkmal critere criterio metrica aspecto",
    "score": "score rating judgement judgment value answer vote point bewertung note wert urteil antwort punkte "
    "punktzahl puntuacion nota valor",
}
ROLES = {word: role for role, words in _WORDS.items() for word in words.split()}
#: the same in Chinese, which puts no spaces between words
_CHINESE = {
    **dict.fromkeys(("标注者", "标注员", "标注人", "评估者", "评估员", "评审", "评委", "评分者"), "annotator"),
    **dict.fromkeys(("模型", "系统", "机器人"), "system"),
    **dict.fromkeys(("对话", "样本", "句子", "问题", "文章", "编号"), "dialogue"),
    **dict.fromkeys(("指标", "维度", "标准"), "label"),
    **dict.fromkeys(("评分", "得分", "分数", "打分"), "score"),
}
#: what may follow these: number, name, id
_NAMED = re.compile(r"(?:编号|名称|姓名|名字?|号|代号|[ _-]?(?:id|name))?", re.I)
#: what annotation platforms put before a name
_PREFIX = re.compile(r"^(?:(?:input|output|answer|assignment|field|data|item|task|result)s?[:.]|_)+", re.I)
#: words that say how a column names what it names
_AFTER = {
    "id",
    "ids",
    "name",
    "names",
    "no",
    "nr",
    "number",
    "code",
    "key",
    "idx",
    "index",
    "hash",
    "anon",
    "anonymized",
    "anonymised",
    "uid",
}
#: of a system, a kind is what is compared (`model_type`); of an annotator or an item it is a group of them
_KINDS = {"type", "variant", "version"}
MOST_SYSTEMS = 60
#: `by` alone, or after a word for judging
_BY = re.compile(
    r"((rated|annotated|judged|evaluated|scored|label+ed|reviewed|voted|completed|assessed|marked|graded|coded)"
    r"[ _.-]?)?by$",
    re.I,
)


def role_of(name: str) -> str | None:
    """What a column names by the words of its name; None where they do not say.

    `sys_name`, `INPUT:system`, `worker_id_anon` and `Bewerter` do; `system_prompt` does not.
    """
    bare = _PREFIX.sub("", name.strip())
    if _BY.match(bare):
        return "annotator"
    for word, role in _CHINESE.items():
        if bare.startswith(word) and _NAMED.fullmatch(bare.removeprefix(word)):
            return role
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", bare)
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).lower()
    words = [w for w in re.split(r"[\W\d_]+", text) if w]
    while len(words) > 1 and words[-1] in _AFTER:
        words.pop()
    if len(words) == 2 and words[1] in _KINDS and ROLES.get(words[0]) == "system":
        return "system"
    if len(words) != 1 or bare[-1:].isdigit():  # `rater_2` is a person's column of scores
        return None
    plural = ROLES.get(words[0].removesuffix("s"))
    return ROLES.get(words[0]) or (plural if plural != "annotator" else None)


def names_a_side(name: str) -> bool:
    """Whether a column names one of the systems of a row: `system_b`, `Model 2`."""
    return role_of(re.sub(r"[ _.-]?(?:[0-9]+|(?<=[ _.-])[ab])$", "", name, flags=re.I)) == "system"


_ASKS = r"^(?:please )?(?:which|what|select|enter)(?: the)?(?: [a-z]+)? "
_ENDS = r"(?: (?:name|id|number|nr\.?|no\.?))?(?: (?:did|was|were|are|is|do|have|it|you|this|that)\b.*)?[?:.]?$"
#: questions of a form whose answers are names of ours
QUESTIONS = {
    "dialogue": re.compile(rf"{_ASKS}(conversation|dialogu?e?|chat){_ENDS}", re.I),
    "system": re.compile(rf"{_ASKS}((chat)?bot|system|model|(ai )?assistant|agent){_ENDS}", re.I),
}


def by_name(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> None:
    # MTurk's columns of what was shown begin so
    by_name = {plain(c.removeprefix("Input.")): c for c in reversed(cells.columns) if c}
    given = set(out.columns)
    for ours, names in NAMES.items():
        for name in names if ours not in out.columns else ():
            column = by_name.get(name)
            if column is None or column in out.columns.values() or (ours == "label" and column in numeric):
                continue
            # a column of names says more than one of numbers, and left and right name systems only where they do
            if ours in ("system", "system_b") and column in numeric and _named_sides(by_name, numeric):
                continue
            if name in ("left", "right") and column in numeric:
                continue
                # sentences are no ids, and ids no sentences
            short = cells[column].str.len().mean() < SHORT and ours in ("system", "system_b", "group", "annotator")
            if ours not in ("label", "score") and not short and is_prose(cells[column]) != (ours in TEXT):
                continue
            out.columns[ours] = column
            out.why[ours] = "by its name"
            break
    # which column says which item, which system and who judged is told with all others at hand (`readings`)
    for ours, other in (("system", "system_b"), ("dialogue", "dialogue_b"), ("annotator", "")):
        if ours not in given and other not in out.columns:
            out.columns.pop(ours, None)


def _named_sides(by_name: dict[str, str], numeric: dict[str, pd.Series]) -> bool:
    """Whether the two columns `left` and `right` hold names."""
    return all(side in by_name and by_name[side] not in numeric for side in ("left", "right"))


def by_words(out: Guess, cells: pd.DataFrame, numeric: dict[str, pd.Series]) -> None:
    """Columns whose names say in other words that they hold labels or scores."""
    # whether a column of numbers holds the scores depends on whether another says what was judged
    for column in sorted(cells, key=lambda c: role_of(c) == "score"):
        role = role_of(column) if column and column not in out.columns.values() else None
        if role not in ("label", "score") or role in out.columns:
            continue
        if column in numeric and (role == "label" or "label" not in out.columns):
            continue
        if role == "score" or are_names(cells[column]):
            out.columns[role] = column
            out.why[role] = "by the words of its name"


#: names of a place in a list, which says who judged only as far as `annotators: positions` does
PLACE = re.compile(r"(?:^|[ _.-])(?:slot|position|pos|order|place|trial|repeat|index|idx|nr|no|number)$", re.I)
