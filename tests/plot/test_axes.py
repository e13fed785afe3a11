"""Colours, and importing without matplotlib."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np

mpl.use("agg")
from matplotlib.colors import to_rgb

from densvec import plot
from densvec.plot.axes import dark


def test_colours_can_be_told_apart_and_read():
    """Lightness differs between neighbours in the order of use, and text in dark variants stands out on white."""

    def luminance(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    for colour in plot.COLOURS:
        assert 1.05 / (luminance(dark(colour)) + 0.05) > 4.5  # WCAG AA
    assert len(set(plot.COLOURS)) == len(plot.COLOURS)


def test_importing_needs_no_matplotlib():
    code = "import densvec.plot, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
