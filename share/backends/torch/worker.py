#!/usr/bin/env python3
"""A worker (share/doc/reference/backends.md) around PyTorch: graphs of ATen's ops, compiled by torch.compile.

  worker.py [--python=INTERPRETER] [--compiler=NAME] [--runner=python|cpp] [--release VERSION]

NAME is `inductor` (default) or any other backend of torch.compile, or MODULE:FUNCTION, a function that takes a
torch.fx.GraphModule and example inputs and returns a callable, as torch.compile's own backends do. Before PyTorch 2
there is no torch.compile: only `eager` and MODULE:FUNCTION exist. `aoti` is AOTInductor, whose packages are run by the
runner.

Further versions of PyTorch are those that `install` made known.

What can be switched off and limited is what PyTorch's own bisector (torch/_inductor/compiler_bisector.py) of this
release switches off and limits.
"""
import argparse
import ast
import atexit
import contextlib
import importlib
import json
import math
import operator
import os
import shutil
import sys
import tempfile
import traceback

MOST_APPLICATIONS = 9999  # of a pass in a graph

sys.dont_write_bytecode = True  # beside this file

from interpreter import add_interpreter_options, age, fail, find_torch, releases  # noqa: E402

parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--compiler", default="inductor")
parser.add_argument("--runner", default="python")
add_interpreter_options(parser)
arguments = parser.parse_args()
find_torch(arguments, "name an interpreter that has PyTorch: --backend-option python=PATH")

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # compilers print
# What one process compiled is there for no other: no answer depends on earlier runs.
caches = tempfile.mkdtemp(prefix="torchinductor-")
atexit.register(shutil.rmtree, caches, ignore_errors=True)
os.environ["TORCHINDUCTOR_CACHE_DIR"] = caches
sys.path.insert(0, os.getcwd())  # for MODULE:FUNCTION

import torch  # noqa: E402: another interpreter may have it
import torch.fx as fx  # noqa: E402

from graphs import Unsupported, read_question, save_tensors  # noqa: E402

COMPILES = hasattr(torch, "compile")
if COMPILES:
    import torch._dynamo
    import torch._functorch.config
    import torch._inductor.config

# ---- the compiler ---------------------------------------------------------------------------------------------------

AHEAD = "aoti"
LADDER = ["aot_eager_decomp_partition", "inductor", AHEAD]  # each takes the parts of those before it, too
CONFIGS = {
    "inductor": "torch._inductor.config",
    "functorch": "torch._functorch.config",
    "dynamo": "torch._dynamo.config",
    "aot_eager_decomp_partition": "torch._functorch.config",
}


def chosen_compiler(name):
    """The function that compiles, as torch.compile calls it, or an AheadOfTime."""
    if name == AHEAD:
        from aoti import AheadOfTime

        return AheadOfTime(arguments.runner, caches)
    if ":" in name:
        module, function = name.split(":", 1)
        try:
            return getattr(importlib.import_module(module), function)
        except (ImportError, AttributeError) as error:
            fail(f"found compiler '{name}': {error}")
    if not COMPILES:
        if name == "eager":
            return lambda module, inputs: module
        fail(f"found compiler '{name}', expected eager or MODULE:FUNCTION: PyTorch {torch.__version__} has no other compilers")
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
                        prefix = "functorch." if module.__name__ == CONFIGS["functorch"] else ""
                        name = f"{prefix}{part.config_field}={now}"
                        self.switches[name] = (module, part.config_field, part.config_value)
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


@contextlib.contextmanager
def configured(question, parts):
    """PyTorch's configuration as a query asks for it; nothing is taken from earlier queries."""
    if not COMPILES:
        yield
        return
    torch._dynamo.reset()
    patches = configuration(question.get("options", {}), question.get("off", []), parts)
    patches.setdefault(torch._inductor.config, {})["fx_graph_cache"] = False
    if hasattr(torch._functorch.config, "enable_autograd_cache"):
        patches.setdefault(torch._functorch.config, {})["enable_autograd_cache"] = False
    with contextlib.ExitStack() as stack:
        for config, patch in patches.items():
            stack.enter_context(config.patch(patch))
        yield


def compiled(module, inputs, options, compiler, compiles):
    """What the compiled module computes. Calls `compiles` when the compiler is done."""

    def compiling(graph, example_inputs):
        function = compiler(graph, example_inputs)
        compiles()
        return function

    if arguments.compiler == AHEAD:
        return compiler.run(module, inputs, compiles)
    if not COMPILES:
        return compiling(module, inputs)(*inputs)
    dynamic = {"auto": None, "on": True, "off": False}[options.get("dynamic", "auto")]
    return torch.compile(module, backend=compiling, dynamic=dynamic)(*inputs)


