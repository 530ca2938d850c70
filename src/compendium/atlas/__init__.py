"""What human evaluations are like: statistics of every public study, computed and committed in data/atlas."""
