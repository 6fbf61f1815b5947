"""Networks of torch as ONNX graphs, layer by layer, with their weights and multiply-adds counted.

Paper 3's networks are a handful of layer kinds in a row, so each is written by hand: torch's own exporter needs two
more packages and seconds a network, and leaves paths of this machine in the file. Here the same network gives the same
bytes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

OPSET, IR = 17, 8  # what onnxruntime 1.14 of early 2023 reads, so that an older board does too
_BATCH = "n"


@dataclass
class Graph:
    """A graph that grows layer by layer.

    Attributes
    ----------
    shape : tuple of int
        Of what the last layer gives, without the batch.
    weights, macs : int
        Trained values, and multiply-adds of one window.
    convolves : bool
        Whether a layer is a convolution.
    """

    shape: tuple[int, ...]
    weights: int = 0
    macs: int = 0
    convolves: bool = False
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    last: str = "x"

    def constant(self, value: Tensor | np.ndarray) -> str:
        """Add a constant and return its name; one of a trained tensor is counted among the weights."""
        array = value.detach().cpu().numpy() if isinstance(value, Tensor) else value
        if isinstance(value, nn.Parameter) and value.requires_grad:
            self.weights += array.size
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, kind: str, inputs: Sequence[str], *, output: str | None = None, **attributes: Any) -> str:
        """Add a node and return its output's name, the graph's `last` from now on."""
        self.last = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [self.last], **attributes))
        return self.last

    def takes(self, name: str, shape: Sequence[int], kind: int = TensorProto.FLOAT) -> str:
        """Declare an input, a batch of this shape, and return its name."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, [_BATCH, *shape]))
        return name

    def gives(self, name: str, shape: Sequence[int]) -> None:
        """Declare the output of the last node under a name."""
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
    """Return an inference model: ``x`` (n x channels x length, scaled) in, logits out."""
    graph = Graph(shape)
    graph.takes("x", shape)
    sequence(graph, network)
    graph.gives(output, graph.shape)
    return graph


def encoder(hidden: nn.Module, mean: nn.Linear, log_variance: nn.Linear, shape: tuple[int, int], bound: float) -> Graph:
    """Return an encoder: ``x`` in, ``mean`` and ``log_variance`` of q(z|x) out, the latter within +-`bound`."""
    graph = Graph(shape)
    graph.takes("x", shape)
    layer(graph, nn.Flatten())
    sequence(graph, hidden)
    at, middle = graph.last, graph.shape
    layer(graph, mean)
    graph.gives("mean", graph.shape)
    graph.last, graph.shape = at, middle
    layer(graph, log_variance)
    graph.add("Clip", [graph.last, *(graph.constant(np.array(end, dtype=np.float32)) for end in (-bound, bound))])
    graph.gives("log_variance", graph.shape)
    return graph


def decoder(network: nn.Module, latent: int, shape: tuple[int, int]) -> Graph:
    """Return a decoder: ``z`` in, ``published`` (n x channels x length, scaled) out."""
    graph = Graph((latent,), last="z")
    graph.takes("z", (latent,))
    sequence(graph, network)
    graph.add("Reshape", [graph.last, graph.constant(np.array([-1, *shape]))])
    graph.gives("published", shape)
    return graph


def transformation(means: np.ndarray) -> Graph:
    """Return the transformation: z = mean + noise e^(log variance / 2) - m(y, p) + m(y, p').

    Parameters
    ----------
    means : numpy.ndarray of shape (public, private, d)
        Mean latents m(y, p).
    """
    size = means.shape[2]
    graph = Graph((size,), last="mean")
    for name in ("mean", "log_variance", "noise"):
        graph.takes(name, (size,))
    for name in ("public", "private", "target"):
        graph.takes(name, (), TensorProto.INT64)
    known = graph.constant(means.astype(np.float32))
    axis = graph.constant(np.array([1]))
    column = {name: graph.add("Unsqueeze", [name, axis]) for name in ("public", "private", "target")}
    found = {}
    for name in ("private", "target"):
        place = graph.add("Concat", [column["public"], column[name]], axis=1)
        found[name] = graph.add("GatherND", [known, place])
    half = graph.add("Mul", ["log_variance", graph.constant(np.array(0.5, dtype=np.float32))])
    drawn = graph.add("Mul", ["noise", graph.add("Exp", [half])])
    z = graph.add("Add", ["mean", drawn])
    graph.add("Add", [z, graph.add("Sub", [found["target"], found["private"]])])
    graph.gives("z", (size,))
    graph.macs = 2 * size
    return graph


def autoencoder(network: nn.Module, shape: tuple[int, int]) -> Graph:
    """Return a rival's autoencoder: ``x`` in, ``published`` out, both n x channels x length and scaled."""
    graph = Graph(shape)
    graph.takes("x", shape)
    if isinstance(next(network.children()), nn.Linear):
        layer(graph, nn.Flatten())
    sequence(graph, network)
    graph.add("Reshape", [graph.last, graph.constant(np.array([-1, *shape]))])
    graph.gives("published", shape)
    return graph


