"""The command line: `python run_all.py --help`.

Exit codes: 0 done; 1 an analysis failed, the others ran; 2 the call, a YAML or the data are wrong, nothing ran.
"""

from __future__ import annotations

import argparse
import difflib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from helpers.pipeline.manifest import Busy
from helpers.pipeline.notebook import NotebookError
from helpers.pipeline.run import Options, first, list_all, run
from helpers.study import params, store
from helpers.study.params import ParamsError

EXAMPLES = """\
examples:
  python run_all.py                                   what comes with the project: ji2022, llmfao, demo; offline
  python run_all.py --study gpt_abceval               a params/<name>.yaml; or the path of your own YAML
  python run_all.py --study all                       every study whose data have been fetched
  python run_all.py --only iaa --jobs 2               one notebook, and what it needs
  python run_all.py --set bootstrap.n_resamples=2000  change a value of the YAML for this run
  python run_all.py --dry-run                         what would run, and why
  python run_all.py fetch ji2022 --from ../downloads  raw files of a public study
  python run_all.py new my_study --data my.csv        a first YAML for your own data
  python run_all.py check my_study                    is it right, and what will each notebook do?
  python run_all.py compare study:run_1 study:run_2   did a repetition reproduce?
  python run_all.py lab                               the notebooks in Jupyter Lab, to try things out
  python run_all.py gallery --check                   do the committed numbers still match?

exit codes: 0 done; 1 an analysis failed (the others ran); 2 the call, a YAML or the data are wrong (nothing ran)
"""


