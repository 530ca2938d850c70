"""`annotate` and `degrade`: how judgements are asked for."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from judgebook.pipeline.commands import options
from judgebook.plugins import Command, Extra


def _annotate_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    number, number_or_none = (partial(add, type=kind, metavar="N") for kind in (options.count, options.count_or_none))
    add("study", help="name, or path of a YAML")
    about = "file with a row per turn (default: the study's)"
    add("--dialogues", dest="file", type=Path, metavar="FILE", help=about)
    add("--method", dest="methods", action="append", metavar="METHOD", help="only this; may be given several times")
    add("--labels", nargs="+", metavar="LABEL", help="only these labels")
    about = "dialogues drawn from each system: N, or a few more, as dialogues of one session are drawn together"
    number("--per-system", help=about)
    number("--annotators", dest="people", default=2, help="number of annotators who share the dialogues (2)")
    number("--each", default=1, help="annotators per dialogue or pair (1)")
    about = (
        "number of dialogues or pairs judged by one more annotator (a quarter, at least 25; 0 with --each 2 or more)"
    )
    number_or_none("--overlap", help=about)
    number("--at-most", help="dialogues or pairs that one annotator judges")
    number_or_none("--seed", default=1, help="seed of the random order (1)")
    add("--out", metavar="DIR", default=argparse.SUPPRESS, help="write under DIR")


def _degrade_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dialogues", type=Path, metavar="FILE", help="file with a row per turn")
    parser.add_argument("--to", type=Path, required=True, metavar="FILE", help="what to write, .jsonl")
    about = "dialogues of the control (as many as of other systems)"
    parser.add_argument("--n", type=options.count, metavar="N", help=about)
    parser.add_argument("--system", default="qc", metavar="NAME", help="id of the control (qc)")
    parser.add_argument("--seed", type=options.count_or_none, default=1, metavar="N", help="seed of what is drawn (1)")


def _annotate(args: argparse.Namespace) -> int:
    from judgebook.extras.annotate import writing

    named = ("file", "methods", "labels", "per_system", "people", "each", "overlap", "at_most", "seed")
    return writing.command(args.study, **{name: getattr(args, name) for name in named})


def _degrade(args: argparse.Namespace) -> int:
    from judgebook.extras.annotate import degraded

    return degraded.command(args.dialogues, args.to, n=args.n, system=args.system, seed=args.seed)


ANNOTATE = Command(
    name="annotate",
    title="write a project for Label Studio from a study's YAML",
    about="""\
Write a project for Label Studio from a study's YAML: labels, scales and definitions as questions, dialogues
in random order for each annotator, some for several annotators, sides of pairs swapped at random, systems hidden. The
YAML that reads the answers comes with it. Each method has its own folder in annotation/STUDY. See docs/annotate.md.

  python run_all.py annotate my_study --dialogues chats.csv --annotators 4 --overlap 50
  python run_all.py annotate demo --method dialogue_likert --per-system 5""",
    place=80,
    options=_annotate_options,
    run=_annotate,
    examples="  python run_all.py annotate my_study                  a project for an annotation tool\n",
)

DEGRADE = Command(
    name="degrade",
    title="add dialogues of a degraded control, to check annotators",
    about="""\
Add a degraded control to dialogues, with which notebook 10 tests annotators (Ji et al. 2022, appendix A.1): every reply
is a random one of another dialogue, some of whose words are replaced by words of a third. The file has a row per turn,
as for `annotate`, which reads what is written. See docs/annotate.md.

  python run_all.py degrade chats.csv --to chats_with_control.jsonl --n 40
  python run_all.py degrade chats.csv --to chats_with_control.jsonl --system bad --seed 2""",
    place=90,
    options=_degrade_options,
    run=_degrade,
    examples="""\
  python run_all.py degrade chats.csv --to all.jsonl  dialogues of a degraded control, to check annotators
""",
)

EXTRA = Extra(commands=(ANNOTATE, DEGRADE))
