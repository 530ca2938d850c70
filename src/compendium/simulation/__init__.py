"""Parts of the simulated study; `study` puts them together."""
