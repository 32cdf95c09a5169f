"""Reads the graphs and tensors that a worker is asked about (share/doc/reference/formats.md) as torch.fx modules."""
import json
import math
import operator
import os
import struct
import traceback

import torch
import torch.fx as fx


class Unsupported(Exception):
    """The graph cannot be judged; the compiler is not to blame."""


# ---- tensors --------------------------------------------------------------------------------------------------------

# Our name of a dtype, safetensors' and PyTorch's.
DTYPES = [
    (ours, stored, getattr(torch, name))
    for ours, stored, name in [
        ("f64", "F64", "float64"), ("f32", "F32", "float32"), ("f16", "F16", "float16"), ("bf16", "BF16", "bfloat16"),
        ("i64", "I64", "int64"), ("i32", "I32", "int32"), ("i16", "I16", "int16"), ("i8", "I8", "int8"),
        ("u64", "U64", "uint64"), ("u32", "U32", "uint32"), ("u16", "U16", "uint16"), ("u8", "U8", "uint8"),
        ("bool", "BOOL", "bool"), ("c64", "C64", "complex64"), ("c128", "C128", "complex128"),
        ("f8_e4m3fn", "F8_E4M3", "float8_e4m3fn"), ("f8_e5m2", "F8_E5M2", "float8_e5m2"),
    ]
    if hasattr(torch, name)
]


def dtype_of(column, name):
    for row in DTYPES:
        if row[column] == name:
            return row[2]
    raise Unsupported(f"PyTorch {torch.__version__} has no dtype {name}")


def load_tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, said in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        dtype = dtype_of(1, said["dtype"])
        begin, end = (8 + size + offset for offset in said["data_offsets"])
        if begin == end:
            tensors[name] = torch.empty(said["shape"], dtype=dtype)
        else:
            tensors[name] = torch.frombuffer(bytearray(data[begin:end]), dtype=dtype).reshape(said["shape"])
    return tensors


def save_tensors(path, tensors):
    """Writes tensors by name."""
    header, blobs, offset = {}, [], 0
    for name, tensor in tensors.items():
        stored = [row[1] for row in DTYPES if row[2] == tensor.dtype]
        if not stored:
            raise Unsupported(f"found a tensor of {tensor.dtype}, which Whittle does not support")
        flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
        blob = bytes(flat.view(torch.uint8).numpy()) if flat.numel() else b""
        header[name] = {"dtype": stored[0], "shape": list(tensor.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def laid_out(tensor, strides):
    """The tensor with these strides."""
    if strides is None or list(tensor.stride()) == strides:
        return tensor
    extent = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, strides)) if tensor.numel() else 0
    memory, written = torch.zeros(extent, dtype=tensor.dtype), tensor
    for axis, stride in enumerate(strides):  # what is expanded is written once
        if stride == 0 and tensor.numel():
            written = written.narrow(axis, 0, 1)
    memory.as_strided(written.shape, strides).copy_(written)
    return memory.as_strided(tensor.shape, strides)


def element(value):
    if isinstance(value, list):
        return complex(*map(element, value))
    if not isinstance(value, str):
        return value
    return math.nan if value.startswith("0x") else float(value)


# ---- graphs ---------------------------------------------------------------------------------------------------------

ENUMERATIONS = {"memory_format", "layout"}  # are texts in graphs
# Arguments of native_batch_norm, which does the same, before PyTorch 2.
EARLIER = {
    "aten._native_batch_norm_legit_no_training.default": lambda x, weight, bias, mean, var, *rest: [
        x, weight, bias, mean, var, False, *rest,
    ],
    "aten._native_batch_norm_legit.no_stats": lambda x, weight, bias, *rest: [x, weight, bias, None, None, *rest],
}


