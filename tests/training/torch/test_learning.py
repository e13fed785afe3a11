"""What torch learns from text in minibatches, against what the native kernel learns centre by centre."""

import numpy as np

from densvec import BayesianSkipGram


def topics(sentences=600, length=20, topics=60, words=30, common=200):
    """Sentences of which each is about one topic: words of the topic and common ones, both by Zipf's law."""
    rng = np.random.default_rng(1)

    def draw(count):
        weights = 1 / np.arange(1, count + 1)
        return rng.choice(count, length, p=weights / weights.sum())

    for _ in range(sentences):
        topic, is_common = rng.integers(topics), rng.random(length) < 0.3
        yield [
            f"common{c}" if either else f"{topic}of{w}"
            for either, c, w in zip(is_common, draw(common), draw(words), strict=True)
        ]


def test_minibatches_learn_as_the_native_kernel_does():
    """Neither do they fall behind, as with lower rates, nor overshoot, as with neighbours in one minibatch."""
    text = list(topics())
    losses = []
    for backend, device in (("native", None), ("torch", "cpu")):
        model = BayesianSkipGram(
            text, vector_size=100, min_count=1, sample=0, epochs=3, workers=1, backend=backend, device=device
        )
        losses.append([epoch.loss for epoch in model.loss_history])
    native, torch = losses
    assert torch[1] < 1.1 * native[1]
    assert torch[2] < 1.1 * native[2]
