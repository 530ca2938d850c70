"""What libraries make of files and expressions that came from elsewhere, in a process of its own with limits."""
