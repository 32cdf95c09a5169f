"""The cases of scripts/bench torch, for an interpreter that has PyTorch 2: networks, and faults of Inductor.

  torch_cases.py list                      the cases that fail here, with the options of the backend that Whittle gets
  torch_cases.py export CASE OUT           writes OUT.json and OUT.safetensors for Whittle
  torch_cases.py fail CASE                 compiles and runs the network, as a user's program does
  torch_cases.py run CASE FILE             runs a file of PyTorch's minifier with the fault of the case
  torch_cases.py ops CASE FILE             prints how many operations the repro has
  torch_cases.py fails CASE FILE           ends with status 1 if the repro fails

$TORCH_SCRIPTS is share/backends/torch. As a module, `torch_cases:CASE` is a compiler with the fault.
"""
import json
import operator
import os
import runpy
import sys

sys.path[:0] = [os.environ["TORCH_SCRIPTS"]]
sys.dont_write_bytecode = True

import torch
import torch._inductor.config
from torch._inductor.compile_fx import compile_fx

aten = torch.ops.aten

# ---- networks -------------------------------------------------------------------------------------------------------


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = torch.nn.Conv2d(width, width, 3, padding=1)
        self.second = torch.nn.Conv2d(width, width, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(width)

    def forward(self, x):
        return torch.relu(self.norm(self.second(torch.sigmoid(self.first(x)))) + x)


class Attention(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.queries, self.keys, self.values = (torch.nn.Linear(width, width) for _ in range(3))
        self.norm = torch.nn.LayerNorm(width)
        self.more = torch.nn.Sequential(torch.nn.Linear(width, 2 * width), torch.nn.ReLU(), torch.nn.Linear(2 * width, width))

    def forward(self, x):
        weights = torch.softmax(self.queries(x) @ self.keys(x).transpose(-2, -1) * 0.25, -1)
        return x + self.more(self.norm(x + weights @ self.values(x)))


def layers():
    parts = []
    for i in range(12):
        parts += [torch.nn.Linear(32, 32), torch.nn.ReLU() if i == 7 else torch.nn.GELU(), torch.nn.LayerNorm(32)]
    return torch.nn.Sequential(*parts), torch.randn(4, 32)


def convolutions():
    blocks = [Block(8) for _ in range(4)]
    return torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), *blocks), torch.randn(1, 3, 16, 16)


def attention():
    return torch.nn.Sequential(*[Attention(16) for _ in range(4)]), torch.randn(2, 8, 16)


NETWORKS = {"layers": layers, "convolutions": convolutions, "attention": attention}

# ---- bugs of Inductor -----------------------------------------------------------------------------------------------
# Each was seen with PyTorch 2.14.1 on a CPU without vector instructions; the number is that of the issue in PyTorch's
# own tracker. The function gets the results of some layers, so that there is something to leave out.


def addmm_without_bias(h):
    """beta=0 ignores the bias, NaN or not: the decomposition multiplies it by 0."""
    few = h[:, :8]
    return torch.addmm(h.new_full((8,), float("nan")), few, few.t() @ few, beta=0)


def int8_products(h):
    """The lowering of a batched product makes int64 of int8."""
    signs = torch.sign(h).to(torch.int8)
    return torch.bmm(signs[:, None], signs[:, :, None].repeat(1, 1, 2))


def scaled_mask(h):
    """The lowering of ldexp takes the dtype of a mask for f32, whatever the exponent's is."""
    return torch.ldexp(h > 0, torch.sign(h).half()) + 1


def counter(h):
    """A pass that replaces cumsum of a constant reads its first size, which a scalar has not."""
    return h * torch.full((), 5.0).cumsum(0) + 1


def scalar_log_softmax(h):
    """A pass that looks for a scaled softmax reads the sizes of a product of two scalars."""
    total = h.sum()
    return h + torch.log_softmax(total * total, -1)


