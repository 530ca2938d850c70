"""What somebody adds beside the project: notebooks that declare themselves, and statistics that say what they are."""