def warm_up(compiler, parts):
    """What PyTorch sets up at its first compilation counts as no application of a pass for a graph."""
    if not parts.passes:
        return
    module = fx.symbolic_trace(torch.nn.ReLU())
    with contextlib.suppress(Exception), torch.no_grad(), configured({}, parts):  # a query reports it
        if arguments.compiler == AHEAD:  # Inductor sets up the same for both, and a package takes longer
            torch.compile(module)(torch.ones(1))
        else:
            compiled(module, [torch.ones(1)], {}, compiler, lambda: None)


# ---- questions ------------------------------------------------------------------------------------------------------


def cause_of(error):
    """The exception without those that torch.compile wrapped around it. A C++ compiler's has its words."""
    inner = getattr(error, "inner_exception", None) or error.__cause__
    return cause_of(inner) if inner and type(error).__name__ != "CppCompileError" else error


def words_of(error):
    """The line that tells failures apart, as the exception prints it; without names of files, which vary."""
    cause = cause_of(error)
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()] or [""]
    if type(cause).__name__ == "CppCompileError":
        return next((line[line.index("error: ") :] for line in lines if "error: " in line), lines[0])
    wrapped = cause is not error or not lines[0]
    return f"{type(cause).__name__}: {lines[0]}" if wrapped else lines[0]


def is_missing(error):
    """The machine lacks something that the compiler needs: a Python module, a C++ compiler."""
    missing_module = isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("torch")
    return missing_module or type(error).__name__ == "InvalidCxxCompiler"


def answer(question, say, compiler, parts):
    stage = ["compile"]

    def compiles():
        if stage[0] == "compile":
            stage[0] = "run"
            say(stage="run")

    counts = lambda: {"applied": parts.applied} if parts.applied else {}  # noqa: E731
    parts.limits, parts.applied = question.get("most", {}), {}
    try:
        module, inputs, training = read_question(question)
        with torch.set_grad_enabled(training is not None), configured(question, parts):
            results = compiled(module, inputs, question.get("options", {}), compiler, compiles)
            if training:
                results = [*results, *training.gradients(results)]
        outputs = {str(i): result for i, result in enumerate(results)}
        save_tensors(os.path.join(question["folder"], "outputs.safetensors"), outputs)
        say(ok=True, **counts())
    except Unsupported as error:
        say(error=str(error), stage=stage[0], unsupported=True)
    except Exception as error:
        traceback.print_exc()
        message = words_of(error)
        for folder in (question["folder"], caches):
            message = message.replace(folder, "")
        say(error=message, stage=stage[0], unsupported=is_missing(cause_of(error)), **counts())


def main():
    compiler = chosen_compiler(arguments.compiler)
    parts = Parts(arguments.compiler)
    hello = {
        "whittle": 1,
        "version": f"{torch.__version__} ({arguments.compiler}, Python {sys.version.split()[0]})",
        "format": "json",
        "training": arguments.compiler != AHEAD,
        "switches": {"kind": "setting", "names": list(parts.switches)},
        "levels": [{"name": name, "most": MOST_APPLICATIONS, "counted": True} for name in parts.passes],
    }
    if not arguments.alone:
        own = torch.__version__.split("+")[0]
        names = sorted({own, *releases()}, key=age)
        installer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "install")
        hello["releases"] = {"names": names, "is": own, "install": installer + " PYTHON"}
    if ":" in arguments.compiler:
        file = getattr(sys.modules[arguments.compiler.split(":")[0]], "__file__", None)
        hello["repro"] = {"files": [file] if file else []}
    elif COMPILES:
        hello["repro"] = {"api": "torch", "compiler": arguments.compiler, "program": sys.executable}
        if arguments.compiler == AHEAD and arguments.runner == "cpp":
            hello["repro"]["build"] = compiler.compile_command("run.cpp", "run")
    if COMPILES:
        modes = list(torch._inductor.list_mode_options())
        hello["options"] = {
            "dynamic": {"what": "the argument dynamic= of torch.compile; auto (default): None", "one_of": ["auto", "on", "off"]},
            "mode": {"what": "the argument mode= of torch.compile", "one_of": modes},
            "config.*": "a setting of torch._inductor.config; config.functorch.* and config.dynamo.*: a setting of torch._functorch.config or torch._dynamo.config",
        }
        if arguments.compiler == AHEAD:
            del hello["options"]["dynamic"], hello["options"]["mode"]
    write = lambda said: (answers.write(json.dumps(said) + "\n"), answers.flush())  # noqa: E731
    write(hello)
    warm_up(compiler, parts)
    for line in sys.stdin:
        question = json.loads(line)
        answer(question, lambda **said: write({"id": question["id"], **said}), compiler, parts)


if __name__ == "__main__":
    main()
