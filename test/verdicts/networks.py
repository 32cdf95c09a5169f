"""Random networks as PyTorch programs: what scripts/check-verdicts captures, exports and judges.

    networks.py SEED FOLDER     writes FOLDER/net.py
    networks.py FILE FOLDER     exports net() of FILE as FOLDER/model.onnx, with its inputs and PyTorch's results as data set

A program has no branches, and 1 to 40 layers. The same seed gives the same text. Each line was run once: its result is finite
and small.
"""
import math
import os
import random
import re
import sys

import torch
import torch.nn.functional as F

MOST_ELEMENTS = 4096
LARGEST = 1e3
FLOATS = {torch.float32, torch.float64, torch.float16, torch.bfloat16}
INTEGERS = {torch.int64, torch.int32, torch.uint8}


class Skip(Exception):
    """The layer finds no operand that fits."""


class Network:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.values = {}  # by name; PyTorch's results
        self.uses = {}
        self.taken = []  # by the layer that is being made
        self.header, self.body = [], []
        self.scope = {"torch": torch, "F": F, "math": math}
        self.inputs = []
        torch.manual_seed(seed)

    def run(self, name, text):
        value = eval(text, self.scope)  # of the table below
        self.scope[name] = value
        return value

    def input(self, text, prefix="w"):
        name = f"{prefix}{len(self.inputs)}"
        self.values[name] = self.run(name, text)
        self.inputs.append(name)
        self.header.append(f"{name} = {text}")
        self.uses[name] = 1
        return name

    def weight(self, *sizes, dtype=torch.float32, scale=None):
        scale = scale or 1 / math.sqrt(max(1, math.prod(sizes[1:])))
        cast = "" if dtype == torch.float32 else f".to({dtype})"
        return self.input(f"(torch.randn({list(sizes)}) * {scale:.4g}){cast}")

    def pick(self, *, ranks=None, dtypes=FLOATS, fits=lambda x: True):
        """A value that a layer computed or a user gave; late ones are likelier."""
        names = [name for name, x in self.values.items() if not name.startswith("w") and x.dtype in dtypes
                 and (not ranks or x.dim() in ranks) and x.numel() > 0 and fits(x)]
        if not names:
            raise Skip
        name = names[max(self.random.randrange(len(names)) for _ in range(3))]
        self.taken.append(name)
        return name, self.values[name]

    def dim(self, x):
        if x.dim() == 0:
            raise Skip
        return self.random.randrange(x.dim())

    def number(self, low, high):
        return f"{self.random.uniform(low, high):.3g}"

    def step(self):
        """One more layer, if the one that is drawn fits."""
        layer = self.random.choice(LAYERS)
        state = torch.get_rng_state(), len(self.inputs)
        self.taken = []
        name = f"v{len(self.body)}"
        try:
            text = layer(self, self.random)
            value = self.run(name, text)
            ok = (isinstance(value, torch.Tensor) and 0 < value.numel() <= MOST_ELEMENTS
                  and (not value.is_floating_point() or bool((value.double().abs() < LARGEST).all())))
        except (Skip, RuntimeError, IndexError, TypeError, ValueError):
            ok = False
        if not ok:  # without its weights
            for name in self.inputs[state[1]:]:
                del self.values[name], self.uses[name], self.scope[name]
            del self.inputs[state[1]:], self.header[state[1]:]
            torch.set_rng_state(state[0])
            return False
        self.values[name], self.uses[name] = value, 0
        for taken in self.taken:
            self.uses[taken] += 1
        self.body.append(f"{name} = {text}")
        return True


# ---- Layers: each returns an expression. ----------------------------------------------------------------------------------

def unary(*texts, dtypes=FLOATS):
    def layer(net, random):
        x, _ = net.pick(dtypes=dtypes)
        return random.choice(texts).format(x=x, a=net.number(-1, 1), b=net.number(0.1, 2))
    return layer


def binary(*texts, dtypes=FLOATS):
    def layer(net, random):
        x, value = net.pick(dtypes=dtypes)
        try:
            y, _ = net.pick(dtypes={value.dtype}, fits=lambda other: other is not value and other.shape == value.shape)
        except Skip:
            if not value.is_floating_point():
                raise
            sizes = list(value.shape[-1:]) if random.random() < 0.5 else list(value.shape)
            y = net.weight(*sizes, dtype=value.dtype, scale=1)
        return random.choice(texts).format(x=x, y=y, b=net.number(0.1, 2))
    return layer


