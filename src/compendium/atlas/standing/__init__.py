"""The page on where results of a study stand among those of public studies."""

NAME, TITLE = "where_you_stand", "Where you stand"
