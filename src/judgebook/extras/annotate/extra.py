"""`annotate` and `degrade`: how judgements are asked for."""

from __future__ import annotations

import argparse
from pathlib import Path

from judgebook.pipeline.commands import options
from judgebook.plugins import Command, Extra


def _annotate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="name, or path of a YAML")
    parser.add_argument("--tool", required=True, choices=("labelstudio", "potato"))
    parser.add_argument(
        "--dialogues", type=Path, metavar="FILE", help="file with a row per turn (default: the study's)"
    )
    parser.add_argument("--method", action="append", metavar="METHOD", help="only this; may be given several times")
    parser.add_argument("--labels", nargs="+", metavar="LABEL", help="only these labels")
    per_system = "dialogues drawn from each system: N, or a few more, as dialogues of one session are drawn together"
    parser.add_argument("--per-system", type=options.count, metavar="N", help=per_system)
    parser.add_argument(
        "--annotators",
        type=options.count,
        default=2,
        metavar="N",
        help="number of annotators who share the dialogues (2)",
    )
    parser.add_argument(
        "--each", type=options.count, default=1, metavar="N", help="annotators per dialogue or pair (1)"
    )
    agreement = (
        "number of dialogues or pairs judged by one more annotator (a quarter, at least 25; 0 with --each 2 or more)"
    )
    parser.add_argument("--overlap", type=options.count_or_none, metavar="N", help=agreement)
    parser.add_argument(
        "--at-most", type=options.count, metavar="N", help="dialogues or pairs that one annotator judges"
    )
    parser.add_argument(
        "--seed", type=options.count_or_none, default=1, metavar="N", help="seed of the random order (1)"
    )
    parser.add_argument("--out", metavar="DIR", default=argparse.SUPPRESS, help="write under DIR")


def _degrade_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dialogues", type=Path, metavar="FILE", help="file with a row per turn")
    parser.add_argument("--to", type=Path, required=True, metavar="FILE", help="what to write, .jsonl")
    parser.add_argument(
        "--n", type=options.count, metavar="N", help="dialogues of the control (as many as of other systems)"
    )
    parser.add_argument("--system", default="qc", metavar="NAME", help="id of the control (qc)")
    parser.add_argument("--seed", type=options.count_or_none, default=1, metavar="N", help="seed of what is drawn (1)")


def _annotate(args: argparse.Namespace) -> int:
    from judgebook.extras.annotate import writing

    return writing.command(
        args.study,
        args.tool,
        file=args.dialogues,
        methods=args.method,
        labels=args.labels,
        per_system=args.per_system,
        people=args.annotators,
        each=args.each,
        overlap=args.overlap,
        at_most=args.at_most,
        seed=args.seed,
    )


def _degrade(args: argparse.Namespace) -> int:
    from judgebook.extras.annotate import degraded

    return degraded.command(args.dialogues, args.to, n=args.n, system=args.system, seed=args.seed)


ANNOTATE = Command(
    name="annotate",
    title="write a project for an annotation tool from a study's YAML",
    about="""\
Write a project for Label Studio or Potato from a study's YAML: labels, scales and definitions as questions, dialogues
in random order for each annotator, some for several annotators, sides of pairs swapped at random, systems hidden. The
YAML that reads the answers comes with it. Each method has its own folder in annotation/STUDY. See docs/annotate.md.

  python run_all.py annotate my_study --tool labelstudio --dialogues chats.csv --annotators 4 --overlap 50
  python run_all.py annotate demo --tool potato --method dialogue_likert --per-system 5""",
    place=80,
    options=_annotate_options,
    run=_annotate,
    examples="  python run_all.py annotate my_study --tool potato   a project for an annotation tool\n",
)

DEGRADE = Command(
    name="degrade",
    title="add dialogues of a degraded control, to check annotators",
    about="""\
Add a degraded control to dialogues, with which notebook 10 tests annotators (Ji et al. 2022, appendix A.1): every reply
is a random one of another dialogue, some of whose words are replaced by words of a third. The file has a row per turn,
as for `annotate`, which reads what is written. See docs/annotate.md.

  python run_all.py degrade chats.csv --to chats_with_control.jsonl --n 40
  python run_all.py degrade chats.csv --to chats_with_control.jsonl --pool training_set.jsonl --seed 2""",
    place=90,
    options=_degrade_options,
    run=_degrade,
    examples="""\
  python run_all.py degrade chats.csv --to all.jsonl  dialogues of a degraded control, to check annotators
""",
)

EXTRA = Extra(commands=(ANNOTATE, DEGRADE))