def conv2d(net, random):
    x, value = net.pick(ranks=[4], dtypes={torch.float32, torch.float64}, fits=lambda v: v.shape[1] <= 16)
    channels, kernel = value.shape[1], random.choice([1, 3, 3, 5])
    groups = random.choice([1, 1, channels])
    out = groups * random.choice([1, 2]) if groups > 1 else random.choice([2, 4, 6])
    w = net.weight(out, channels // groups, kernel, kernel, dtype=value.dtype)
    b = random.choice(["None", net.weight(out, dtype=value.dtype, scale=0.5)])
    return (f"F.conv2d({x}, {w}, {b}, stride={random.choice([1, 1, 2])}, padding={kernel // 2}, "
            f"dilation={random.choice([1, 1, 1, 2])}, groups={groups})")


def conv_transpose2d(net, random):
    x, value = net.pick(ranks=[4], dtypes={torch.float32, torch.float64}, fits=lambda v: v.shape[1] <= 8)
    w = net.weight(value.shape[1], 3, 2, 2, dtype=value.dtype)
    return f"F.conv_transpose2d({x}, {w}, stride=2)"


def conv1d(net, random):
    x, value = net.pick(ranks=[3], dtypes={torch.float32, torch.float64}, fits=lambda v: v.shape[1] <= 16)
    w = net.weight(4, value.shape[1], 3, dtype=value.dtype)
    return f"F.conv1d({x}, {w}, padding=1)"


def linear(net, random):
    x, value = net.pick(ranks=[2, 3, 4], dtypes={torch.float32, torch.float64, torch.bfloat16})
    out = random.choice([4, 8, 16])
    w = net.weight(out, value.shape[-1], dtype=value.dtype)
    b = net.weight(out, dtype=value.dtype, scale=0.5)
    return random.choice([f"F.linear({x}, {w}, {b})", f"F.linear({x}, {w})", f"torch.matmul({x}, {w}.t())"])


def products(net, random):
    x, value = net.pick(ranks=[2, 3, 4], dtypes={torch.float32, torch.float64})
    texts = [f"torch.matmul({x}, {x}.transpose(-1, -2)) / {value.shape[-1]}"]
    if value.dim() < 4:
        texts.append(f"torch.einsum('...i,...i->...', {x}, {x})")
    return random.choice(texts)


def attention(net, random):
    x, value = net.pick(ranks=[2, 3], dtypes={torch.float32, torch.float64}, fits=lambda v: v.shape[-1] >= 4)
    width, out = value.shape[-1], random.choice([4, 8])
    q, k, v = (net.weight(width, out, dtype=value.dtype) for _ in range(3))
    return (f"torch.softmax(torch.matmul(torch.matmul({x}, {q}), torch.matmul({x}, {k}).transpose(-1, -2)) / "
            f"{math.sqrt(out):.6g}, dim=-1) @ torch.matmul({x}, {v})")


def normalization(net, random):
    x, value = net.pick(ranks=[2, 3, 4], dtypes={torch.float32, torch.float64})
    texts = [f"F.layer_norm({x}, {list(value.shape[-1:])})", f"F.normalize({x}, dim=-1)",
             f"{x} * torch.rsqrt({x}.pow(2).mean(-1, keepdim=True) + 1e-5)"]
    if value.dim() > 2:
        channels = value.shape[1]
        m, g = (net.weight(channels, dtype=value.dtype, scale=0.3) for _ in range(2))
        texts += [f"F.batch_norm({x}, {m}, torch.abs({g}) + 0.5, {g}, {m})", f"F.instance_norm({x})",
                  f"F.group_norm({x}, {random.choice([d for d in range(1, channels + 1) if channels % d == 0])})"]
    return random.choice(texts)


def pooling(net, random):
    x, _ = net.pick(ranks=[4], dtypes={torch.float32, torch.float64})
    return random.choice([f"F.max_pool2d({x}, 2)", f"F.max_pool2d({x}, 3, stride=1, padding=1)", f"F.avg_pool2d({x}, 2)",
                          f"F.avg_pool2d({x}, 3, stride=2, padding=1, count_include_pad=False)",
                          f"F.adaptive_avg_pool2d({x}, (2, 3))", f"F.adaptive_max_pool2d({x}, 2)"])


def resampling(net, random):
    x, value = net.pick(ranks=[4], dtypes={torch.float32, torch.float64}, fits=lambda v: v.numel() < 800)
    size = value.shape[2] + 1, value.shape[3] + 2
    return random.choice([f"F.interpolate({x}, scale_factor=2.0, mode='nearest')",
                          f"F.interpolate({x}, scale_factor=2.0, mode='bilinear', align_corners=False)",
                          f"F.interpolate({x}, size={size}, mode='bilinear', align_corners=True)",
                          f"F.interpolate({x}, scale_factor=2.0, mode='bicubic', align_corners=False)"])


def reduction(net, random):
    x, value = net.pick(ranks=[1, 2, 3, 4])
    d, keep = net.dim(value), random.choice(["", ", keepdim=True"])
    texts = [f"{x}.sum({d}{keep})", f"{x}.mean({d}{keep})", f"{x}.amax({d}{keep})", f"{x}.amin({d}{keep})",
             f"torch.logsumexp({x}, {d}{keep})", f"torch.softmax({x}, {d})", f"torch.log_softmax({x}, {d})",
             f"torch.cumsum({x}, {d})", f"{x}.sum()", f"{x}.mean()", f"torch.linalg.vector_norm({x}, 2, {d}{keep})",
             f"torch.argmax({x}, {d}{keep})",
             f"torch.argmin({x}, {d}{keep})", f"torch.max({x}, {d}{keep})[0]"]
    if value.shape[d] > 1:
        texts += [f"{x}.var({d}{keep})", f"{x}.std({d}{keep})", f"torch.topk({x}, {min(2, value.shape[d])}, {d})[0]",
                  f"torch.sort({x}, {d})[0]", f"torch.prod({x}, {d}{keep})"]
    return random.choice(texts)


def movement(net, random):
    x, value = net.pick(ranks=[1, 2, 3, 4], dtypes=FLOATS | INTEGERS | {torch.bool})
    d, e = net.dim(value), net.dim(value)
    size = value.shape[d]
    texts = [f"{x}.transpose({d}, {e})", f"{x}.reshape({value.numel() // size}, {size})", f"{x}.flatten()",
             f"torch.cat([{x}, {x}], {d})", f"torch.stack([{x}, {x}], {d})", f"{x}.narrow({d}, {size // 3}, {max(1, size // 2)})",
             f"torch.flip({x}, [{d}])", f"torch.roll({x}, 1, {d})", f"{x}.unsqueeze({d})", f"{x}.select({d}, {size - 1})"]
    if value.is_floating_point():
        texts += [f"F.pad({x}, (1, 2), value={net.number(-1, 1)})", f"torch.tril({x})" if value.dim() > 1 else f"{x} + 1"]
    return random.choice(texts)


def image(net, random):
    """Whatever there is becomes one again, so that deep networks keep convolving."""
    x, value = net.pick(dtypes={torch.float32, torch.float64}, fits=lambda v: v.numel() >= 16)
    n = 16 * (value.numel() // 16) if value.numel() < 144 else 144 * (value.numel() // 144)
    side = 4 if value.numel() < 144 else 6
    return f"{x}.reshape(-1)[:{n}].reshape(1, -1, {side}, {side})[:, :8]"


def matrix(net, random):
    x, value = net.pick(fits=lambda v: v.numel() >= 32)
    return f"{x}.reshape(-1)[:{8 * (value.numel() // 8)}].reshape(-1, 8)[:32]"


def indexing(net, random):
    x, value = net.pick(ranks=[1, 2, 3])
    d = net.dim(value)
    n = value.shape[d]
    index = net.input(f"torch.randint(0, {n}, ({random.choice([3, 5])},))")
    full = net.input(f"torch.randint(0, {n}, {tuple(value.shape)})")
    distinct = net.input(f"torch.randperm({n})")
    texts = [f"torch.index_select({x}, {d}, {index})", f"torch.gather({x}, {d}, {full})", f"{x}.scatter_add({d}, {full}, {x})",
             f"{x}.index_add({d}, {distinct}, {x})", f"torch.zeros_like({x}).index_copy({d}, {distinct}, {x})"]
    if d == 0:
        texts.append(f"F.embedding({index}, {x})" if value.dim() == 2 else f"{x}[{distinct}]")
    return random.choice(texts)


def scattering(net, random):
    """No two of its indices are equal, so that the result is defined."""
    x, value = net.pick(ranks=[2])
    rows, columns = value.shape
    index = net.input(f"torch.stack([torch.randperm({columns}) for _ in range({rows})])")
    return f"{x}.scatter(1, {index}, torch.flip({x}, [1]))"


def selection(net, random):
    x, value = net.pick()
    mask, _ = net.pick(dtypes={torch.bool}, fits=lambda m: m.shape == value.shape)
    return random.choice([f"torch.where({mask}, {x}, -{x})", f"{x}.masked_fill({mask}, {net.number(-1, 1)})"])


def shift(net, random):
    x, value = net.pick(dtypes={torch.int64, torch.int32})
    texts = [f"({x} << 1)", f"({x} >> 1)", f"({x} & 7)", f"({x} ^ 5)", f"({x} | 8)", f"({x} % 5)", f"{x}.abs()", f"{x}.sum()",
             f"torch.div({x}, 3, rounding_mode='floor')", f"torch.clamp({x}, -3, 4)", f"{x} * 3 - 7", f"{x} == 1",
             f"{x}.float() * 0.1"]
    if value.dim():
        texts.append(f"torch.cumsum({x}, -1)")
    return random.choice(texts)


LAYERS = [
    *[conv2d, linear, reduction, image] * 3, *[attention, normalization, pooling, movement, matrix] * 2,
    conv_transpose2d, conv1d, products, resampling, indexing, scattering, selection, shift,
    unary("torch.relu({x})", "F.gelu({x})", "F.silu({x})", "torch.tanh({x})", "torch.sigmoid({x})", "F.elu({x}, {b})",
          "F.celu({x}, {b})",
          "F.selu({x})", "F.softplus({x})", "F.hardswish({x})", "F.leaky_relu({x}, {b})", "F.mish({x})", "F.hardsigmoid({x})",
          "F.gelu({x}, approximate='tanh')", "F.logsigmoid({x})", "F.softsign({x})", "F.relu6({x})"),
    unary("torch.exp({x}.clamp(-4, 4))", "torch.log1p({x}.abs())", "torch.sqrt({x}.abs())", "torch.rsqrt({x}.abs() + {b})",
          "torch.sin({x})", "torch.cos({x})", "torch.atan({x})", "torch.erf({x})", "torch.expm1({x}.clamp(-4, 4))",
          "{x}.abs()", "-{x}",
          "torch.log({x}.abs() + {b})", "{x} * {x}", "torch.reciprocal({x}.abs() + {b})", "{x}.pow(3)",
          "torch.sinh({x}.clamp(-3, 3))",
          "torch.asinh({x})", "torch.tan({x}.clamp(-1, 1))", "torch.pow({x}.abs() + {b}, 1.5)", "torch.exp2({x}.clamp(-4, 4))"),
    unary("{x} * {a} + {b}", "{x} / {b}", "({x} - {a}).clamp(-{b}, {b})", "{a} - {x}", "torch.lerp({x}, {x} * {b}, 0.25)"),
    unary("torch.floor({x} * 4) / 4", "torch.round({x} * 8)", "torch.trunc({x} * 3)", "torch.ceil({x})",
          "torch.remainder({x}, {b})",
          "torch.fmod({x}, {b})", "torch.sign({x} - {a})", "torch.frac({x} * 2)", "torch.floor_divide({x}, {b})"),
    unary("{x} > {a}", "{x} <= {a}", "({x} * 2).to(torch.int64)", "torch.round({x} * 10).to(torch.int32)", "torch.isnan({x})",
          "(({x}.clamp(-1, 1) + 1) * 100).to(torch.uint8)", "torch.round({x} * 4) == 1"),
    unary("{x}.to(torch.float16)", "{x}.to(torch.bfloat16)", "{x}.double()", "{x}.float()", "{x}.float()", "{x}.float()"),
    unary("~{x}", "{x}.any()", "{x}.all()", "{x}.float()", "{x}.to(torch.int64) + 1", "torch.logical_xor({x}, ~{x})",
          dtypes={torch.bool}),
    binary("{x} + {y}", "{x} * {y}", "{x} - {y}", "{x} / ({y}.abs() + {b})", "torch.maximum({x}, {y})", "torch.minimum({x}, {y})",
           "torch.add({x}, {y}, alpha={b})", "torch.atan2({x}, {y}.abs() + {b})"),
    binary("{x} + {y}", "{x} * {y}", "{x} - {y}", "{x} + {y}"),
    binary("{x} > {y}", "{x} <= {y}", "torch.where({x} > {y}, {x}, {y})"),
    binary("{x} & {y}", "{x} | {y}", "torch.logical_or({x}, {y})", dtypes={torch.bool}),
    binary("{x} + {y}", "{x} * {y}", "torch.minimum({x}, {y})", "{x} - {y}", dtypes={torch.int64, torch.int32}),
]


PROGRAM = """import math

import torch
import torch.nn.functional as F

torch.manual_seed({seed})
{header}


def net({names}):
    {body}


if __name__ == '__main__':
    with torch.no_grad():
        net({names})
"""


def program(seed):
    """The text, or None where too few layers fit."""
    net = Network(seed)
    draw = net.random
    layers = draw.choice([1, 2, 3, 4, 6, 8, 12, 16, 20, 25, 30, 40])
    dtype = draw.choice(["float32"] * 5 + ["float64", "bfloat16", "float16"])
    cast = "" if dtype == "float32" else f".to(torch.{dtype})"
    shape = draw.choice([(1, 3, 8, 8), (2, 4, 6, 6), (2, 8, 8), (4, 16), (1, 5, 12), (24,)])
    net.input(f"torch.randn({list(shape)}){cast}", "x")
    if draw.random() < 0.4:
        net.input(f"torch.randint(-9, 10, {shape})", "x")
    for _ in range(20 * layers):
        if len(net.body) == layers:
            break
        net.step()
    if not net.body:
        return None
    outputs = [f"v{i}" for i in range(len(net.body)) if net.uses[f"v{i}"] == 0]
    inputs = [name for name in net.inputs if any(re.search(rf"\b{name}\b", line) for line in net.body)]
    body = "\n    ".join([*net.body, f"return {', '.join(outputs)}"])
    return PROGRAM.format(seed=seed, header="\n".join(net.header), names=", ".join(inputs), body=body)


def export(file, folder):
    """Inputs called w become initializers."""
    import onnx.numpy_helper
    scope = {"__name__": "exported"}
    with open(file) as text:
        exec(compile(text.read(), file, "exec"), scope)
    names = scope["net"].__code__.co_varnames[:scope["net"].__code__.co_argcount]

    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name in names:
                if name.startswith("w"):
                    self.register_buffer(name, scope[name])

        def forward(self, *given):
            given = iter(given)
            return scope["net"](*(getattr(self, name) if name.startswith("w") else next(given) for name in names))

    inputs = [scope[name] for name in names if not name.startswith("w")]
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data)
    module = Module()
    with torch.no_grad():
        outputs = module(*inputs)
    for kind, tensors in [("input", inputs), ("output", outputs if isinstance(outputs, tuple) else [outputs])]:
        for i, tensor in enumerate(tensors):
            with open(os.path.join(data, f"{kind}_{i}.pb"), "wb") as out:
                out.write(onnx.numpy_helper.from_array(tensor.contiguous().numpy()).SerializeToString())
    with torch.no_grad():
        torch.onnx.export(module, tuple(inputs), os.path.join(folder, "model.onnx"), opset_version=16, do_constant_folding=False,
                          input_names=[name for name in names if not name.startswith("w")])


def main():
    source, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    if source.isdigit():
        text = program(int(source))
        if text is None:
            sys.exit("too few layers fit")
        with open(os.path.join(folder, "net.py"), "w") as out:
            out.write(text)
    else:
        export(source, folder)


if __name__ == "__main__":
    main()
