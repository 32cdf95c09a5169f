#!/usr/bin/env python3
"""Writes the graphs of a Python file that torch.compile's debug tools wrote, with their inputs, as files that Whittle
reads: fx_graph_runnable.py, repro.py of PyTorch's minifier, or the fx_graph_runnable files in the logs of a TORCH_TRACE
folder.

  read_model.py [--python=INTERPRETER] FILE-OR-FOLDER OUT

OUT gets NAME.json and NAME.safetensors for each graph. Prints a line of JSON for each: `graph`, NAME, and `settings`, the
settings of PyTorch that the file changes. Runs the file, but neither its compiler nor its minifier.
"""
import argparse
import ast
import contextlib
import glob
import importlib
import json
import operator
import os
import re
import sys
import traceback
import types

sys.dont_write_bytecode = True

from interpreter import add_interpreter_options, fail, find_torch  # noqa: E402
from trace_log import artifacts  # noqa: E402

parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("model")
parser.add_argument("out")
add_interpreter_options(parser)
arguments = parser.parse_args()
find_torch(arguments, "activate the virtual environment that has PyTorch")
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # files print

import torch  # noqa: E402: another interpreter may have it

from graphs import Unsupported  # noqa: E402
from traced import write_traced  # noqa: E402

# ---- inputs ---------------------------------------------------------------------------------------------------------


class Inputs:
    """What a file's load_args() is given (InputReader of torch/_dynamo/debug_utils.py): stored data, or random ones."""

    def __init__(self, folders):
        self.folders, self.args = folders, []

    def storage(self, name, size, *, device=None, dtype_hint=None):
        for folder in self.folders if name else []:
            path = os.path.join(folder, "storages", name)
            if os.path.exists(path):
                return torch.load(path, map_location="cpu")
        dtype = dtype_hint or torch.float32
        count = size // torch.empty(0, dtype=dtype).element_size()
        if dtype.is_floating_point or dtype.is_complex:
            return torch.randn(count, dtype=dtype).untyped_storage()
        return torch.zeros(count, dtype=dtype).untyped_storage()

    def tensor(self, storage, shape, stride=None, *, storage_offset=0, dtype=torch.float32, requires_grad=False, **rest):
        tensor = torch.empty(0, dtype=dtype)
        if stride is None:
            stride = torch.empty(shape, device="meta").stride()
        tensor.set_(storage, storage_offset or 0, tuple(shape), tuple(stride))
        self.args.append(tensor.requires_grad_(bool(requires_grad)))
        return self.args[-1]

    def symint(self, value, **rest):
        self.args.append(value)
        return value

    def const(self, name):
        self.args.append(None)

    unsupported = opaque = const

    def generator(self, *device):
        self.args.append(torch.Generator())


if not hasattr(torch.Tensor, "untyped_storage"):  # before PyTorch 2
    torch.Tensor.untyped_storage = lambda tensor: tensor.storage()._storage

# ---- files ----------------------------------------------------------------------------------------------------------


class Found(BaseException):
    """The file came to its call of run_repro()."""

    def __init__(self, module, load_args, **options):
        super().__init__()
        self.module, self.load_args, self.save_dir = module, load_args, options.get("save_dir")


@contextlib.contextmanager
def in_place_of_minifier():
    """`from torch._dynamo.repro.after_aot import run_repro` finds a function that raises Found."""

    def run_repro(module, load_args, *rest, **options):
        raise Found(module, load_args, **options)

    names = ["torch._dynamo.repro.after_aot", "torch._dynamo.repro.after_dynamo"]
    if not hasattr(torch, "_dynamo") and not hasattr(torch, "compile"):
        names = ["torch._dynamo", "torch._dynamo.repro", *names]
    old = {name: sys.modules.get(name) for name in names}
    for name in names:
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].run_repro = run_repro
    try:
        yield
    finally:
        for name, module in old.items():
            if module:
                sys.modules[name] = module
            else:
                del sys.modules[name]


SETTING = re.compile(r"^torch\._(inductor|functorch|dynamo)\.config\.([\w.]+) = (.*)$", re.MULTILINE)
# What the tools themselves set as they write a file.
NOT_THE_USERS = re.compile(r"trace\.|debug_partitioner$|unlift_effect_tokens$|triton\.store_cubin$")
DEVICE = re.compile(r"device\((?:type=)?'(?!cpu|meta)\w+'(?:, (?:index=)?\d+)?\)")


def settings_of(text):
    """The settings that the file changes, as options of the backend."""
    changed = []
    for part, name, value in SETTING.findall(text):
        if NOT_THE_USERS.match(name):
            continue
        with contextlib.suppress(ImportError, AttributeError, ValueError, SyntaxError):
            new = ast.literal_eval(value)
            if operator.attrgetter(name)(importlib.import_module(f"torch._{part}.config")) != new:
                changed.append(f"config.{'' if part == 'inductor' else part + '.'}{name}={new}")
    return changed


def ran(text, path):
    """Where the text stops, having made its module."""
    try:
        exec(compile(DEVICE.sub("device(type='cpu')", text), path, "exec"), {"__name__": "__main__", "__file__": path})
    except Found as found:
        return found
    raise Unsupported("found no call of run_repro(), expected a file of torch.compile's debug tools")


def write(text, path, out, name):
    torch.manual_seed(0)
    with in_place_of_minifier():
        found = ran(text, path)
    near = os.path.dirname(os.path.abspath(path))
    folders = [found.save_dir, near, os.path.join(near, "checkpoints")]
    inputs = Inputs([folder for folder in folders if folder])
    found.load_args(inputs)
    before_autograd = "torch._dynamo.repro.after_dynamo" in text
    write_traced(found.module, inputs.args, before_autograd, os.path.join(out, name), name)


def texts_of(model):
    """The files by name, with their texts."""
    if os.path.isdir(model):
        logs = sorted(glob.glob(os.path.join(model, "dedicated_log_torch_trace_*.log")))
        found = [one for log in logs for one in artifacts(log, "fx_graph_runnable")]
        if not found:
            fail("found no fx_graph_runnable in the logs; PyTorch 2.6 and later write such files when Inductor compiles a graph")
        return {f"graph_{number}_of_{compile_id}": text for number, (compile_id, text) in enumerate(found)}
    with open(model, encoding="utf-8") as file:
        return {os.path.splitext(os.path.basename(model))[0]: file.read()}


def main():
    texts = texts_of(arguments.model)
    settings = {name: settings_of(text) for name, text in texts.items()}  # before a file changes them
    for name, text in texts.items():
        try:
            write(text, arguments.model, arguments.out, name)
            print(json.dumps({"graph": name, "settings": settings[name]}), file=answers, flush=True)
        except Unsupported as error:
            fail(f"{name}: {error}" if os.path.isdir(arguments.model) else str(error))
        except Exception as error:
            traceback.print_exc()
            fail(f"cannot run the file with PyTorch {torch.__version__}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
