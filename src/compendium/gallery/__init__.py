"""The committed pages of some studies, their front page, and the scoreboard's part of it."""
