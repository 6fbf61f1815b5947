"""Write PyTorch networks as ONNX graphs, layer by layer, and count their weights and multiply-adds.

Paper 3's networks consist of a few kinds of layers in a row. PyTorch's own exporter needs onnxscript, which is not
installed, and its older exporter is deprecated and will be removed. Here the same network always gives the same bytes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from sensorprivacy.latent.classifiers import Dropout, Pool

OPSET, IR = 17, 8  # onnxruntime 1.14 of early 2023 reads these, so older boards do too
_BATCH = "n"


@dataclass
class Graph:
    """Build a graph layer by layer.

    Attributes
    ----------
    shape : tuple of int
        Shape of the last layer's output, without the batch.
    weights, macs : int
        Number of trained values, and of multiply-adds for one window.
    last : str
        Name of the last layer's output.
    """

    shape: tuple[int, ...]
    weights: int = 0
    macs: int = 0
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    last: str = "x"

    @property
    def kind(self) -> str:
        """``CNN`` or ``MLP``, as paper 3's tables call it; ``-`` for a graph without weights."""
        if any(node.op_type in ("Conv", "ConvTranspose") for node in self.nodes):
            return "CNN"
        return "MLP" if self.weights else "-"

    def constant(self, value: Tensor | np.ndarray) -> str:
        """Add a constant and return its name; a trained tensor counts among the weights."""
        array = value.detach().cpu().numpy() if isinstance(value, Tensor) else value
        if isinstance(value, nn.Parameter) and value.requires_grad:
            self.weights += array.size
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, kind: str, inputs: Sequence[str], *, output: str | None = None, **attributes: Any) -> str:
        """Add a node and return its output's name, which becomes `last`."""
        self.last = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [self.last], **attributes))
        return self.last

    def add_input(self, name: str, shape: Sequence[int], kind: int = TensorProto.FLOAT) -> None:
        """Declare an input, a batch of arrays of this shape."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, [_BATCH, *shape]))

    def add_output(self, name: str, shape: Sequence[int]) -> None:
        """Declare the last node's output as an output of the graph."""
        self.add("Identity", [self.last], output=name)
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [_BATCH, *shape]))

    def model(self) -> onnx.ModelProto:
        """Return the checked model."""
        graph = helper.make_graph(self.nodes, "step", self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET)]
        made = helper.make_model(graph, producer_name="sensorprivacy", opset_imports=opsets, ir_version=IR)
        onnx.checker.check_model(made, full_check=True)
        return made


def classifier(network: nn.Module, shape: tuple[int, int], output: str) -> Graph:
    """Return the graph of an inference model: from ``x`` (n x channels x length, scaled) to logits."""
    return _graph(network, "x", shape, output)


def encoder(hidden: nn.Module, mean: nn.Linear, log_variance: nn.Linear, shape: tuple[int, int], bound: float) -> Graph:
    """Return the graph of an encoder: from ``x`` to ``mean`` and ``log_variance`` of q(z|x).

    The log variance is limited to +-`bound`.
    """
    graph = Graph(shape)
    graph.add_input("x", shape)
    add_layers(graph, nn.Sequential(nn.Flatten(), hidden))
    last, hidden_shape = graph.last, graph.shape
    add_layers(graph, mean)
    graph.add_output("mean", graph.shape)
    graph.last, graph.shape = last, hidden_shape
    add_layers(graph, log_variance)
    graph.add("Clip", [graph.last, *(graph.constant(np.array(end, dtype=np.float32)) for end in (-bound, bound))])
    graph.add_output("log_variance", graph.shape)
    return graph


def decoder(network: nn.Module, latent: int, shape: tuple[int, int]) -> Graph:
    """Return the graph of a decoder: from ``z`` to ``published`` (n x channels x length, scaled)."""
    return _graph(network, "z", (latent,), "published", shape)


def autoencoder(network: nn.Module, shape: tuple[int, int]) -> Graph:
    """Return the graph of an autoencoder: from ``x`` to ``published``, both n x channels x length and scaled."""
    dense = isinstance(next(network.children()), nn.Linear)
    return _graph(nn.Sequential(nn.Flatten(), network) if dense else network, "x", shape, "published", shape)


def transformation(means: np.ndarray) -> Graph:
    """Return the graph of the transformation: z = mean + noise e^(log variance / 2) - m(y, p) + m(y, p').

    Parameters
    ----------
    means : numpy.ndarray of shape (public, private, d)
        Mean latents m(y, p).
    """
    size = means.shape[2]
    graph = Graph((size,), last="mean", macs=2 * size)
    for name in ("mean", "log_variance", "noise"):
        graph.add_input(name, (size,))
    for name in ("public", "private", "target"):
        graph.add_input(name, (), TensorProto.INT64)
    table = graph.constant(means.astype(np.float32))
    axis = graph.constant(np.array([1]))
    column = {name: graph.add("Unsqueeze", [name, axis]) for name in ("public", "private", "target")}
    found = {}
    for name in ("private", "target"):
        place = graph.add("Concat", [column["public"], column[name]], axis=1)
        found[name] = graph.add("GatherND", [table, place])
    half = graph.add("Mul", ["log_variance", graph.constant(np.array(0.5, dtype=np.float32))])
    drawn = graph.add("Mul", ["noise", graph.add("Exp", [half])])
    z = graph.add("Add", ["mean", drawn])
    graph.add("Add", [z, graph.add("Sub", [found["target"], found["private"]])])
    graph.add_output("z", (size,))
    return graph


