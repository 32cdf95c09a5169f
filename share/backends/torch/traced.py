"""Writes what a torch.nn.Module computes as a graph of ATen's ops (share/doc/reference/formats.md)."""
import inspect
import json
import keyword
import math
import operator

import torch
import torch.fx as fx
from torch.fx.experimental.proxy_tensor import make_fx

from graphs import DTYPES, Unsupported, save_tensors

if hasattr(torch, "func"):
    from torch.func import functional_call
else:  # before PyTorch 2
    from torch.nn.utils.stateless import functional_call


def our_dtype(dtype):
    for ours, _, name in DTYPES:
        if name == dtype:
            return ours
    raise Unsupported(f"found a tensor of {dtype}, which Whittle does not support")


def described(value):
    """`results` of a node whose value this is."""
    one = lambda tensor: {  # noqa: E731
        "dtype": our_dtype(tensor.dtype),
        "sizes": list(tensor.shape),
        "strides": list(tensor.stride()),
        **({"requires_grad": True} if tensor.requires_grad else {}),
    }
    values = value if isinstance(value, (list, tuple)) else [value]
    return [one(tensor) for tensor in values if isinstance(tensor, torch.Tensor)]


def name_of(target):
    if target is operator.getitem:
        return "getitem"
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    if isinstance(target, getattr(torch._ops, "HigherOrderOperator", ())):
        return "higher_order." + target.name()
    raise Unsupported(f"found a call of {target}, expected an op of PyTorch")


class Values(fx.Interpreter):
    """What each node computes."""

    def __init__(self, module):
        super().__init__(module)
        self.of = {}

    def run_node(self, node):
        value = super().run_node(node)
        self.of[node] = described(value) if node.op in ("placeholder", "call_function", "get_attr") else None
        return value


class Writer:
    """`values`: the results of nodes, where they were computed; else what tracing noted of them."""

    def __init__(self, module, values):
        self.module, self.values = module, values
        self.subgraphs, self.attributes = {}, {}

    def graph(self, name):
        nodes = [written for node in self.module.graph.nodes for written in self.node(node)]
        parts = {"attributes": self.attributes, "subgraphs": self.subgraphs}
        parts = {key: value for key, value in parts.items() if value}
        return {"name": name, "dialect": "aten", **parts, "nodes": nodes}

    def results(self, node):
        return self.values[node] if node in self.values else described(node.meta["val"])

    def node(self, node):
        if node.op == "placeholder":
            results = self.results(node)
            if results:  # sizes are numbers in the graph
                yield {"kind": "placeholder", "name": node.name, "target": str(node.target), "results": results}
        elif node.op == "get_attr":
            held = operator.attrgetter(node.target)(self.module)
            if isinstance(held, fx.GraphModule):
                self.subgraphs[node.name] = Writer(held, {}).graph(node.name)
            else:
                yield self.attribute(node, held)
        elif node.op == "output":
            yield {"kind": "output", "name": "output", "args": [self.argument(arg) for arg in node.args[0]]}
        else:
            named = {name: self.argument(arg) for name, arg in node.kwargs.items()}
            yield {
                "kind": "call", "name": node.name, "target": name_of(node.target),
                "args": [self.argument(arg) for arg in node.args],
                **({"kwargs": named} if named else {}), "results": self.results(node),
            }

    def attribute(self, node, held):
        tensor = held.detach()
        if tensor.numel() > MOST_ELEMENTS:
            raise Unsupported(f"found the constant {node.target} of {tensor.numel()} elements")
        said = described(tensor)[0]
        wide = tensor if not tensor.is_floating_point() else tensor.double()
        data = [self.number(element) for element in wide.reshape(-1).tolist()]
        self.attributes[node.target] = {"dtype": said["dtype"], "sizes": said["sizes"], "data": data}
        result = {"dtype": said["dtype"], "sizes": said["sizes"]}
        return {"kind": "get_attr", "name": node.name, "target": node.target, "results": [result]}

    @staticmethod
    def number(value):
        if isinstance(value, complex):
            return [Writer.number(value.real), Writer.number(value.imag)]
        if isinstance(value, float) and not math.isfinite(value):
            return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
        return value

    def argument(self, arg):
        if isinstance(arg, fx.Node):
            return {"graph": arg.name} if arg.name in self.subgraphs else {"node": arg.name}
        if isinstance(arg, (list, tuple)):
            return [self.argument(one) for one in arg]
        if isinstance(arg, torch.dtype):
            return {"dtype": our_dtype(arg)}
        if isinstance(arg, torch.device):
            return arg.type
        if isinstance(arg, (torch.layout, torch.memory_format)):
            return str(arg)[len("torch.") :]
        if isinstance(arg, float) and not math.isfinite(arg):
            return {"float": self.number(arg)}
        if arg is None or isinstance(arg, (bool, int, float, str)):
            return arg
        raise Unsupported(f"found the argument {arg!r}")


