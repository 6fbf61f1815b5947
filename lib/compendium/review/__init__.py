"""What a reviewer asks for: one printed value recomputed, and the whole compendium packed with its record."""
