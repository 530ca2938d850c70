"""What notebooks show: tables, figures and sentences made from result rows. Nothing here computes a statistic."""
