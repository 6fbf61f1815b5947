"""Add noise that is differentially private: Laplace for numbers, randomized response for categories, by OpenDP."""