def add_layers(graph: Graph, part: nn.Module) -> None:
    """Add a layer, or all layers of a sequential network in evaluation mode.

    Raises
    ------
    TypeError
        If there is no ONNX counterpart for a layer here.
    """
    if isinstance(part, nn.Sequential):
        for child in part.children():
            add_layers(graph, child)
        return
    write = _WRITERS.get(type(part))
    if write is None:
        known = ", ".join(kind.__name__ for kind in _WRITERS)
        raise TypeError(f"layer {type(part).__name__} cannot be exported: use only {known}")
    with torch.inference_mode():  # the layer itself computes its output's shape
        after = tuple(part(torch.zeros(1, *graph.shape)).shape[1:])
    write(graph, part, after)
    graph.shape = after


def _graph(
    network: nn.Module, start: str, shape: tuple[int, ...], end: str, after: tuple[int, ...] | None = None
) -> Graph:
    """Return a graph from an input to an output; the output is reshaped to `after` if that is given."""
    graph = Graph(shape, last=start)
    graph.add_input(start, shape)
    add_layers(graph, network)
    if after:
        graph.add("Reshape", [graph.last, graph.constant(np.array([-1, *after]))])
    graph.add_output(end, after or graph.shape)
    return graph


def _linear(graph: Graph, part: nn.Linear, after: tuple[int, ...]) -> None:
    # MatMul instead of Gemm, because onnxruntime's 8-bit tools support it
    weight = graph.constant(part.weight.detach().numpy().T)
    graph.weights += part.weight.numel()
    graph.add("MatMul", [graph.last, weight])
    graph.add("Add", [graph.last, graph.constant(part.bias)])
    graph.macs += part.weight.numel()


def _pad(graph: Graph, part: nn.ZeroPad2d, after: tuple[int, ...]) -> None:
    left, right, top, bottom = part.padding
    graph.add("Pad", [graph.last, graph.constant(np.array([0, 0, top, left, 0, 0, bottom, right]))])


def _convolution(graph: Graph, part: nn.Conv1d | nn.Conv2d | nn.ConvTranspose1d, after: tuple[int, ...]) -> None:
    transposed = isinstance(part, nn.ConvTranspose1d)
    # a filter is applied once per output position, a transposed filter once per input position
    graph.macs += part.weight.numel() * prod((graph.shape if transposed else after)[1:])
    graph.add(
        "ConvTranspose" if transposed else "Conv",
        [graph.last, graph.constant(part.weight), graph.constant(part.bias)],  # type: ignore[arg-type]
        pads=[int(size) for size in part.padding] * 2,
        strides=list(part.stride),
        kernel_shape=list(part.kernel_size),
    )


def _norm(graph: Graph, part: nn.BatchNorm2d, after: tuple[int, ...]) -> None:
    learnt = (part.weight, part.bias, part.running_mean, part.running_var)
    graph.add("BatchNormalization", [graph.last, *(graph.constant(value) for value in learnt)], epsilon=part.eps)  # type: ignore[arg-type]
    # Counts one multiply-add per value (under 1 % of a network), although onnxruntime folds it into the convolution.
    graph.macs += prod(after)


def _pool(graph: Graph, part: Pool, after: tuple[int, ...]) -> None:
    kernel = list(part.kernel_size)  # type: ignore[arg-type]
    graph.add("MaxPool", [graph.last], kernel_shape=kernel, strides=kernel)


_WRITERS: dict[type[nn.Module], Callable[[Graph, Any, tuple[int, ...]], object]] = {
    nn.Linear: _linear,
    nn.Flatten: lambda graph, part, after: graph.add("Flatten", [graph.last], axis=1),
    nn.Unflatten: lambda graph, part, after: graph.add("Unsqueeze", [graph.last, graph.constant(np.array([1]))]),
    nn.ZeroPad2d: _pad,
    nn.Conv1d: _convolution,
    nn.Conv2d: _convolution,
    nn.ConvTranspose1d: _convolution,
    nn.BatchNorm2d: _norm,
    Pool: _pool,
    nn.ReLU: lambda graph, part, after: graph.add("Relu", [graph.last]),
    Dropout: lambda graph, part, after: None,  # only acts in training
}
