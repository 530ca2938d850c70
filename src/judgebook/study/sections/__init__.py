"""What a study's YAML may say, section by section."""
