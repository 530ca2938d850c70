"""What does each conclusion depend on: a choice of the analyst, an annotator, a handful of dialogues?"""
