"""The notebooks in Jupyter Lab, to try things out."""
