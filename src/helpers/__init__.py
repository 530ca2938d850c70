"""What the notebooks call: one module for each, of the same name. All computing and drawing is in `judgebook`."""
