"""Printed numbers, what they are compared with, and the verdicts."""

#: names of the pages of every printed number, and of the papers' elements
CELLS, ELEMENTS = "90_cells", "papers"
