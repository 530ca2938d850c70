"""The command line: `python run_all.py --help`.

Exit codes: 0 done; 1 an analysis failed, the others ran; 2 error in the command, a YAML file or the data, nothing ran.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from judgebook import project
from judgebook.errors import JudgebookError
from judgebook.pipeline.arguments import UsageError, parsed
from judgebook.pipeline.manifest import Manifest, lock
from judgebook.pipeline.run import DEFAULT_JOBS, FIRST, Options, first, list_all, outdated, run
from judgebook.pipeline.scale import sweep
from judgebook.pipeline.scale.cluster import HOME
from judgebook.pipeline.scale.cluster import check as check_executor
from judgebook.pipeline.surroundings import streams, without_iri_grammar
from judgebook.study import escape, params, store


def main(argv: list[str] | None = None) -> int:
    """Carry out a command line; returns the exit code."""
    streams()
    without_iri_grammar()
    argv = sys.argv[1:] if argv is None else argv
    # Jupyter's own lines are in colour
    with nullcontext() if argv[:1] == ["lab"] else escape.terminals():
        return _main(argv)


def _main(argv: list[str]) -> int:
    try:
        try:
            return _carried_out(argv)
        finally:
            sys.stdout.flush()
    except store.DeniedError as error:  # a folder that cannot be written, a full disk
        return _ended(2, f"{error}; finished work is kept")
    except JudgebookError as error:
        return _ended(2, str(error))
    except BrokenPipeError:  # whoever read what is printed, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13
    except OSError as error:
        said = store.remedy(error) or f"{error.filename or 'output'}: {error.strerror or error}"
        return _ended(2, f"{said}; finished work is kept")
    except KeyboardInterrupt:
        return _ended(130, "interrupted; finished work is kept, and no file is incomplete")


def _ended(code: int, why: str) -> int:
    with suppress(OSError):
        print(f"{project.program()}: {why}", file=sys.stderr, flush=True)
    return code


def _carried_out(argv: list[str]) -> int:
    args = parsed(argv)
    if args.out == "":
        raise UsageError("--out: expected a folder, found an empty name")
    if args.out:
        os.environ["COMPENDIUM_OUT"] = str(Path(args.out).resolve())
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # no terminal hangs up on Windows; `nohup` has it ignored
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)
    command: Callable[[argparse.Namespace], int] = COMMANDS[args.command]
    return command(args)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _run(args: argparse.Namespace) -> int:
    if args.list:
        return list_all()
    if empty := [names for names in args.only if not names.replace(",", "").strip()]:
        raise UsageError(f"--only: expected notebooks (03_iaa, 03 or iaa), found {empty[0]!r}")
    only = [name for names in args.only for name in names.split(",") if name]
    options = Options(
        only=only,
        values=args.values,
        jobs=args.jobs or (DEFAULT_JOBS if args.executor == HOME else None),
        force=args.force,
        dry=args.dry_run,
        executor=check_executor(args.executor),
    )
    if not sweep.points(args.values):
        return _once(args.study, options)
    studies = params.names() if "all" in (args.study or []) else args.study or [s for part, _ in FIRST for s in part]
    return sweep.run(
        args.values, studies, lambda values: _once(args.study, replace(options, values=values)), dry=options.dry
    )


def _once(studies: list[str] | None, options: Options) -> int:
    return run(studies, options) if studies else first(options)


def _fetch(args: argparse.Namespace) -> int:
    from judgebook.sources import fetch

    return fetch.command(args.key, args.source)


def _new(args: argparse.Namespace) -> int:
    from judgebook.pipeline import check

    return check.new(args.name, Path(args.data))


def _check(args: argparse.Namespace) -> int:
    from judgebook.pipeline import check

    return check.check(args.study, args.values)


def _in_checkout(command: str) -> None:
    if project.INSTALLED:
        raise UsageError(f"{command} is for contributors: it works in a checkout of the project only")


def _gallery(args: argparse.Namespace) -> int:
    _in_checkout("gallery")
    from judgebook.pipeline.gallery import committed, scoreboard_page

    studies = args.studies or list(committed.STUDIES)
    needed = scoreboard_page.needed(studies)
    absent_ok = not args.studies or needed != studies
    for only, some in committed.runs(needed, studies).items():
        if code := run(some, Options(jobs=args.jobs or DEFAULT_JOBS, only=list(only)), absent_ok=absent_ok):
            return code
    return committed.check(studies) if args.check else committed.write(studies)


def _compare(args: argparse.Namespace) -> int:
    from judgebook.comparison import page

    return page.command(args.a, args.b, args.renamed)


def _bundle(args: argparse.Namespace) -> int:
    from judgebook.bundle import writing

    given = Path(args.study)
    study = given.stem if given.suffix in (".yaml", ".yml") else given.name
    if not (store.processed(study) / "manifest.json").is_file():
        params.find(args.study)  # a misspelt name is told first
        raise UsageError(f"{study} has not been run; run `{project.command()} --study {args.study}` first")
    with lock(study):
        return writing.command(study, Manifest(study).data, outdated(study), folder=args.folder)


def _plan(args: argparse.Namespace) -> int:
    from judgebook.pipeline import plan

    given = {"budget": args.budget, "power": args.power, "differences": args.differences}
    return plan.command(args.study, **given, jobs=args.jobs or DEFAULT_JOBS)


def _annotate(args: argparse.Namespace) -> int:
    from judgebook.elicitation import writing

    return writing.command(
        args.study,
        args.tool,
        file=args.dialogues,
        methods=args.method,
        labels=args.labels,
        corpus=args.corpus,
        per_system=args.per_system,
        people=args.annotators,
        each=args.each,
        overlap=args.overlap,
        at_most=args.at_most,
        seed=args.seed,
    )


def _degrade(args: argparse.Namespace) -> int:
    from judgebook.elicitation import degraded

    return degraded.command(args.dialogues, args.to, n=args.n, pool=args.pool, system=args.system, seed=args.seed)


def _lab(args: argparse.Namespace) -> int:
    if importlib.util.find_spec("jupyterlab") is None:
        raise UsageError('lab needs the extra `lab`, which is not installed: python -m pip install "jupyterlab>=4.4"')
    from judgebook.pipeline import lab

    return lab.lab(browser=not args.no_browser, port=args.port, allow_root=args.allow_root)


def _schema(args: argparse.Namespace) -> int:
    _in_checkout("schema")
    for name, text in schema_files().items():
        with store.atomic(params.ROOT / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
        print(name)
    return 0


#: pages with tables of questions
LISTING = ("README.md", "CONTRIBUTING.md")


def schema_files() -> dict[str, str]:
    """The files that describe YAMLs, results and questions, as the code says they should be: path -> text."""
    import json

    from judgebook.study import questions, results_guide, yaml_guide

    return {
        "params/schema.json": json.dumps(params.json_schema(), indent=1, ensure_ascii=False) + "\n",
        "docs/yaml.md": yaml_guide.text(),
        "docs/results.md": results_guide.text(),
        "src/judgebook/study/asked.pyi": questions.study_type(),
        **{
            page: questions.listed((params.ROOT / page).read_text("utf-8")) for page in ("README.md", "CONTRIBUTING.md")
        },
    }


COMMANDS: dict[str | None, Callable[[argparse.Namespace], int]] = {
    None: _run,
    "fetch": _fetch,
    "new": _new,
    "check": _check,
    "gallery": _gallery,
    "compare": _compare,
    "bundle": _bundle,
    "plan": _plan,
    "annotate": _annotate,
    "degrade": _degrade,
    "lab": _lab,
    "schema": _schema,
}
