"""Paper 2 (three-way decisions): compare a run's tables with the printed values."""
