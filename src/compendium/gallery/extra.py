"""`gallery`: the committed pages for readers who install nothing."""

from __future__ import annotations

import argparse

from judgebook.pipeline.commands import options
from judgebook.plugins import Command, Extra


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="compare the committed numbers with a fresh run")
    parser.add_argument("--study", dest="studies", nargs="+", metavar="NAME", help="only these studies")
    parser.add_argument("--out", metavar="DIR", default=argparse.SUPPRESS, help="read results from, and write to, DIR")
    parser.add_argument("--jobs", type=options.jobs, default=argparse.SUPPRESS, metavar="N", help="notebooks at a time")


def _gallery(args: argparse.Namespace) -> int:
    from compendium.gallery import committed, kept
    from judgebook.pipeline.run import DEFAULT_JOBS, Options, run

    studies = args.studies or list(committed.STUDIES)
    needed = kept.needed(studies)
    absent_ok = not args.studies or needed != studies
    for only, some in committed.runs(needed, studies).items():
        # GitHub shows the pictures that notebooks hold
        asked = Options(jobs=args.jobs or DEFAULT_JOBS, only=list(only), values=["figures.formats=[svg, png]"])
        if code := run(some, asked, absent_ok=absent_ok):
            return code
    return committed.check(studies) if args.check else committed.write(studies)


GALLERY = Command(
    name="gallery",
    title="rebuild the committed pages in gallery/",
    about="""\
For maintainers: run the studies of the gallery and rebuild gallery/, which GitHub shows to readers who install nothing.
With --check, nothing is written, and the exit code is 1 if a committed number differs from a fresh run.""",
    place=40,
    options=_options,
    run=_gallery,
    examples="  python run_all.py gallery --check                   do the committed numbers still match?\n",
    contributors=True,
)

EXTRA = Extra(commands=(GALLERY,))
