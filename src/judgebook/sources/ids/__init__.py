"""Ids of people and tasks: what stands in their place, and where."""
