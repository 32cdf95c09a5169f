#!/usr/bin/env python3
"""A worker (share/doc/reference/backends.md) around PyTorch: graphs of ATen's ops, compiled by torch.compile.

  worker.py [--python=INTERPRETER] [--compiler=NAME]

NAME is `inductor` (default) or any other backend of torch.compile, or MODULE:FUNCTION, a function that takes a
torch.fx.GraphModule and example inputs and returns a callable, as torch.compile's own backends do. Before PyTorch 2
there is no torch.compile: only `eager` and MODULE:FUNCTION exist.

What can be switched off and limited is what PyTorch's own bisector (torch/_inductor/compiler_bisector.py) of this
release switches off and limits.
"""
import argparse
import ast
import atexit
import contextlib
import importlib
import importlib.util
import json
import math
import operator
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import traceback

MOST_APPLICATIONS = 9999  # of a pass in a graph


class Unsupported(Exception):
    """The graph cannot be judged; the compiler is not to blame."""


def fail(message):
    print("error: " + message, file=sys.stderr)
    sys.exit(2)


# ---- the interpreter ------------------------------------------------------------------------------------------------


def become(interpreter, arguments):
    """Continues as the same program in another interpreter, which is not to look for yet another one."""
    found = shutil.which(interpreter) or fail("found no interpreter " + interpreter)
    os.execv(found, [found, os.path.abspath(__file__), "--here", "--compiler=" + arguments.compiler])


def find_torch(arguments):
    """Returns if this interpreter is to run the graphs; else becomes one that has PyTorch."""
    if arguments.here:
        return
    if arguments.python:
        become(arguments.python, arguments)
    virtual = os.environ.get("VIRTUAL_ENV")
    if virtual and os.path.realpath(sys.prefix) != os.path.realpath(virtual):
        become(os.path.join(virtual, "bin", "python"), arguments)
    systems = "/usr/bin/python3"  # may have it where another one in PATH has not
    if importlib.util.find_spec("torch") or virtual or not os.path.exists(systems):
        return
    if subprocess.run([systems, "-c", "import importlib.util as u; u.find_spec('torch') or exit(1)"]).returncode == 0:
        become(systems, arguments)


parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--python")
parser.add_argument("--compiler", default="inductor")
parser.add_argument("--here", action="store_true")
arguments = parser.parse_args()
find_torch(arguments)
if not importlib.util.find_spec("torch"):
    fail(f"found no PyTorch in {sys.executable}; name an interpreter that has PyTorch: --backend-option python=PATH")

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # compilers print
# What one process compiled is there for no other: no answer depends on earlier runs.
caches = tempfile.mkdtemp(prefix="torchinductor-")
atexit.register(shutil.rmtree, caches, ignore_errors=True)
os.environ["TORCHINDUCTOR_CACHE_DIR"] = caches
sys.path.insert(0, os.getcwd())  # for MODULE:FUNCTION

import torch  # noqa: E402: another interpreter may have it
import torch.fx as fx  # noqa: E402

COMPILES = hasattr(torch, "compile")
if COMPILES:
    import torch._dynamo
    import torch._functorch.config
    import torch._inductor.config

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
    header, blobs, offset = {}, [], 0
    for i, tensor in enumerate(tensors):
        stored = [row[1] for row in DTYPES if row[2] == tensor.dtype]
        if not stored:
            raise Unsupported(f"found an output of {tensor.dtype}, which Whittle does not support")
        flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
        blob = bytes(flat.view(torch.uint8).numpy()) if flat.numel() else b""
        header[str(i)] = {"dtype": stored[0], "shape": list(tensor.shape), "data_offsets": [offset, offset + len(blob)]}
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
            raise Unsupported("found a graph of ONNX ops, expected ATen's")
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
                values[node["name"]] = made.call_function(function_of(node["target"]), tuple(args), named)
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


# ---- the compiler ---------------------------------------------------------------------------------------------------

LADDER = ["aot_eager_decomp_partition", "inductor"]  # each takes the parts of those before it, too
CONFIGS = {"inductor": "torch._inductor.config", "functorch": "torch._functorch.config", "dynamo": "torch._dynamo.config"}
CONFIGS["aot_eager_decomp_partition"] = CONFIGS["functorch"]


def chosen_compiler(name):
    """The function that compiles, as torch.compile calls it."""
    if ":" in name:
        module, function = name.split(":", 1)
        try:
            return getattr(importlib.import_module(module), function)
        except (ImportError, AttributeError) as error:
            fail(f"found compiler '{name}': {error}")
    if not COMPILES:
        if name == "eager":
            return lambda module, inputs: module
        fail(f"PyTorch {torch.__version__} has no torch.compile: found compiler '{name}', expected eager or MODULE:FUNCTION")
    try:
        return torch._dynamo.lookup_backend(name)
    except Exception:
        known = ", ".join(sorted(set(torch._dynamo.list_backends(exclude_tags=())) | {"eager"}))
        fail(f"found compiler '{name}', expected MODULE:FUNCTION or one of {known}")


class Parts:
    """What the bisector of this release switches off and limits, and how often it was applied."""

    def __init__(self, compiler):
        self.switches, self.passes, self.limits, self.applied = {}, [], {}, {}
        try:
            from torch._inductor import compiler_bisector
        except ImportError:  # before PyTorch 2.6
            return
        rungs = LADDER[: LADDER.index(compiler) + 1] if compiler in LADDER else []
        for rung in rungs:
            for part in compiler_bisector.BACKENDS.get(rung, []):
                if isinstance(part, compiler_bisector.BisectSubsystem):
                    self.passes.append(part.name)
                elif isinstance(part, compiler_bisector.ConfigChange):
                    module = importlib.import_module(CONFIGS[part.config_name])
                    now = getattr(module, part.config_field)
                    if now != part.config_value:
                        self.switches[f"{part.config_field}={now}"] = (module, part.config_field, part.config_value)
        compiler_bisector.CompilerBisector.disable_subsystem = self.is_off

    def is_off(self, backend, subsystem, debug_info=None):
        """In place of the bisector's own method: counts, and is true from the limit on."""
        applied = self.applied.setdefault(subsystem, [])
        if len(applied) >= self.limits.get(subsystem, math.inf):
            return True
        applied.append(debug_info() if debug_info else "")
        return False


