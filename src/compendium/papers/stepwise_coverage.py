"""Notebook 06: behaviours that the paper names (Finch et al. 2023)."""

from __future__ import annotations

from compendium.published import numbers


def named_in_the_paper() -> list[str]:
    """Behaviours that the paper names as distinct in section 7.4."""
    named = numbers.labels("finch2023_table04.csv").query("named_distinct_in_section_7_4 == 'yes'")
    return list(named["label_id"])