MOST_ELEMENTS = 1 << 16  # of a constant, which is text in the graph


def flat(results):
    """The tensors among what a module returns, as Dynamo's and AOT autograd's graphs return tuples."""
    if isinstance(results, torch.Tensor):
        return [results]
    return [one for part in results for one in flat(part)] if isinstance(results, (list, tuple)) else []


def write_traced(module, args, gradients, path, name):
    """Writes PATH.json and PATH.safetensors: what the module computes of these arguments, and its tensors. Parameters
    and buffers become inputs, as Dynamo's graphs have them. `gradients`: which tensors require one counts."""
    held = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    names = [*held, *inspect.signature(module.forward).parameters]
    args = [*held.values(), *args]
    if len(names) != len(args):
        raise Unsupported(f"found {len(args) - len(held)} inputs, expected {len(names) - len(held)}")

    def function(*values):
        return flat(functional_call(module, dict(zip(held, values)), tuple(values[len(held) :])))

    def fresh():
        """The arguments as leaves that nothing was written to."""
        tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
        copies = iter([copied(tensor).requires_grad_(gradients and tensor.requires_grad) for tensor in tensors])
        return [next(copies) if isinstance(arg, torch.Tensor) else arg for arg in args]

    with torch.no_grad():
        made = make_fx(function)(*fresh())
    remove_unused(made.graph)
    places = [node for node in made.graph.nodes if node.op == "placeholder"]
    taken = {node.name for node in made.graph.nodes} - {node.name for node in places}
    for node, given in zip(places, names):
        node.name = node.target = identifier(given, taken)
        taken.add(node.name)
    made.recompile()
    values = Values(made)
    with torch.set_grad_enabled(gradients):
        values.run(*fresh())
    graph = {"format": "whittle.graph", "version": "1.0", **Writer(made, values.of).graph(name)}
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump(graph, file)
    tensors = {node.name: arg for node, arg in zip(places, args) if isinstance(arg, torch.Tensor)}
    save_tensors(path + ".safetensors", tensors)


def remove_unused(graph):
    """Removes calls whose results nobody reads, but those that write or only check."""
    for node in reversed(list(graph.nodes)):
        schema = getattr(node.target, "_schema", None)
        writes = schema and any(one.alias_info and one.alias_info.is_write for one in schema.arguments)
        if schema and not node.users and not writes and schema.returns:
            graph.erase_node(node)


def identifier(name, taken):
    """A name of Python's that none of these is: "0.weight" becomes p_0_weight."""
    made = "".join(letter if letter.isalnum() else "_" for letter in name)
    made = "p_" + made if made[0].isdigit() or keyword.iskeyword(made) else made
    while made in taken:
        made += "_"
    return made


def copied(tensor):
    """A copy with the same strides."""
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
    written, source = made, tensor.detach()
    for axis, stride in enumerate(tensor.stride()):  # what is expanded is written once
        if stride == 0 and tensor.numel():
            written, source = written.narrow(axis, 0, 1), source.narrow(axis, 0, 1)
    written.copy_(source)
    return made
