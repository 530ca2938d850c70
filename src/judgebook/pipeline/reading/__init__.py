"""What helps readers of a report to find a place in it, to cite it and to pass it on."""
