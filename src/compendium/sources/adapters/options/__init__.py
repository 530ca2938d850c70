"""What a YAML may say of the files of each."""
