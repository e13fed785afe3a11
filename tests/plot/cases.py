"""What tests of several pictures use."""

import itertools

import matplotlib as mpl

mpl.use("agg")


def boxes(annotations):
    """Return the boxes of texts, in pixels."""
    return [text.get_window_extent() for text in annotations]


def overlapping(annotations):
    return [(a, b) for a, b in itertools.combinations(boxes(annotations), 2) if a.overlaps(b)]


def labels_of(ax):
    return [text for text in ax.texts if text.get_text()]
