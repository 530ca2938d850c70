"""How are judgements asked for? Projects for annotation tools from a study's YAML, and the YAML that reads answers."""