# With the issue, and whether it computes wrong values or raises an exception.
BUGS = {
    "addmm_without_bias": (addmm_without_bias, 196596, "wrong"),
    "int8_products": (int8_products, 191308, "wrong"),
    "scaled_mask": (scaled_mask, 197091, "wrong"),
    "counter": (counter, 193263, "raises"),
    "scalar_log_softmax": (scalar_log_softmax, 190418, "raises"),
}


class WithBug(torch.nn.Module):
    def __init__(self, compute):
        super().__init__()
        parts = [[torch.nn.Linear(32, 32), torch.nn.GELU(), torch.nn.LayerNorm(32)] for _ in range(6)]
        self.layers, self.compute = torch.nn.Sequential(*sum(parts, [])), compute

    def forward(self, x):
        return self.compute(self.layers(x))

# ---- faults ---------------------------------------------------------------------------------------------------------


def calls(graph, target):
    return [node for node in graph.nodes if node.op == "call_function" and node.target is target]


def reads(node, target):
    return [one for one in node.all_input_nodes if one.op == "call_function" and one.target is target]


def changed(node, target):
    """The node computes something else: a fault that no check sees."""
    node.target = target


def sum_of_product(graph):
    """x * y + z loses its sign if two such sums are in the graph."""
    found = [node for node in calls(graph, aten.add.Tensor) if reads(node, aten.mul.Tensor)]
    if len(found) > 1:
        changed(found[-1], aten.sub.Tensor)


def root_of_sum(graph):
    for node in calls(graph, aten.rsqrt.default):
        if reads(node, aten.add.Tensor):
            changed(node, aten.sqrt.default)


def exp_of_difference(graph):
    for node in calls(graph, aten.exp.default):
        if reads(node, aten.sub.Tensor):
            changed(node, aten.expm1.default)


def product_after_view(graph):
    for node in calls(graph, aten.addmm.default) + calls(graph, aten.mm.default):
        if reads(node, aten.view.default) and calls(graph, aten.permute.default):
            raise AssertionError("found a product of a view")


def relu_and_product(graph):
    products = calls(graph, aten.convolution.default) + calls(graph, aten.addmm.default)
    if calls(graph, aten.relu.default) and len(products) > 2:
        changed(calls(graph, aten.relu.default)[0], aten.abs.default)


def mean_and_activation(graph):
    if calls(graph, aten.var_mean.correction) and calls(graph, aten.sigmoid.default) + calls(graph, aten.erf.default):
        raise AssertionError("found statistics beside an activation")


# The pass, the network in which it is tried, and whether it computes wrong values or raises an exception.
PASSES = {
    "sum_of_product": (sum_of_product, "attention", "wrong"),
    "root_of_sum": (root_of_sum, "layers", "wrong"),
    "exp_of_difference": (exp_of_difference, "attention", "wrong"),
    "product_after_view": (product_after_view, "attention", "raises"),
    "relu_and_product": (relu_and_product, "layers", "wrong"),
    "mean_and_activation": (mean_and_activation, "layers", "raises"),
}
KINDS = ["compile_error", "runtime_error", "accuracy"]


class Case:
    def __init__(self, network, fault, training=False):
        self.network, self.fault, self.training = network, fault, training

    @property
    def accuracy(self):
        return self.fault == "accuracy" or {**PASSES, **BUGS}.get(self.fault, ("", "", ""))[2] == "wrong"

    def options(self):
        """Of minify."""
        words = ["--backend", "torch:torch_cases:" + self.fault if self.fault in PASSES else "inductor"]
        if self.fault in KINDS:
            words += ["--backend-option", "config.cpp.inject_relu_bug_TESTING_ONLY=" + self.fault]
        if self.training:
            words += ["--backend-option", "training=on"]
        return words + (["--accuracy"] if self.accuracy else [])

    def plant(self):
        if self.fault in KINDS:
            torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = self.fault
        if self.fault in PASSES:
            torch._inductor.config.post_grad_custom_post_pass = PASSES[self.fault][0]
        torch._inductor.config.fx_graph_cache = False

    def made(self):
        """The network, and an input."""
        torch.manual_seed(0)
        if self.fault in BUGS:
            module, x = WithBug(BUGS[self.fault][0]), torch.randn(1, 32)
        else:
            module, x = NETWORKS[self.network]()
        return (module.train() if self.training else module.eval()), x

    def run(self):
        module, x = self.made()
        with torch.set_grad_enabled(self.training):
            result = torch.compile(module)(x)
            if self.training:
                result.sum().backward()
        return result

    def is_here(self):
        """A release may have the bug no more, or not yet."""
        if self.fault not in BUGS:
            return True
        module, x = self.made()
        try:
            return not alike(self.run(), module(x))
        except Exception:
            return True


