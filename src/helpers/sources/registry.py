"""Public raw files: where they come from, how they are verified, under which licence."""

from __future__ import annotations


def fetch_hint(study: str, name: str) -> str:
    """The command that fetches a raw file of `study`; empty when the registry does not have it."""
    return ""
