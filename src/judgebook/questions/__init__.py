"""One folder per question a reader may ask of a study: what is computed, and how it is shown."""
