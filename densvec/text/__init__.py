"""Text in: reading, counting, the vocabulary, and the feed of token ids to training."""

__all__: list[str] = []
