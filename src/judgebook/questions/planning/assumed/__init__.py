"""Plans of studies that have no pilot: how scores vary is stated, or taken from public studies."""