class Reader:
    """Makes torch.fx modules of graph.json."""

    def __init__(self, graph, folder):
        self.folder = folder
        self.stored = load_tensors(os.path.join(folder, graph["tensors"])) if graph.get("tensors") else {}

    def tensor(self, name, said):
        if "data" in said:
            dtype = dtype_of(0, said["dtype"])
            values = [element(value) for value in said["data"]]
            wide = dtype if dtype.is_complex else torch.float64 if dtype.is_floating_point else dtype
            tensor = torch.tensor(values, dtype=wide).to(dtype).reshape(said["sizes"])
        else:
            tensor = self.stored[said["hash"]]
        return laid_out(tensor, said.get("strides"))

    def module(self, graph):
        if graph.get("dialect", "aten") != "aten":
            raise Unsupported("found a graph of ONNX ops, expected ATen ops")
        root, made, values = torch.nn.Module(), fx.Graph(), {}
        for number, (name, said) in enumerate(graph.get("attributes", {}).items()):
            values["attribute", name] = f"attribute{number}"
            root.register_buffer(f"attribute{number}", self.tensor(name, said))
        for name, nested in graph.get("subgraphs", {}).items():
            values["graph", name] = "graph_" + name
            root.add_module("graph_" + name, self.module(nested))
        for node in graph["nodes"]:
            if node["kind"] == "placeholder":
                values[node["name"]] = made.placeholder(node["name"])
            elif node["kind"] == "get_attr":
                values[node["name"]] = made.get_attr(values["attribute", node["target"]])
            elif node["kind"] == "output":
                made.output(tuple(self.argument(made, arg, values) for arg in node.get("args", [])))
            else:
                args = [self.argument(made, arg, values) for arg in node.get("args", [])]
                named = {name: self.argument(made, arg, values) for name, arg in dict(node.get("kwargs", {})).items()}
                for name in ENUMERATIONS & named.keys():
                    named[name] = getattr(torch, named[name])
                target = node["target"]
                if target in EARLIER and not hasattr(torch.ops.aten, "_native_batch_norm_legit"):
                    target, args = "aten.native_batch_norm.default", EARLIER[target](*args)
                values[node["name"]] = made.call_function(function_of(target), tuple(args), named)
        return fx.GraphModule(root, made)

    def argument(self, made, arg, values):
        if isinstance(arg, list):
            return [self.argument(made, one, values) for one in arg]
        if not isinstance(arg, dict):
            return arg
        if "node" in arg:
            return values[arg["node"]]
        if "graph" in arg:
            return made.get_attr(values["graph", arg["graph"]])
        if "dtype" in arg:
            return dtype_of(0, arg["dtype"])
        if "float" in arg:
            return float(arg["float"])
        raise Unsupported("found the argument " + json.dumps(arg))


def function_of(target):
    if target == "getitem":
        return operator.getitem
    found = torch.ops
    for name in target.split("."):
        others = [name, name + "_impl"] if target.startswith("higher_order.") else [name]
        found = next((getattr(found, other) for other in others if hasattr(found, other)), None)
        if found is None:
            raise Unsupported(f"PyTorch {torch.__version__} has no {target}")
    return found


class Training:
    """Of a question about gradients: the outputs that have tangents, these, and the tensors whose gradients are asked."""

    def __init__(self, asked, tangents, tensors):
        self.outputs, self.tangents = asked["tangents"], tangents
        self.leaves = [tensors[name].requires_grad_() for name in asked["gradients"]]

    def gradients(self, results):
        asked = [(results[i], tangent) for i, tangent in zip(self.outputs, self.tangents) if results[i].requires_grad]
        if not asked or not self.leaves:
            return [torch.zeros_like(leaf) for leaf in self.leaves]
        found = torch.autograd.grad(
            [one for one, _ in asked], self.leaves, [tangent for _, tangent in asked], allow_unused=True
        )
        return [torch.zeros_like(leaf) if one is None else one for one, leaf in zip(found, self.leaves)]


def read_question(question):
    """The graph as a module, its inputs, and a Training where the question asks for gradients. What cannot be read is
    not the compiler's fault."""
    at = lambda file: os.path.join(question["folder"], file)  # noqa: E731
    try:
        with open(at(question["model"]), encoding="utf-8") as file:
            graph = json.load(file)
        module = Reader(graph, question["folder"]).module(graph)
        stored = load_tensors(at("inputs.safetensors"))
        places = [node for node in graph["nodes"] if node["kind"] == "placeholder"]
        inputs = [laid_out(stored[str(i)], node["results"][0].get("strides")) for i, node in enumerate(places)]
        if "training" not in question:
            return module, inputs, None
        tangents = [stored[str(i)] for i in range(len(places), len(stored))]
        tensors = {node["name"]: tensor for node, tensor in zip(places, inputs)}
        for number, name in enumerate(graph.get("attributes", {})):
            tensors.setdefault(name, getattr(module, f"attribute{number}"))
        return module, inputs, Training(question["training"], tangents, tensors)
    except Unsupported:
        raise
    except Exception as error:
        traceback.print_exc()
        raise Unsupported(f"cannot read the graph: {type(error).__name__}: {error}") from error
