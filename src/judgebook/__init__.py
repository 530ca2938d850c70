"""Human evaluation of chat systems: annotations in, a defensible evaluation report out."""

__version__ = "0.1.0"
