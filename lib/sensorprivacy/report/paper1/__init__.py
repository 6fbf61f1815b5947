"""Paper 1 (data minimization): compare a run's tables with the printed values, and draw its figures."""
