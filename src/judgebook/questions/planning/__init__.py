"""Before the next study: how many dialogues, annotators and labels, at what cost, and when may one look early?"""
