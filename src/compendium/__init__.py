"""The five papers and other people's studies: printed numbers, their checks, the atlas, the gallery, simulated data.

It adds questions and extras to `judgebook`, which does not know it.
"""
