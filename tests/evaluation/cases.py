"""Words and files for the tests of evaluation."""

import numpy as np

from densvec.evaluation import Bootstrap
from densvec.keyed import KeyedDensities

NONE = Bootstrap(0)


def around_the_circle(**degrees):
    """Words at given angles: the cosine of two follows from the angle between them."""
    angles = np.deg2rad(list(degrees.values()))
    lengths = np.arange(1, len(degrees) + 1)[:, None]
    return vectors(
        dict(zip(degrees, np.stack([np.cos(angles), np.sin(angles)], axis=1) * lengths, strict=True))
    )


def vectors(words, counts=None, log_variances=None):
    """Words with the given means."""
    attributes = None if counts is None else {"count": np.array(counts)}
    return KeyedDensities.from_arrays(
        list(words),
        np.array(list(words.values()), dtype=np.float32),
        log_variances=None if log_variances is None else np.array(log_variances, dtype=np.float32),
        attributes=attributes,
    )


def write(path, text):
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    return path