CASES = {f"{kind}/{network}": Case(network, kind) for kind in KINDS for network in NETWORKS}
CASES.update({fault: Case(network, fault) for fault, (_, network, _) in PASSES.items()})
CASES.update({f"training/{fault}": Case(PASSES[fault][1], fault, True) for fault in ["root_of_sum", "sum_of_product"]})
CASES.update({f"bug/{bug}": Case(None, bug) for bug in BUGS})


def __getattr__(name):
    """A compiler, for the backend torch:torch_cases:FAULT."""
    if name not in PASSES:
        raise AttributeError(name)
    torch._inductor.config.post_grad_custom_post_pass = PASSES[name][0]  # a backward graph may be compiled later
    return compile_fx


# ---- what the bench asks --------------------------------------------------------------------------------------------


def export(case, out):
    from traced import write_traced

    module, x = case.made()
    if not case.training:
        module.requires_grad_(False)
    write_traced(module, [x], case.training, out, "model")


class Minimized(BaseException):
    def __init__(self, module, load_args):
        super().__init__()
        self.module, self.load_args = module, load_args


def repro(path):
    """The module and the arguments of a file that PyTorch's minifier wrote."""
    from torch._dynamo.debug_utils import InputReader
    from torch._dynamo.repro import after_aot, after_dynamo

    def run_repro(module, load_args, *rest, save_dir=None, **options):
        reader = InputReader(save_dir=save_dir)
        load_args(reader)
        raise Minimized(module, reader.args)

    after_aot.run_repro = after_dynamo.run_repro = run_repro
    try:
        runpy.run_path(path, run_name="__main__")
    except Minimized as found:
        return found.module, found.load_args
    raise SystemExit("found no call of run_repro() in " + path)


def operations(module):
    nodes = torch.fx.symbolic_trace(module).graph.nodes
    return sum(node.op.startswith("call_") and node.target is not operator.getitem for node in nodes)


def tensors(value):
    return [value] if isinstance(value, torch.Tensor) else [one for part in value or [] for one in tensors(part)]


def alike(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and torch.allclose(a, b, 1e-3, 1e-4, equal_nan=True)


def fails(case, path):
    module, args = repro(path)
    with torch.no_grad():
        expected = tensors(module(*args))
        case.plant()
        computed = tensors(torch.compile(module)(*args))
    return not all(map(alike, computed, expected))


def main():
    command, *words = sys.argv[1:]
    if command == "list":
        here = {name: case for name, case in CASES.items() if case.is_here()}
        listed = {name: {"options": case.options(), "accuracy": case.accuracy} for name, case in here.items()}
        return print(json.dumps({"torch": torch.__version__, "cases": listed}))
    case = CASES[words[0]]
    if command == "export":
        return export(case, words[1])
    if command == "ops":
        return print(operations(repro(words[1])[0]))
    if command == "fails":
        return sys.exit(fails(case, words[1]))
    case.plant()
    if command == "fail":
        case.run()
        return
    sys.argv = words[1:]
    runpy.run_path(words[1], run_name="__main__")


if __name__ == "__main__":
    main()
