"""The commands that are not extras: data, checks of a YAML, plans, and what describes the project."""

from __future__ import annotations

import argparse

from judgebook.pipeline.commands import options
from judgebook.plugins import Command, UsageError
from judgebook.study import params, store


def _fetch_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", help="a study or file in the registry; `fetch list` shows all")
    parser.add_argument("--from", dest="source", metavar="DIR_OR_URL", help="take the files from here instead")
    options.add(parser, "--out", "write to DIR")


def _fetch(args: argparse.Namespace) -> int:
    from judgebook.sources import fetch

    return fetch.command(args.key, args.source)


def _check_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="name of a study, or path of a YAML file")
    options.add(parser, "--set", "change the YAML for this check")


def _check(args: argparse.Namespace) -> int:
    from judgebook.pipeline import check

    return check.check(args.study, args.values)


def _plan_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--study", metavar="NAME|PATH", help="the study that serves as the pilot")
    parser.add_argument("--budget", type=options.amount, metavar="MONEY", help=options.told("planning.budget"))
    parser.add_argument("--power", type=options.share, metavar="P", help=options.told("planning.power"))
    worth = "a difference worth finding, in units of the label, or METHOD.LABEL=D; several are possible"
    parser.add_argument(
        "--difference", dest="differences", nargs="+", action="extend", default=[], metavar="LABEL=D", help=worth
    )
    options.add(parser, "--out", "write under DIR")
    options.add(parser, "--jobs", "notebooks at a time")
    stated = parser.add_argument_group("without a pilot", "with --difference D, and --power")
    stated.add_argument("--sd", type=options.amount, metavar="S", help="standard deviation of one person's scores")
    share = "instead of --sd: share of dialogues of one system that are marked; the other's is higher by D"
    stated.add_argument("--rate", type=options.unit, metavar="P", help=share)
    stated.add_argument("--annotators", type=options.count, metavar="N", help="people a dialogue (1, 2 and 3)")
    agreed = "correlation of two people's scores of one system's dialogues (0 to 1)"
    stated.add_argument("--agreement", type=options.unit, metavar="R", help=agreed)
    like = "instead of --sd: what the label is about, how it is asked and who judges, as in relevance,likert,crowd"
    stated.add_argument("--like", type=options.words, metavar="WORDS", help=f"{like}: from public studies like it")
    stated.add_argument(
        "--scale",
        type=options.ends,
        metavar="LOW:HIGH",
        help="with --like: the scale, as in 1:5, where several are usual",
    )
    stated.add_argument("--pilot", type=options.count, metavar="N", help="with --like: what N dialogues tell (20)")
    stated.add_argument("--systems", type=options.count, metavar="N", help="systems that are compared (2)")


def _plan(args: argparse.Namespace) -> int:
    from judgebook.pipeline.commands import plan
    from judgebook.pipeline.run import DEFAULT_JOBS

    names = ("sd", "rate", "like", "scale", "pilot", "annotators", "agreement", "systems")
    stated = {name: value for name in names if (value := getattr(args, name)) is not None}
    if args.study is None:
        return plan.without_pilot(args.differences, budget=args.budget, power=args.power, **stated)
    if stated:
        raise UsageError(f"--{next(iter(stated))} is for plans without a pilot: leave it out, or --study")
    given = {"budget": args.budget, "power": args.power, "differences": args.differences}
    return plan.command(args.study, **given, jobs=args.jobs or DEFAULT_JOBS)


def _schema(_: argparse.Namespace) -> int:
    for name, text in schema_files().items():
        path = params.ROOT / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        with store.atomic(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
        print(name)
    return 0


#: pages with tables of questions
LISTING = ("docs/notebooks.md", "CONTRIBUTING.md")


def schema_files() -> dict[str, str]:
    """The files that describe YAMLs, results and questions, as the code says they should be: path -> text."""
    import json

    from judgebook.study import guides, questions
    from judgebook.summary.answers import guide

    return {
        "params/schema.json": json.dumps(params.json_schema(), indent=1, ensure_ascii=False) + "\n",
        "docs/yaml.md": guides.yaml_keys(),
        "docs/results.md": guides.results(guide.text()),
        **{f"docs/{name}.md": guide.page(name) for name in ("requirements", "six_answers")},
        "docs/answers.schema.json": json.dumps(guide.schema(), indent=1, ensure_ascii=False) + "\n",
        "src/judgebook/study/asked.pyi": questions.study_type(),
        **{page: questions.listed((params.ROOT / page).read_text("utf-8")) for page in LISTING},
    }


COMMANDS = (
    Command(
        name="fetch",
        title="download and verify the raw files of a public study",
        about="""\
Download the raw files of a public study to data/raw/STUDY, verify each of them, and state their licence.
Existing files are verified and kept. `fetch list` shows what can be fetched.

  python run_all.py fetch gpt_abceval
  python run_all.py fetch ji2022 --from ../downloads     files you already have: a folder, an archive or a URL""",
        place=10,
        options=_fetch_options,
        run=_fetch,
        examples="  python run_all.py fetch ji2022 --from ../downloads  raw files of a public study\n",
    ),
    Command(
        name="check",
        title="check YAML and data; say what each notebook will do",
        about="""\
Read the YAML and the data of a study without running anything. Reports errors (file, row, column), how the data were
understood, and what each notebook will do or why it is skipped.

  python run_all.py check my_study
  python run_all.py check ../elsewhere/other.yaml --set bootstrap.n_resamples=500""",
        place=30,
        options=_check_options,
        run=_check,
        examples="  python run_all.py check my_study                    is it valid, and what will each notebook do?\n",
    ),
    Command(
        name="plan",
        title="plan the next study: dialogues, annotators and costs",
        about="""\
Plan the next study with this one as its pilot: the dialogues per system, annotators and costs needed to find a
difference, and boundaries for early looks at the data. Runs notebook 14; anything that the YAML and the data do not
specify can be given here. Without a study it answers at once, from what you say of the scores.

  python run_all.py plan --study finch2024 --difference quality=0.5 comparative.quality=0.2
  python run_all.py plan --study my_study --budget 2000 --power 0.9
  python run_all.py plan --difference 0.3 --sd 1 --annotators 2        scores
  python run_all.py plan --difference 0.05 --rate 0.65 --systems 4     shares of dialogues
  python run_all.py plan --difference 0.3 --like relevance,likert,crowd --scale 1:5     as in public studies""",
        place=70,
        options=_plan_options,
        run=_plan,
    ),
    Command(
        name="schema",
        title="rebuild the schema, guides and lists of questions from the code",
        about="""\
For contributors: after a change to the YAML keys, the statistics or what a question declares, rebuild
params/schema.json, the pages of docs/ that say so, docs/answers.schema.json and the tables of questions in
docs/notebooks.md and CONTRIBUTING.md.""",
        place=110,
        options=lambda parser: None,
        run=_schema,
        contributors=True,
    ),
)
