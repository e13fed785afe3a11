"""Posteriors in any programming language: encoder and priors as an ONNX graph (``pip install 'densvec[onnx]'``).

The graph takes ``centre``, the rows of n words; ``context``, an (n, C) matrix with the rows of their context words,
−1 where there is none; and ``weight``, of the same shape, how much each of these counts for its place: 1 in a bag of
words, ``reading.weights(distance)`` of the encoder's :class:`~densvec.reading.Reading` in a window. How much a word
counts for its frequency is in the graph. It returns ``mean`` (n, D) and ``log_variance`` (n, 1) or (n, D), as
:meth:`KeyedDensities.infer <densvec.KeyedDensities.infer>` computes them.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import numpy as np

from densvec._version import __version__
from densvec.checks import needs
from densvec.encoder import LOG_VARIANCE_BOUNDS
from densvec.files.atomic import atomic_write
from densvec.questions.inference import keep_of
from densvec.reading import MOST_NARROWING
from densvec.types import Array, PathLike

if TYPE_CHECKING:
    from densvec.encoder import Encoder
    from densvec.keyed import KeyedDensities

__all__ = ["export_onnx"]

_OPSET, _IR_VERSION = 17, 8
"""Versions of the standard that runtimes have supported since 2022."""

_LARGEST_MESSAGE = 3 << 29
"""Bytes of weights above which they get a file of their own: one message of Protocol Buffers holds 2 GB."""


def export_onnx(wv: KeyedDensities, path: PathLike, *, words: PathLike | None = None) -> None:
    """Write encoder and priors as an ONNX graph, for posteriors in any language; see :mod:`densvec.integrations.onnx`.

    Parameters
    ----------
    path : str or PathLike
        The file; weights of more than 1.5 GB go to a second one with ``.data`` at the end of its name.
    words : str or PathLike, optional
        Where to write the words, one per line, in the order of their rows.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "posterior.onnx")
    >>> wv.export_onnx(path)
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(path)
    >>> context = np.array([[wv.get_index("cat"), wv.get_index("animal"), -1]])
    >>> inputs = {"centre": np.array([wv.get_index("dog")]), "context": context, "weight": np.ones((1, 3), np.float32)}
    >>> mean, log_variance = session.run(None, inputs)
    >>> bool(np.allclose(mean[0], wv.infer(["cat", "animal"], word="dog").mean))
    True
    """
    if wv.encoder is None or wv.log_variances is None:
        raise ValueError("there is no encoder here, so there is nothing to export: train a BayesianSkipGram")
    onnx = needs("onnx", "onnx")
    text = _graph(wv, wv.encoder)
    model, named = needs("onnx.parser", "onnx").parse_model(text), set(re.findall(r"\w+", text))
    weights = {name: array for name, array in _weights(wv, wv.encoder).items() if name in named}
    model.graph.initializer.extend(onnx.numpy_helper.from_array(weights[name], name) for name in weights)
    onnx.helper.set_model_props(model, {"window": str(wv.window), "words": str(len(wv.index_to_key))})
    target = os.fspath(path)
    if sum(array.nbytes for array in weights.values()) > _LARGEST_MESSAGE:
        data = os.path.basename(target) + ".data"
        onnx.save_model(model, target, save_as_external_data=True, location=data)
    else:
        onnx.checker.check_model(model)
        with atomic_write(target) as file:
            file.write(model.SerializeToString())
    if words is not None:
        with atomic_write(words) as file:
            file.write("".join(f"{key}\n" for key in wv.index_to_key).encode())


def _weights(wv: KeyedDensities, encoder: Encoder) -> dict[str, Array]:
    """Return the constants of the graph by name, floating-point numbers in float32."""
    reading = encoder.reading
    assert wv.log_variances is not None
    low, high = LOG_VARIANCE_BOUNDS
    floats = {
        **encoder.arrays(),
        "narrowing_head": np.abs(encoder.variance_head),
        "prior_means": wv.vectors,
        "prior_log_variances": wv.log_variances,
        "keep": keep_of(wv, np.arange(len(wv.vectors))),
        "saturation": reading.saturation,
        "full_window": 2 * reading.window + reading.saturation,
        "most_narrowing": MOST_NARROWING,
        "low": low,
        "high": high,
        "nothing": 0,
        "unit": 1,
    }
    numbers = {"zero": 0, "first_axis": [1], "last_axis": [-1]}
    weights = {name: np.asarray(value, dtype=np.float32, order="C") for name, value in floats.items()}
    return weights | {name: np.asarray(value, dtype=np.int64) for name, value in numbers.items()}


def _graph(wv: KeyedDensities, encoder: Encoder) -> str:
    """Return what :meth:`Encoder.posteriors` does in ONNX's notation; names of values are the names there."""
    reading = encoder.reading
    scaled, told = "factors = Identity (weights)", "told = Identity (all_told)"
    if np.isfinite(reading.saturation):
        scaled, told = _SCALED, "told = Div (all_told, scale)"
    assert wv.log_variances is not None
    return f"""
    <ir_version: {_IR_VERSION}, opset_import: ["": {_OPSET}], producer_name: "densvec",
     producer_version: "{__version__}">
    posterior (int64[n] centre, int64[n, contexts] context, float[n, contexts] weight)
        => (float[n, {wv.vector_size}] mean, float[n, {wv.log_variances.shape[1]}] log_variance) {{
        present = GreaterOrEqual (context, zero)
        rows = Max (context, zero)
        context_rows = Gather (embeddings, rows)
        of_contexts = MatMul (context_rows, context_layer)
        centre_rows = Gather (embeddings, centre)
        of_centres = MatMul (centre_rows, centre_layer)
        of_each_centre = Unsqueeze (of_centres, first_axis)
        sums = Add (of_contexts, of_each_centre)
        terms = Relu (sums)
        mask = Cast <to: int = 1> (present)
        kept = Gather (keep, rows)
        shares = Mul (mask, kept)
        weights = Mul (shares, weight)
        {scaled}
        factor_of_each = Unsqueeze (factors, last_axis)
        weighted = Mul (terms, factor_of_each)
        hidden = ReduceSum <keepdims: int = 0> (weighted, first_axis)
        shift = MatMul (hidden, mean_head)
        own_mean = Add (shift, mean_bias)
        {_NARROWED.format(told=told) if reading.narrowing else _FROM_HEAD}
        prior_mean = Gather (prior_means, centre)
        prior_log_variance = Gather (prior_log_variances, centre)
        {_SHIFTED if encoder.residual else _AS_IT_IS}
        clipped = Clip (inferred_log_variance, low, high)
        count = ReduceSum <keepdims: int = 1> (mask, first_axis)
        known = Greater (count, nothing)
        mean = Where (known, inferred_mean, prior_mean)
        log_variance = Where (known, clipped, prior_log_variance)
    }}"""


_SCALED = """
        total = ReduceSum <keepdims: int = 1> (weights, first_axis)
        saturated = Add (total, saturation)
        scale = Div (full_window, saturated)
        factors = Mul (weights, scale)"""

_NARROWED = """
        all_told = MatMul (hidden, narrowing_head)
        {told}
        share = Div (told, most_narrowing)
        share_and_1 = Add (share, unit)
        gain = Div (told, share_and_1)
        gain_and_1 = Add (gain, unit)
        narrowed = Log (gain_and_1)
        own_log_variance = Neg (narrowed)"""

_FROM_HEAD = """
        from_head = MatMul (hidden, variance_head)
        own_log_variance = Add (from_head, variance_bias)"""

_SHIFTED = """
        inferred_mean = Add (own_mean, prior_mean)
        inferred_log_variance = Add (own_log_variance, prior_log_variance)"""

_AS_IT_IS = """
        inferred_mean = Identity (own_mean)
        inferred_log_variance = Identity (own_log_variance)"""
