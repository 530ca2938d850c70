"""The base of every error that this package raises on purpose.

Each is defined where it is raised, and its message says what was expected, what was found and what to do. Where callers
may expect one of Python's own (a ValueError for a wrong value), it is that as well.
"""


class JudgebookError(Exception):
    """What was asked for cannot be done; the message is for the person who asked."""
