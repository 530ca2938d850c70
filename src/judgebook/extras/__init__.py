"""Optional parts, each a folder that can be removed: a command or a page, found by what it declares in `extra.py`."""
