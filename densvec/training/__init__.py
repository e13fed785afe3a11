"""Training: the loop shared by all models, and one kernel per backend."""