class Wrong(ValueError):
    """The call cannot be carried out; the message says why and what to do."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="run_all.py",
        description="Run the notebooks of a study and write its report. Only what has changed runs again.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _run_options(parser)
    commands = parser.add_subparsers(title="other commands", dest="command", metavar="COMMAND")
    fetch = commands.add_parser("fetch", help="download and verify the raw files of a public study")
    fetch.add_argument("key", help="a study or file of the registry; `fetch list` shows all")
    fetch.add_argument("--from", dest="source", metavar="DIR_OR_URL", help="take the files from here instead")
    new = commands.add_parser("new", help="write a first YAML for a data file of your own")
    new.add_argument("name", help="name of the study: letters, digits and _")
    new.add_argument("--data", required=True, metavar="FILE", help="CSV, TSV, Excel, Parquet, JSON or JSON Lines")
    check = commands.add_parser("check", help="check YAML and data; say what each notebook will do")
    check.add_argument("study", help="name, or path of a YAML")
    check.add_argument("--set", dest="values", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    gallery = commands.add_parser("gallery", help="rebuild the committed pages in gallery/")
    gallery.add_argument("--check", action="store_true", help="compare the committed numbers with a fresh run")
    gallery.add_argument("--study", dest="studies", nargs="+", metavar="NAME", help="only these studies")
    compare = commands.add_parser("compare", help="compare two runs or studies: did a repetition reproduce?")
    side = "a study, or a folder of results; STUDY:CORPUS for a part of one"
    compare.add_argument("a", metavar="A", help=side)
    compare.add_argument("b", metavar="B", help="likewise")
    renames = "name of a system or label in B, and that in A"
    compare.add_argument(
        "--map", dest="renamed", nargs="+", action="extend", default=[], metavar="OLD=NEW", help=renames
    )
    for command in (gallery, fetch, compare):
        command.add_argument("--out", metavar="DIR", default=argparse.SUPPRESS, help="write below DIR")
    gallery.add_argument("--jobs", type=_jobs, default=argparse.SUPPRESS, metavar="N", help="notebooks at a time")
    lab = commands.add_parser("lab", help="open the project in Jupyter Lab; output goes to a scratch folder")
    lab.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")
    lab.add_argument("--port", type=int, metavar="N", help="port of the server")
    lab.add_argument("--allow-root", action="store_true", help="run as root, in a container for example")
    commands.add_parser("schema", help="rebuild params/schema.json, docs/yaml.md and docs/results.md from the code")
    return parser


def _run_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    several = "which study (default: those that come with the project); may be given several times"
    add("--study", action="append", metavar="NAME|PATH|all", help=several)
    add("--only", default="", metavar="A,B", help="only these notebooks (03_iaa, 03 or iaa) and what they need")
    add("--set", dest="values", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="change the YAML")
    add(
        "--jobs", type=_jobs, default=min(os.cpu_count() or 1, 4), metavar="N", help="notebooks at a time (%(default)s)"
    )
    add("--dry-run", action="store_true", help="show what would run, and why")
    add("--force", action="store_true", help="also run what is up to date")
    add("--list", action="store_true", help="list studies and notebooks")
    add("--out", metavar="DIR", help="write everything below DIR instead of the project")


def _jobs(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, found {text!r}")
    return int(text)


def main(argv: list[str] | None = None) -> int:
    """Carry out a command line; returns the exit code."""
    parser = _parser()
    try:
        _refuse_unknown(parser, sys.argv[1:] if argv is None else argv)
    except Wrong as error:
        print(f"run_all.py: {error}", file=sys.stderr)
        return 2
    args = parser.parse_args(argv)
    if args.out:
        os.environ["COMPENDIUM_OUT"] = str(Path(args.out).resolve())
    signal.signal(signal.SIGTERM, _interrupt)
    command: Callable[[argparse.Namespace], int] = COMMANDS[args.command]
    try:
        return command(args)
    except (ParamsError, NotebookError, Busy, Wrong) as error:
        print(f"run_all.py: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever read what is printed, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13
    except KeyboardInterrupt:
        print("run_all.py: interrupted; what was finished is kept, nothing is half-written", file=sys.stderr)
        return 130


def _refuse_unknown(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    """Raise Wrong for an option or command that does not exist, with what was meant: argparse blames the next word."""
    (commands,) = (a.choices for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    options = {o for p in (parser, *commands.values()) for o in p._option_string_actions}
    for name in (word.partition("=")[0] for word in argv if word.startswith("--") and word != "--"):
        if not any(o.startswith(name) for o in options):
            near = difflib.get_close_matches(name, options, n=1)
            raise Wrong(f"no option {name!r}; " + (f"did you mean {near[0]!r}?" if near else "see --help"))
    first = argv[0] if argv else "-"
    if not first.startswith("-") and first not in commands:
        near = difflib.get_close_matches(first, commands, n=1)
        study = first in params.names() or first.endswith((".yaml", ".yml"))
        meant = f"`--study {first}`" if study else repr(near[0]) if near else ""
        raise Wrong(
            f"no command {first!r}; " + (f"did you mean {meant}?" if meant else f"there are {', '.join(commands)}")
        )


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _run(args: argparse.Namespace) -> int:
    if args.list:
        return list_all()
    only = [name for name in args.only.split(",") if name]
    options = Options(only=only, values=args.values, jobs=args.jobs, force=args.force, dry=args.dry_run)
    return run(args.study, options) if args.study else first(options)


def _fetch(args: argparse.Namespace) -> int:
    from helpers.sources import fetch

    return fetch.command(args.key, args.source)


def _new(args: argparse.Namespace) -> int:
    from helpers.pipeline import check

    return check.new(args.name, Path(args.data))


def _check(args: argparse.Namespace) -> int:
    from helpers.pipeline import check

    return check.check(args.study, args.values)


def _gallery(args: argparse.Namespace) -> int:
    from helpers.pipeline import gallery, gallery_scoreboard

    studies = args.studies or list(gallery.STUDIES)
    needed = gallery_scoreboard.needed(studies)
    code = run(needed, Options(jobs=args.jobs), absent_ok=not args.studies or needed != studies)
    if code:
        return code
    return gallery.check(studies) if args.check else gallery.write(studies)


def _compare(args: argparse.Namespace) -> int:
    from helpers.comparison import page
    from helpers.comparison.sides import WrongSide

    try:
        return page.command(args.a, args.b, args.renamed)
    except WrongSide as error:
        raise Wrong(str(error)) from None


def _lab(args: argparse.Namespace) -> int:
    from helpers.pipeline import lab

    return lab.lab(browser=not args.no_browser, port=args.port, allow_root=args.allow_root)


def _schema(args: argparse.Namespace) -> int:
    for name, text in schema_files().items():
        with store.atomic(params.ROOT / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
        print(name)
    return 0


def schema_files() -> dict[str, str]:
    """The files that describe YAMLs and results, as the code says they should be: path in the project -> text."""
    import json

    from helpers.study import results_guide, yaml_guide

    return {
        "params/schema.json": json.dumps(params.json_schema(), indent=1, ensure_ascii=False) + "\n",
        "docs/yaml.md": yaml_guide.text(),
        "docs/results.md": results_guide.text(),
    }


COMMANDS: dict[str | None, Callable[[argparse.Namespace], int]] = {
    None: _run,
    "fetch": _fetch,
    "new": _new,
    "check": _check,
    "gallery": _gallery,
    "compare": _compare,
    "lab": _lab,
    "schema": _schema,
}
