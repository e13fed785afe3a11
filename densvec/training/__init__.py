"""Training: the loop shared by all models, and one kernel per backend."""

__all__: list[str] = []
