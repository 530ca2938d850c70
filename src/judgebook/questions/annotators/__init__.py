"""Which annotators stand out? Severity, agreement, answers, speed and drift, and consensus labels (15)."""
