"""AOTInductor: a module becomes a package, which Python's loader or a C++ program runs."""
import os
import shutil
import signal
import subprocess

import torch

from graphs import Unsupported
from interpreter import fail

RUNNERS = ["python", "cpp"]


class AheadOfTime:
    """`folder`: for the C++ program, which is compiled here and now, and for packages."""

    def __init__(self, runner, folder):
        if not hasattr(getattr(torch, "_inductor", None), "aoti_compile_and_package"):
            fail(f"found PyTorch {torch.__version__}, which has no AOTInductor packages, expected 2.6 or later")
        if runner not in RUNNERS:
            fail(f"found runner '{runner}', expected one of {', '.join(RUNNERS)}")
        self.folder = folder
        self.program = self.build() if runner == "cpp" else None

    def compile_command(self, source, program):
        """What compiles a C++ program that runs packages."""
        from torch.utils import cpp_extension

        includes = [path for folder in cpp_extension.include_paths() for path in ("-isystem", folder)]
        libraries = [flag for folder in cpp_extension.library_paths() for flag in ("-L" + folder, "-Wl,-rpath," + folder)]
        abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"
        command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O0", abi, *includes, source, "-o", program]
        return command + [*libraries, "-ltorch", "-ltorch_cpu", "-lc10", "-ldl", "-lpthread"]

    def build(self):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "aoti_runner.cpp")
        program = os.path.join(self.folder, "aoti_runner")
        command = self.compile_command(source, program)
        if not shutil.which(command[0]):
            fail(f"found no C++ compiler {command[0]}, which runner=cpp needs")
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line] or ["no reason given"]
            fail("cannot compile the program that runs packages: " + errors[0])
        return program

    def run(self, module, inputs, compiles):
        """What the package computes. Calls `compiles` when there is one."""
        try:
            exported = torch.export.export(module, tuple(inputs), strict=False)
        except Exception as error:  # Inductor has not begun
            raise Unsupported(f"torch.export: {type(error).__name__}: {error}") from error
        package = os.path.join(self.folder, "package.pt2")
        torch._inductor.aoti_compile_and_package(exported, package_path=package)
        compiles()
        results = self.run_in_cpp(package, inputs) if self.program else torch._inductor.aoti_load_package(package)(*inputs)
        return [results] if isinstance(results, torch.Tensor) else results

    def run_in_cpp(self, package, inputs):
        stored, computed = (os.path.join(self.folder, name) for name in ("inputs.pt", "outputs.pt"))
        torch.save(list(inputs), stored)
        done = subprocess.run([self.program, package, stored, computed], capture_output=True, text=True)
        if done.returncode < 0:
            raise RuntimeError("the C++ program was killed by " + signal.Signals(-done.returncode).name)
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or f"the C++ program ended with {done.returncode}")
        return torch.load(computed, weights_only=False)
