"""`bundle`: a finished study in one file."""

from __future__ import annotations

import argparse
from pathlib import Path

from judgebook import project
from judgebook.plugins import Command, Extra, UsageError


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a study that has been run")
    about = "include the judgements, with pseudonyms, where the YAML states a licence that permits it"
    parser.add_argument("--with-judgements", dest="judgements", action="store_true", help=about)
    parser.add_argument("--with-texts", dest="texts", action="store_true", help="and texts of dialogues, ids masked")
    parser.add_argument("--out", metavar="DIR", default=argparse.SUPPRESS, help="read results from, and write to, DIR")


def _bundle(args: argparse.Namespace) -> int:
    from judgebook.extras.bundle import writing
    from judgebook.pipeline.manifest import Manifest, lock
    from judgebook.pipeline.run import outdated
    from judgebook.study import params, store

    if args.texts and not args.judgements:
        raise UsageError("--with-texts: expected with --with-judgements, found alone")
    given = Path(args.study)
    study = given.stem if given.suffix in (".yaml", ".yml") else given.name
    if not (store.processed(study) / "manifest.json").is_file():
        params.find(args.study)  # a misspelt name is told first
        raise UsageError(f"{study} has not been run; run `{project.command()} --study {args.study}` first")
    with lock(study):
        return writing.command(
            study,
            Manifest(study).data,
            outdated(study),
            judgements=args.judgements,
            texts=args.texts,
        )


BUNDLE = Command(
    name="bundle",
    title="pack a finished study for an archive, as an RO-Crate without data and texts",
    about="""\
Write bundles/STUDY.zip, for an archive or a supplement: report, executed notebooks, results, figures, tables, settings
and versions, each with a description (RO-Crate 1.1). Data, texts of dialogues and ids of people are
never included. Run the study first.

  python run_all.py bundle ji2022""",
    place=60,
    options=_options,
    run=_bundle,
    examples="  python run_all.py bundle ji2022                     a finished study in one file, for an archive\n",
)


def _verify_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", help="a zip file or folder that `bundle --with-judgements` wrote")


def _verify(args: argparse.Namespace) -> int:
    from judgebook.extras.bundle import verifying

    return verifying.command(args.bundle)


VERIFY = Command(
    name="verify",
    title="compute the report of a bundle again from its own judgements, and say what does not come out",
    about="""\
Run the notebooks of a bundle in a temporary folder, with its judgements and settings and nothing else, and compare
every answer of its first page and every row of results.

exit codes: 0 all come out again; 1 some differ; 3 the others cannot be computed from the bundle, which lacks texts or
a notebook; 2 no bundle, or one without judgements

  python run_all.py verify bundles/ji2022.zip""",
    place=62,
    options=_verify_options,
    run=_verify,
    examples="  python run_all.py verify bundles/ji2022.zip          does a bundled report come out again?\n",
)

EXTRA = Extra(commands=(BUNDLE, VERIFY))
