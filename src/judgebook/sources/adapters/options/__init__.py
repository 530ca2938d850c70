"""What the `sources:` part of a YAML may say, by adapter: modules that do without pandas."""
