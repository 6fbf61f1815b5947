"""Paper 3 (anonymization in latent space, and its timing): compare with the printed values, and draw its figures."""
