"""Small studies drawn at random, with names in several languages and scripts, as people collect and save them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from doors.reading import Judgement

#: what files of a language call what they say, and the labels they have
LANGUAGES = {
    "English": {
        "item": ("dialogue", "conversation_id", "dialog id", "Item ID"),
        "system": ("system", "Model", "bot", "chatbot name"),
        "annotator": ("annotator", "worker_id", "Rater", "judge"),
        "label": ("criterion", "dimension", "Metric"),
        "score": ("score", "Rating", "value"),
        "winner": ("winner", "preference", "better"),
        "labels": ("fluency", "Overall quality", "relevance (to context)", "empathy", "Was it engaging, or not?"),
        "no, yes": ("no", "yes"),
        "acts": ("question", "statement", "greeting, or thanks"),
    },
    "German": {
        "item": ("Gespräch", "Dialog", "Dialog-ID"),
        "system": ("Modell", "System"),
        "annotator": ("Bewerter", "Gutachter", "Prüfer"),
        "label": ("Kriterium",),
        "score": ("Bewertung", "Punkte"),
        "winner": ("Sieger", "Präferenz"),
        "labels": ("Flüssigkeit", "Qualität", "Verständlichkeit", "Nähe zum Thema"),
        "no, yes": ("nein", "ja"),
        "acts": ("Frage", "Aussage", "Begrüßung"),
    },
    "French": {
        "item": ("dialogue", "conversation"),
        "system": ("système", "modèle"),
        "annotator": ("annotateur", "évaluateur", "juge"),
        "label": ("critère",),
        "score": ("note", "score"),
        "winner": ("gagnant", "préférence"),
        "labels": ("fluidité", "pertinence", "cohérence", "qualité d'ensemble"),
        "no, yes": ("non", "oui"),
        "acts": ("question", "réponse", "salutation"),
    },
    "Spanish": {
        "item": ("conversación", "diálogo"),
        "system": ("sistema", "modelo"),
        "annotator": ("anotador", "evaluador", "juez"),
        "label": ("criterio",),
        "score": ("puntuación", "valor"),
        "winner": ("ganador", "preferencia"),
        "labels": ("fluidez", "relevancia", "¿Es coherente?", "año de calidad"),
        "no, yes": ("no", "sí"),
        "acts": ("pregunta", "afirmación", "saludo"),
    },
    "Chinese": {
        "item": ("对话", "对话编号"),
        "system": ("模型", "系统"),
        "annotator": ("标注者", "评分者"),
        "label": ("指标", "维度"),
        "score": ("评分", "分数"),
        "winner": ("胜者", "偏好"),
        "labels": ("流畅度", "相关性", "质量"),
        "no, yes": ("否", "是"),
        "acts": ("提问", "陈述", "问候"),
    },
}
_SYSTEMS = (
    ("alpha", "beta", "gamma", "delta", "omega"),
    ("GPT-4", "Blender, 2", 'the "small" one', "Emora", "Bart-FiD-RAG"),
    ("Müller-Bot", "Köln; Süd", "Straße", "Österreich", "Zürich"),
    ("模型一", "模型二", "模型三", "模型四", "模型五"),
    ("A", "B", "C", "D", "E"),
    ("1", "2", "3", "4", "5"),
    ("gpt-4o", "claude-3", "llama-3-8b", "mistral-7b", "qwen2"),
    ("NA", "O'Neil", "R&D", "=SUM(A1)", "true"),
)
_PEOPLE = (
    ("ann", "ben", "eve", "dan", "fay"),
    ("Jürgen", "Zoë", "Łukasz", "José", "Ana María"),
    ("李雷", "韩梅梅", "王芳", "张伟", "刘洋"),
    ("1", "2", "3", "4", "5"),
    ("A1XK9", "A2PQ7", "AZ03L", "B77QW", "C01PO"),
    ("O'Brien, Pat", 'Max "M" Kay', "a;b", "x|y", "d_e"),
    ("a1", "a2", "a3", "a4", "a5"),
    ("ann@example.org", "ben@example.org", "eve@example.org", "dan@example.org", "fay@example.org"),
)
_ITEMS = ("d{0:02d}", "{0}", "conv-{0}", "{0:04x}-ab{0}", "Gespräch {0}", "第{0}", "7{0:03d}", 'a, "{0}"')
_SCALES = ((1, 5), (1, 7), (0, 4), (1, 3), (1, 10), (-2, 2), (0, 100))


@dataclass
class Label:
    """answers : what may be answered, from the lowest up. scale : the ends of the numbers they stand for, of words of
    no order none."""

    name: str
    answers: tuple[object, ...]
    scale: tuple[float, float] | None

    def means(self, answer: object) -> float | str:
        """What an answer is read as: words of no order as they are."""
        if not isinstance(answer, str):
            return float(answer)
        return float(self.answers.index(answer)) if self.scale else answer


@dataclass
class Study:
    """names : our column -> the file's. answers : (item, system, annotator) -> label -> the answer, None for none; of
    comparisons, the system is a pair, and the answer the place of the winner in it, or None for a tie."""

    names: dict[str, str]
    labels: list[Label]
    answers: dict[tuple, dict[str, object]]
    compared: bool = False
    #: how no answer is spelt
    missing: str = ""
    #: systems, as often as they were judged
    systems: list[str] = field(default_factory=list)

    def judgements(self) -> list[Judgement]:
        by_name = {x.name: x for x in self.labels}
        out = []
        for (item, system, who), held in self.answers.items():
            for name, answer in held.items():
                if self.compared:
                    score = 0 if answer is None else 1 - 2 * int(str(answer))
                    out.append(Judgement(item, system[0], who, name, score, system[1]))
                elif answer is not None:
                    out.append(Judgement(item, system, who, name, by_name[name].means(answer)))
        return out


def drawn(pick: random.Random) -> Study:
    """A study of 2 to 5 systems, 3 to 12 dialogues, 2 to 5 people with unequal loads, and 1 to 3 labels."""
    words = LANGUAGES[pick.choice(sorted(LANGUAGES))]
    names = {role: pick.choice(words[role]) for role in ("item", "system", "annotator", "label", "score", "winner")}
    systems = list(pick.choice(_SYSTEMS)[: pick.randint(2, 5)])
    people = pick.choice(_PEOPLE)[: pick.randint(2, 5)]
    spelt = pick.choice(_ITEMS)
    first = pick.choice((0, 1, 100))
    items = [spelt.format(first + i) for i in range(pick.randint(3, 12))]
    load = {who: pick.uniform(0.4, 1) for who in people}
    if pick.random() < 0.2:
        answers = _votes(pick, items, systems, load, names["winner"])
        return Study(names, [Label(names["winner"], (0, 1), None)], answers, compared=True, systems=systems)
    labels = [_label(pick, name, words) for name in pick.sample(words["labels"], pick.randint(1, 3))]
    of_item = {i: systems if pick.random() < 0.9 else pick.sample(systems, 2) for i in items}
    if pick.random() < 0.3:  # live chats: a dialogue is of one system
        of_item = {i: [systems[n % len(systems)]] for n, i in enumerate(items)}
    better = {s: pick.random() for s in systems}
    answers = {}
    for item, shown in of_item.items():
        for system in shown:
            judges = [who for who in people if pick.random() < load[who]] or [pick.choice(people)]
            for who in judges:
                answers[item, system, who] = {x.name: _answer(pick, x, better[system]) for x in labels}
    return Study(names, labels, answers, missing=pick.choice(("", "", "N/A", "-")), systems=systems)


def _label(pick: random.Random, name: str, words: dict[str, tuple[str, ...]]) -> Label:
    kind = pick.choice(("binary", "yes or no", "Likert", "Likert", "Likert", "halves", "nominal"))
    if kind == "nominal":
        return Label(name, words["acts"], None)
    if kind == "binary":
        return Label(name, (0, 1), (0, 1))
    if kind == "yes or no":
        return Label(name, words["no, yes"], (0, 1))
    low, high = (1, 5) if kind == "halves" else pick.choice(_SCALES)
    step = 0.5 if kind == "halves" else 1
    return Label(name, tuple(low + step * i for i in range(int((high - low) / step) + 1)), (low, high))


def _answer(pick: random.Random, label: Label, better: float) -> object:
    if pick.random() < 0.06:
        return None
    place = min(max((better + pick.uniform(-0.4, 0.4)), 0), 0.999)
    return label.answers[int(place * len(label.answers))]


def _votes(
    pick: random.Random, items: list[str], systems: list[str], load: dict[str, float], label: str
) -> dict[tuple, dict[str, object]]:
    answers: dict[tuple, dict[str, object]] = {}
    ties = pick.random() < 0.5
    for item in items:
        pair = tuple(pick.sample(systems, 2))
        for who in [p for p in load if pick.random() < load[p]] or list(load)[:1]:
            answers[item, pair, who] = {label: pick.choice((0, 1, None) if ties else (0, 1))}
    return answers
