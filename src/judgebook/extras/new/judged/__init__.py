"""What people judged where no usual column says it: means of a few people, choices between texts."""
