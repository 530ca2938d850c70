"""Judgements that are neither ratings nor votes in rows of their own: each shape of a table as a module."""