def configuration(options, off, parts):
    """The patches of PyTorch's configuration that a query asks for, one for each module."""
    patches = {}
    for name in off:
        module, field, value = parts.switches[name]
        patches.setdefault(module, {})[field] = value
    for name, text in options.items():
        if not name.startswith("config."):
            continue
        field = name[len("config.") :]
        prefix = field.split(".")[0]
        in_other = prefix in ("functorch", "dynamo")
        module = importlib.import_module(CONFIGS[prefix if in_other else "inductor"])
        field = field[len(prefix) + 1 :] if in_other else field
        try:
            old = operator.attrgetter(field)(module)
        except AttributeError:
            raise Unsupported(f"PyTorch {torch.__version__} has no setting {field} in {module.__name__}") from None
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            value = text
        if isinstance(old, bool) and not isinstance(value, bool):
            raise Unsupported(f"found {name}={text}, expected True or False")
        patches.setdefault(module, {})[field] = value
    if options.get("mode", "default") != "default":
        patches.setdefault(torch._inductor.config, {}).update(torch._inductor.list_mode_options(options["mode"]))
    return patches


def compiled_results(module, inputs, question, compiler, parts, compiles):
    """Calls `compiles` when the compiler is done."""
    options = question.get("options", {})

    def compiling(graph, example_inputs):
        function = compiler(graph, example_inputs)
        compiles()
        return function

    if not COMPILES:
        return compiling(module, inputs)(*inputs)
    dynamic = {"auto": None, "on": True, "off": False}[options.get("dynamic", "auto")]
    torch._dynamo.reset()
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch._inductor.config.patch(fx_graph_cache=False))
        if hasattr(torch._functorch.config, "enable_autograd_cache"):
            stack.enter_context(torch._functorch.config.patch(enable_autograd_cache=False))
        for config, patch in configuration(options, question.get("off", []), parts).items():
            stack.enter_context(config.patch(patch))
        return torch.compile(module, backend=compiling, dynamic=dynamic)(*inputs)


# ---- questions ------------------------------------------------------------------------------------------------------


def cause_of(error):
    """The exception without those that torch.compile wrapped around it."""
    while inner := getattr(error, "inner_exception", None) or error.__cause__:
        error = inner
    return error


def first_line(error):
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0].strip()}" if lines else type(error).__name__


def is_missing(error):
    """The machine lacks something that the compiler needs: a Python module, a C++ compiler."""
    missing_module = isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("torch")
    return missing_module or type(error).__name__ == "InvalidCxxCompiler"


def answer(question, say, compiler, parts):
    at = lambda file: os.path.join(question["folder"], file)  # noqa: E731
    stage = ["compile"]

    def compiles():
        if stage[0] == "compile":
            stage[0] = "run"
            say(stage="run")

    counts = lambda: {"applied": parts.applied} if parts.applied else {}  # noqa: E731
    parts.limits, parts.applied = question.get("most", {}), {}
    try:
        with open(at(question["model"]), encoding="utf-8") as file:
            graph = json.load(file)
        module = Reader(graph, question["folder"]).module(graph)
        stored = load_tensors(at("inputs.safetensors"))
        places = [node for node in graph["nodes"] if node["kind"] == "placeholder"]
        inputs = [laid_out(stored[str(i)], node["results"][0].get("strides")) for i, node in enumerate(places)]
        with torch.no_grad():
            results = compiled_results(module, inputs, question, compiler, parts, compiles)
        save_tensors(at("outputs.safetensors"), results)
        say(ok=True, **counts())
    except Unsupported as error:
        say(error=str(error), stage=stage[0], unsupported=True)
    except Exception as error:
        traceback.print_exc()
        message = first_line(cause_of(error)).replace(question["folder"], "")
        say(error=message, stage=stage[0], unsupported=is_missing(cause_of(error)), **counts())


def main():
    compiler = chosen_compiler(arguments.compiler)
    parts = Parts(arguments.compiler)
    hello = {
        "whittle": 1,
        "version": f"{torch.__version__} ({arguments.compiler}, Python {sys.version.split()[0]})",
        "format": "json",
        "switches": {"kind": "setting", "names": list(parts.switches)},
        "levels": [{"name": name, "most": MOST_APPLICATIONS, "counted": True} for name in parts.passes],
        "repro": {"api": "torch", "compiler": arguments.compiler, "program": sys.executable},
    }
    if COMPILES:
        modes = list(torch._inductor.list_mode_options())
        hello["options"] = {
            "dynamic": {"what": "torch.compile's dynamic=: auto (default) None, on True, off False", "one_of": ["auto", "on", "off"]},
            "mode": {"what": "torch.compile's mode=", "one_of": modes},
            "config.*": "a setting of torch._inductor.config; config.functorch.* and config.dynamo.*: of those modules",
        }
    write = lambda said: (answers.write(json.dumps(said) + "\n"), answers.flush())  # noqa: E731
    write(hello)
    for line in sys.stdin:
        question = json.loads(line)
        answer(question, lambda **said: write({"id": question["id"], **said}), compiler, parts)


if __name__ == "__main__":
    main()
