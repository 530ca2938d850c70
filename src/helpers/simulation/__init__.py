"""Parts of the simulated study; `helpers.simulate` puts them together."""
