"""What is computed for the printed values of each paper, and the papers' charts."""
