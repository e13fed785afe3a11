"""Posteriors in any language: encoder and priors as an ONNX graph (``pip install 'densvec[onnx]'``).

The graph takes ``centre``, the rows of n words; ``context``, an (n, C) matrix with the rows of their context words,
−1 where there is none; and ``weight``, of the same shape, how much each of these counts for its place: 1 in a bag of
words, ``reading.weights(distance)`` of the encoder's :class:`~densvec.reading.Reading` in a window. How much a word
counts for its frequency is in the graph. It returns ``mean`` (n, D) and ``log_variance`` (n, 1) or (n, D), as
:meth:`KeyedDensities.infer <densvec.KeyedDensities.infer>` computes them.
"""

from __future__ import annotations

import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from densvec._version import __version__
from densvec.checks import needs
from densvec.encoder import LOG_VARIANCE_BOUNDS
from densvec.files.atomic import atomic_write
from densvec.questions.inference import keep_of
from densvec.reading import MOST_NARROWING
from densvec.types import PathLike

if TYPE_CHECKING:
    from densvec.encoder import Encoder
    from densvec.keyed import KeyedDensities

__all__ = ["export_onnx"]

_OPSET, _IR_VERSION = 17, 8
"""Versions of the standard that runtimes have supported since 2022."""

_LARGEST_MESSAGE = 3 << 29
"""Bytes of weights above which they get a file of their own: one message of Protocol Buffers holds 2 GB."""

_KNOWN_PARTS = {
    "embeddings",
    "context_layer",
    "centre_layer",
    "mean_head",
    "mean_bias",
    "variance_head",
    "variance_bias",
    "residual",
    "reading",
}


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
    graph = _Graph(onnx)
    _posteriors(graph, wv, wv.encoder)
    model = graph.model(wv)
    target = os.fspath(path)
    if sum(array.nbytes for array in graph.weights.values()) > _LARGEST_MESSAGE:
        data = os.path.basename(target) + ".data"
        onnx.save_model(model, target, save_as_external_data=True, location=data)
    else:
        onnx.checker.check_model(model)
        with atomic_write(target) as file:
            file.write(model.SerializeToString())
    if words is not None:
        with atomic_write(words) as file:
            file.write("".join(f"{key}\n" for key in wv.index_to_key).encode())


def _posteriors(graph: _Graph, wv: KeyedDensities, encoder: Encoder) -> None:
    """Add what :meth:`Encoder.posteriors` does; names of values are the names there."""
    unknown = {field.name for field in fields(encoder)} - _KNOWN_PARTS
    if unknown:
        raise ValueError(f"the graph does not know these parts of the encoder: {', '.join(sorted(unknown))}")
    for name, array in encoder.arrays().items():
        graph.weight(name, array)
    graph.weight("prior_means", wv.vectors)
    assert wv.log_variances is not None
    graph.weight("prior_log_variances", wv.log_variances)
    add = graph.add
    graph.weight("keep", keep_of(wv, np.arange(len(wv.vectors))))
    reading = encoder.reading
    # h = s Σ_j a_j relu(R[c_j]·context_layer + R[w]·centre_layer) over the context words that there are
    present = add("GreaterOrEqual", "context", graph.weight("zero", np.array(0, np.int64)))
    rows = add("Max", "context", "zero")  # where there is no word, any row will do: it is multiplied by 0
    of_contexts = add("MatMul", add("Gather", "embeddings", rows), "context_layer")  # (n, C, H)
    of_centres = add("MatMul", add("Gather", "embeddings", "centre"), "centre_layer")
    one, last = graph.weight("one", np.array([1], np.int64)), graph.weight("last", np.array([-1], np.int64))
    terms = add("Relu", add("Add", of_contexts, add("Unsqueeze", of_centres, one)))
    mask = add("Cast", present, to=1)  # to float32
    factors = add("Mul", add("Mul", mask, add("Gather", "keep", rows)), "weight")  # a_j
    if np.isfinite(reading.saturation):
        saturation = graph.weight("saturation", np.array(reading.saturation, np.float32))
        full = graph.weight("full", np.array(2 * reading.window + reading.saturation, np.float32))
        total = add("Add", add("ReduceSum", factors, one, keepdims=1), saturation)
        scale = add("Div", full, total)
        factors = add("Mul", factors, scale)
    hidden = add("ReduceSum", add("Mul", terms, add("Unsqueeze", factors, last)), one, keepdims=0)
    mean = add("Add", add("MatMul", hidden, "mean_head"), "mean_bias")
    if reading.narrowing:
        unit = graph.weight("unit", np.array(1, np.float32))
        told = add("MatMul", hidden, add("Abs", "variance_head"))
        if np.isfinite(reading.saturation):
            told = add("Div", told, scale)
        most = graph.weight("most_narrowing", np.array(MOST_NARROWING, np.float32))
        gain = add("Div", told, add("Add", add("Div", told, most), unit))
        log_variance = add("Neg", add("Log", add("Add", gain, unit)))
    else:
        log_variance = add("Add", add("MatMul", hidden, "variance_head"), "variance_bias")
    prior_mean, prior_log_variance = (
        add("Gather", name, "centre") for name in ("prior_means", "prior_log_variances")
    )
    if encoder.residual:
        mean, log_variance = add("Add", mean, prior_mean), add("Add", log_variance, prior_log_variance)
    low, high = (
        graph.weight(name, np.array(bound, np.float32))
        for name, bound in zip(("low", "high"), LOG_VARIANCE_BOUNDS, strict=True)
    )
    clipped = add("Clip", log_variance, low, high)
    # With no known context the posterior is the prior.
    count = add("ReduceSum", mask, one, keepdims=1)
    known = add("Greater", count, graph.weight("nothing", np.array(0, np.float32)))
    add("Where", known, mean, prior_mean, output="mean")
    add("Where", known, clipped, prior_log_variance, output="log_variance")


class _Graph:
    """Nodes and weights of a graph that is being built."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.weights: dict[str, npt.NDArray[Any]] = {}

    def weight(self, name: str, array: npt.NDArray[Any]) -> str:
        """Add an array, floating-point numbers in float32, and return its name."""
        kind = np.float32 if array.dtype.kind == "f" else array.dtype
        self.weights[name] = np.ascontiguousarray(array, dtype=kind).reshape(array.shape)
        return name

    def add(self, operation: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        name = output or f"{operation.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operation, inputs, [name], **attributes))
        return name

    def model(self, wv: KeyedDensities) -> Any:
        """Return the model."""
        helper, types = self.onnx.helper, self.onnx.TensorProto
        assert wv.log_variances is not None
        graph = helper.make_graph(
            self.nodes,
            "posterior",
            [
                helper.make_tensor_value_info("centre", types.INT64, ["n"]),
                helper.make_tensor_value_info("context", types.INT64, ["n", "contexts"]),
                helper.make_tensor_value_info("weight", types.FLOAT, ["n", "contexts"]),
            ],
            [
                helper.make_tensor_value_info("mean", types.FLOAT, ["n", wv.vector_size]),
                helper.make_tensor_value_info("log_variance", types.FLOAT, ["n", wv.log_variances.shape[1]]),
            ],
            [self.onnx.numpy_helper.from_array(array, name) for name, array in self.weights.items()],
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", _OPSET)],
            producer_name="densvec",
            producer_version=__version__,
        )
        model.ir_version = _IR_VERSION
        helper.set_model_props(model, {"window": str(wv.window), "words": str(len(wv.index_to_key))})
        return model