def sequence(graph: Graph, network: nn.Module) -> None:
    """Add the layers of a sequential network.

    Raises
    ------
    TypeError
        If one of them has no ONNX counterpart here.
    """
    for part in network.children():
        if isinstance(part, nn.Sequential):
            sequence(graph, part)
        else:
            layer(graph, part)


def layer(graph: Graph, part: nn.Module) -> None:
    """Add one layer, as it works after training."""
    write = _WRITERS.get(type(part))
    if write is None:
        known = ", ".join(kind.__name__ for kind in _WRITERS)
        raise TypeError(f"layer {type(part).__name__} cannot be exported: known are {known}")
    write(graph, part)


def _linear(graph: Graph, part: nn.Linear) -> None:
    # MatMul rather than Gemm: what onnxruntime's int8 tools know
    weight = graph.constant(part.weight.detach().numpy().T)
    graph.weights += part.weight.numel()
    graph.add("MatMul", [graph.last, weight])
    graph.add("Add", [graph.last, graph.constant(part.bias)])
    graph.shape = (part.out_features,)
    graph.macs += part.in_features * part.out_features


def _flatten(graph: Graph, part: nn.Flatten) -> None:
    graph.add("Flatten", [graph.last], axis=1)
    graph.shape = (prod(graph.shape),)


def _unflatten(graph: Graph, part: nn.Unflatten) -> None:
    graph.add("Unsqueeze", [graph.last, graph.constant(np.array([1]))])
    graph.shape = (1, *graph.shape)


def _pad(graph: Graph, part: nn.ZeroPad2d) -> None:
    left, right, top, bottom = part.padding
    graph.add("Pad", [graph.last, graph.constant(np.array([0, 0, top, left, 0, 0, bottom, right]))])
    channels, height, width = graph.shape
    graph.shape = (channels, height + top + bottom, width + left + right)


def _convolution(graph: Graph, part: nn.Conv1d | nn.Conv2d) -> None:
    names = [graph.constant(part.weight), graph.constant(part.bias)]  # type: ignore[arg-type]
    padding = [int(size) for size in part.padding]
    graph.add(
        "Conv", [graph.last, *names], pads=padding * 2, strides=list(part.stride), kernel_shape=list(part.kernel_size)
    )
    sizes = zip(graph.shape[1:], part.kernel_size, padding, part.stride, strict=True)
    after = tuple((size + 2 * pad - kernel) // stride + 1 for size, kernel, pad, stride in sizes)
    graph.shape, graph.convolves = (part.out_channels, *after), True
    graph.macs += part.weight.numel() * prod(after)


def _transposed(graph: Graph, part: nn.ConvTranspose1d) -> None:
    names = [graph.constant(part.weight), graph.constant(part.bias)]  # type: ignore[arg-type]
    pads = [int(size) for size in part.padding] * 2
    graph.add(
        "ConvTranspose", [graph.last, *names], pads=pads, strides=list(part.stride), kernel_shape=list(part.kernel_size)
    )
    length = graph.shape[1]
    after = (length - 1) * part.stride[0] - 2 * int(part.padding[0]) + part.kernel_size[0]
    graph.macs += part.weight.numel() * length
    graph.shape, graph.convolves = (part.out_channels, after), True


def _norm(graph: Graph, part: nn.BatchNorm2d) -> None:
    learnt = (part.weight, part.bias, part.running_mean, part.running_var)
    graph.add("BatchNormalization", [graph.last, *(graph.constant(value) for value in learnt)], epsilon=part.eps)  # type: ignore[arg-type]
    # counted although onnxruntime folds it into the convolution: one multiply-add a value, under 1 % of a network
    graph.macs += prod(graph.shape)


def _pool(graph: Graph, part: nn.MaxPool2d) -> None:
    kernel = list(part.kernel_size)  # type: ignore[arg-type]
    graph.add("MaxPool", [graph.last], kernel_shape=kernel, strides=kernel)
    channels, height, width = graph.shape
    graph.shape = (channels, height // kernel[0], width // kernel[1])


def _relu(graph: Graph, part: nn.ReLU) -> None:
    graph.add("Relu", [graph.last])


def _nothing(graph: Graph, part: nn.Dropout) -> None:
    """Add nothing: dropout is for training."""


_WRITERS: dict[type[nn.Module], Callable[[Graph, Any], None]] = {
    nn.Linear: _linear,
    nn.Flatten: _flatten,
    nn.Unflatten: _unflatten,
    nn.ZeroPad2d: _pad,
    nn.Conv1d: _convolution,
    nn.Conv2d: _convolution,
    nn.ConvTranspose1d: _transposed,
    nn.BatchNorm2d: _norm,
    nn.MaxPool2d: _pool,
    nn.ReLU: _relu,
    nn.Dropout: _nothing,
}
