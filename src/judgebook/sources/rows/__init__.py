"""From cells of files to judgements: what adapters share."""
