"""Which Python interpreter runs PyTorch: the scripts of this folder continue in the one that has it."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys


def fail(message):
    print("error: " + message, file=sys.stderr)
    sys.exit(2)


def releases():
    """The interpreters of further versions, by version, oldest first."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    folder = os.path.join(data, "whittle", "backends", "torch", "releases")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    interpreters = {}
    for name in sorted(names, key=age):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            interpreters[name] = file.read().strip()
    return interpreters


def age(version):
    return [int(number) for number in re.findall("[0-9]+", version)]


def add_interpreter_options(parser):
    parser.add_argument("--python")
    parser.add_argument("--release")
    parser.add_argument("--here", action="store_true")  # in this interpreter
    parser.add_argument("--alone", action="store_true")  # of which the user chose no other version


def become(interpreter, *others):
    """Continues as the same program in another interpreter, which is not to look for yet another one."""
    found = shutil.which(interpreter) or fail("found no interpreter " + interpreter)
    os.execv(found, [found, os.path.abspath(sys.argv[0]), *sys.argv[1:], "--here", *others])


def find_torch(arguments, hint):
    """Returns if this interpreter has PyTorch and is to run; else becomes one that has it, or fails with the hint."""
    if not arguments.here:
        look_elsewhere(arguments)
    if not importlib.util.find_spec("torch"):
        fail(f"found no PyTorch in {sys.executable}; {hint}")


def look_elsewhere(arguments):
    if arguments.python:
        become(arguments.python, "--alone")
    if arguments.release in releases():
        become(releases()[arguments.release])
    virtual = os.environ.get("VIRTUAL_ENV")
    if virtual and os.path.realpath(sys.prefix) != os.path.realpath(virtual):
        become(os.path.join(virtual, "bin", "python"))
    systems = "/usr/bin/python3"  # may have it where another one in PATH has not
    if importlib.util.find_spec("torch") or virtual or not os.path.exists(systems):
        return
    if subprocess.run([systems, "-c", "import importlib.util as u; u.find_spec('torch') or exit(1)"]).returncode == 0:
        become(systems)
