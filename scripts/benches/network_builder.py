"""Builds one network as an ONNX model: ops that know the shapes of their results, random weights, and an estimate of the run time.

Weights are drawn only when the model is written, so that a draft costs little. A value is (name, shape); shapes are static. Ops
are spelled as PyTorch's exporter spells them.
"""
import math
import zlib
from collections import namedtuple

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET, IR = 17, 8
Value = namedtuple("Value", "name shape")
# What one core with AVX-512 does in a nanosecond, fitted to the times of ONNX Runtime: multiplications of a product or
# convolution, of one with few channels in a group, bytes that an elementwise op moves, and bytes of the weights that each step of
# a recurrent op reads. The time of a network is within a factor of about two of this estimate.
PRODUCTS, NARROW_PRODUCTS, BYTES, STEP_BYTES = 60, 30, 80, 60
NARROW = 8  # channels


def random_state(*key):
    """Returns numpy's RandomState, whose numbers are the same in every release of numpy, for a key of numbers and texts."""
    return np.random.RandomState([word if isinstance(word, int) else zlib.crc32(word.encode()) for word in key])


class Draw:
    """The random choices of a draft. `scale` shrinks or enlarges widths, sizes and depths."""

    def __init__(self, random, scale):
        self.random, self.scale = random, scale
        self.step = self.of(1, 2, 4, 8, 8, 16, 16, 32)  # all widths are multiples of it

    def of(self, *choices):
        return choices[self.random.randint(len(choices))]

    def coin(self, chance=0.5):
        return self.random.random_sample() < chance

    def between(self, low, high):
        """A whole number, and small ones as often as large ones."""
        return int(round(math.exp(self.random.uniform(math.log(low), math.log(high)))))

    def width(self, low, high, multiple=1):
        """A number of channels that `multiple` divides."""
        step = multiple * max(1, self.step // multiple)
        return step * max(1, round(self.between(low, high) * self.scale ** 0.5 / step))

    def size(self, low, high, multiple=1):
        """The side of an image, or the length of a sequence."""
        return multiple * max(1, round(self.between(low, high) * self.scale ** 0.5 / multiple))

    def depth(self, low, high):
        return max(1, round(self.between(low, high) * min(1, self.scale ** 0.5)))


class Network:
    def __init__(self, name, draw, weights):
        self.name, self.draw, self.random = name, draw, weights
        self.nodes, self.inputs = [], []
        self.weights = []  # (name, shape, how to draw it)
        self.ns = 0  # the estimate
        self.folded = draw.coin()  # batch normalizations are folded into the convolutions, as exporters do
        self.activation = draw.of("relu", "relu", "silu", "gelu", "hardswish", "leaky")

    # ---- values ----

    def input(self, name, shape, dtype=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return Value(name, tuple(shape))

    def uniform(self, shape, low, high):
        return self.weight(shape, lambda: self.random.uniform(low, high, shape))

    def weight(self, shape, make):
        name = f"w{len(self.weights)}"
        self.weights.append((name, tuple(shape), make))
        return Value(name, tuple(shape))

    def constant(self, array):
        array = np.asarray(array)
        return self.weight(array.shape, lambda: array)

    def sizes(self, *numbers):
        return self.constant(np.array(numbers, np.int64))

    def number(self, value):
        return self.constant(np.float32(value))

    def op(self, kind, operands, shape, moved=True, **attributes):
        """A node with one result. `moved`: its operands and result are read and written once."""
        result = Value(f"v{len(self.nodes)}", tuple(int(size) for size in shape))
        self.nodes.append(helper.make_node(kind, [operand.name if operand else "" for operand in operands], [result.name],
                                           **attributes))
        if moved:
            self.ns += 4 * sum(math.prod(value.shape) for value in [*operands, result] if value) / BYTES
        return result

    def unary(self, kind, x, **attributes):
        return self.op(kind, [x], x.shape, **attributes)

    def binary(self, kind, x, y):
        return self.op(kind, [x, y], np.broadcast_shapes(x.shape, y.shape))

    def add(self, x, y):
        return self.binary("Add", x, y)

    def mul(self, x, y):
        return self.binary("Mul", x, y)

    def reshape(self, x, *shape):
        assert math.prod(shape) == math.prod(x.shape), (x.shape, shape)
        return self.op("Reshape", [x, self.sizes(*shape)], shape, moved=False)

    def transpose(self, x, *order):
        return self.op("Transpose", [x], [x.shape[axis] for axis in order], perm=order)

    def concat(self, values, axis=1):
        shape = list(values[0].shape)
        shape[axis] = sum(value.shape[axis] for value in values)
        return values[0] if len(values) == 1 else self.op("Concat", values, shape, axis=axis)

    def split(self, x, parts, axis):
        """Equal slices, one op each."""
        shape, step = list(x.shape), x.shape[axis] // parts
        shape[axis] = step
        return [self.op("Slice", [x, self.sizes(i * step), self.sizes((i + 1) * step), self.sizes(axis)], shape)
                for i in range(parts)]

    def mean(self, x, axes):
        shape = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
        return self.op("ReduceMean", [x], shape, axes=axes, keepdims=1)

    # ---- layers ----

    def activate(self, x, kind=None):
        kind = kind or self.activation
        if kind == "silu":
            return self.mul(x, self.unary("Sigmoid", x))
        if kind == "gelu":
            grown = self.add(self.unary("Erf", self.binary("Div", x, self.number(math.sqrt(2)))), self.number(1))
            return self.mul(self.mul(x, grown), self.number(0.5))
        if kind == "gelu_tanh":
            cube = self.mul(self.binary("Pow", x, self.number(3)), self.number(0.044715))
            grown = self.unary("Tanh", self.mul(self.add(x, cube), self.number(math.sqrt(2 / math.pi))))
            return self.mul(self.mul(x, self.number(0.5)), self.add(grown, self.number(1)))
        if kind == "leaky":
            return self.unary("LeakyRelu", x, alpha=0.1)
        if kind == "hardsigmoid":
            return self.unary("HardSigmoid", x, alpha=1 / 6)
        return self.unary({"relu": "Relu", "hardswish": "HardSwish", "sigmoid": "Sigmoid"}[kind], x)

    def count_products(self, products, channels):
        """A convolution or product whose sums have so many terms for each position, and so many results."""
        self.ns += products / (NARROW_PRODUCTS if channels < NARROW else PRODUCTS)

    def kernel(self, shape, fan_in, gain=1):
        """Weights of sums of `fan_in` terms, whose variance is `gain` times that of a term."""
        bound = math.sqrt(3 * gain / fan_in)
        return self.uniform(shape, -bound, bound)

    def conv(self, x, width, kernel=1, stride=1, dilation=1, groups=1, bias=True):
        """A convolution over all axes behind the channels, with padding that keeps the size at stride 1."""
        batch, channels, *sizes = x.shape
        kernels = [kernel] * len(sizes) if isinstance(kernel, int) else list(kernel)
        pads = [dilation * (k - 1) // 2 for k in kernels]
        out = [(size + 2 * pad - dilation * (k - 1) - 1) // stride + 1 for size, pad, k in zip(sizes, pads, kernels)]
        weight = self.kernel([width, channels // groups, *kernels], channels // groups * math.prod(kernels), 2)
        shape = [batch, width, *out]
        self.count_products(math.prod(shape) * math.prod(weight.shape[1:]), min(channels, width) // groups)
        return self.op("Conv", [x, weight] + [self.uniform([width], -0.1, 0.1)] * bias, shape, kernel_shape=kernels,
                       strides=[stride] * len(sizes), dilations=[dilation] * len(sizes), pads=pads * 2, group=groups)

    def conv_transpose(self, x, width, kernel, stride, groups=1):
        """A transposed convolution that enlarges each axis `stride` times."""
        batch, channels, *sizes = x.shape
        pad = (kernel - stride + 1) // 2
        extra = 2 * pad - (kernel - stride)
        weight = self.kernel([channels, width // groups, kernel, kernel], channels // groups * (kernel / stride) ** 2, 2)
        self.count_products(math.prod(x.shape) * math.prod(weight.shape[1:]), min(channels, width) // groups)
        return self.op("ConvTranspose", [x, weight, self.uniform([width], -0.1, 0.1)],
                       [batch, width, *(size * stride for size in sizes)], kernel_shape=[kernel] * 2, strides=[stride] * 2,
                       pads=[pad] * 4, output_padding=[extra] * 2, group=groups)

    def conv_norm(self, x, width, kernel=1, activation=None, **where):
        """A convolution, its batch normalization, and an activation: None is the network's, "" is none."""
        x = self.conv(x, width, kernel, bias=self.folded, **where)
        if not self.folded:
            x = self.batch_norm(x)
        return x if activation == "" else self.activate(x, activation)

    def affine(self, width, *ones):
        """A scale and a shift, with `ones` axes of size 1 behind the channels."""
        return self.uniform([width, *ones], 0.5, 1.5), self.uniform([width, *ones], -0.2, 0.2)

    def batch_norm(self, x):
        width = x.shape[1]
        mean, variance = self.uniform([width], -0.2, 0.2), self.uniform([width], 0.5, 1.5)
        return self.op("BatchNormalization", [x, *self.affine(width), mean, variance], x.shape, epsilon=1e-5)

    def instance_norm(self, x):
        return self.op("InstanceNormalization", [x, *self.affine(x.shape[1])], x.shape, epsilon=1e-5)

    def group_norm(self, x, groups):
        batch, width, *sizes = x.shape
        plain = self.constant(np.ones(groups, np.float32)), self.constant(np.zeros(groups, np.float32))
        flat = self.reshape(x, batch, groups, math.prod(x.shape) // (batch * groups))
        normed = self.op("InstanceNormalization", [flat, *plain], flat.shape, epsilon=1e-5)
        scale, shift = self.affine(width, *[1] * len(sizes))
        return self.add(self.mul(self.reshape(normed, *x.shape), scale), shift)

    def layer_norm(self, x, axis=-1, fused=True):
        """Over one axis; `fused`, which only the last one can be: as one op."""
        axis %= len(x.shape)
        ones = [1] * (len(x.shape) - 1 - axis)
        scale, shift = self.affine(x.shape[axis], *ones)
        if fused:
            return self.op("LayerNormalization", [x, scale, shift], x.shape, axis=axis, epsilon=1e-5)
        centered = self.binary("Sub", x, self.mean(x, [axis]))
        variance = self.mean(self.binary("Pow", centered, self.number(2)), [axis])
        deviation = self.unary("Sqrt", self.add(variance, self.number(1e-5)))
        return self.add(self.mul(self.binary("Div", centered, deviation), scale), shift)

    def pool(self, x, kind, kernel, stride, pad=0):
        batch, width, *sizes = x.shape
        out = [(size + 2 * pad - kernel) // stride + 1 for size in sizes]
        return self.op(kind, [x], [batch, width, *out], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)

    def global_pool(self, x):
        return self.op("GlobalAveragePool", [x], [*x.shape[:2], *[1] * len(x.shape[2:])])

    def squeeze_excite(self, x, squeezed, gate="sigmoid"):
        narrow = self.activate(self.conv(self.global_pool(x), max(1, squeezed)))
        return self.mul(x, self.activate(self.conv(narrow, x.shape[1]), gate))

    def linear(self, x, width, bias=True):
        """Over the last axis of any number of axes, as a MatMul and an Add."""
        y = self.matmul(x, self.kernel([x.shape[-1], width], x.shape[-1]))
        return self.add(y, self.uniform([width], -0.1, 0.1)) if bias else y

    def matmul(self, x, y):
        batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        shape = [*batch, x.shape[-2], y.shape[-1]]
        self.count_products(math.prod(shape) * x.shape[-1], min(x.shape[-1], y.shape[-1]))
        return self.op("MatMul", [x, y], shape)

    def classifier(self, x, width):
        """The mean of an image, and a Gemm."""
        flat = self.op("Flatten", [self.global_pool(x)], x.shape[:2], moved=False, axis=1)
        self.count_products(flat.shape[0] * flat.shape[1] * width, width)
        return self.op("Gemm", [flat, self.kernel([width, flat.shape[1]], flat.shape[1]), self.uniform([width], -0.1, 0.1)],
                       [flat.shape[0], width], transB=1)

    def recurrent(self, kind, x, width, both_ways, reset=1):
        """A layer of LSTM or GRU over [length, batch, channels]: each step's result, of both directions side by side."""
        length, batch, channels = x.shape
        ways, gates = 1 + both_ways, {"LSTM": 4, "GRU": 3}[kind]
        weights = [self.kernel([ways, gates * width, channels], channels), self.kernel([ways, gates * width, width], width),
                   self.uniform([ways, 2 * gates * width], -0.1, 0.1)]
        self.count_products(length * batch * math.prod(weights[0].shape), width)
        self.ns += length * max(4 * math.prod(weights[1].shape) / STEP_BYTES, batch * math.prod(weights[1].shape) / PRODUCTS)
        attributes = {"hidden_size": width, "direction": "bidirectional" if both_ways else "forward"}
        if kind == "GRU":
            attributes["linear_before_reset"] = reset
        y = self.op(kind, [x, *weights], [length, ways, batch, width], **attributes)
        if not both_ways:
            return self.op("Squeeze", [y, self.sizes(1)], [length, batch, width], moved=False)
        return self.reshape(self.transpose(y, 0, 2, 1, 3), length, batch, ways * width)

    # ---- the file ----

    def count_weights(self):
        return sum(math.prod(shape) for _, shape, _ in self.weights)

    def model(self, result):
        """Returns the bytes of the model that computes `result`."""
        tensors = [numpy_helper.from_array(self.cast(make()), name) for name, _, make in self.weights]
        outputs = [helper.make_tensor_value_info(result.name, TensorProto.FLOAT, result.shape)]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, outputs, tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="scripts/networks")
        model.ir_version = IR
        return model.SerializeToString(deterministic=True)

    @staticmethod
    def cast(array):
        return array.astype(np.float32) if array.dtype == np.float64 else array
