"""The programs of scripts/bench explain: functions of a tensor, with and without graph breaks.

  programs.py list           the names of the programs, and the version of PyTorch
  programs.py run NAME       calls the function, as a user's program does
  programs.py dynamo NAME    the breaks that torch._dynamo.explain reports: [[LINE, REASON], …]
"""
import contextlib
import json
import logging
import os
import random
import sys
import time
import warnings

import torch

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


# ---- values read by the program -------------------------------------------------------------------------------------


@program
def item(x):
    y = x * 2
    scale = y.sum().item()
    return y * scale


@program
def item_in_loop(x):
    total = 0.0
    for row in x:
        total += row.sum().item()
    return x * total


@program
def to_int(x):
    count = int(x.abs().sum())
    return x + count


@program
def to_list(x):
    values = (x + 1).tolist()
    return x * len(values)


@program
def to_numpy(x):
    y = torch.exp(x)
    array = y.numpy()
    return torch.from_numpy(array) + 1


@program
def formatted(x):
    text = f"{x.sum():.2f}"
    return x * len(text)


# ---- branches on values ---------------------------------------------------------------------------------------------


@program
def branch(x):
    y = x + 1
    if y.sum() > 0:
        return y * 2
    return y - 1


@program
def loop_on_value(x):
    y = x.abs() + 1
    while y.sum() < 40:
        y = y * 2
    return y


@program
def asserted(x):
    y = torch.tanh(x)
    assert (y <= 1).all()
    return y + 1


@program
def python_max(x):
    largest = max(x.sum(), x.mean())
    return x - largest


@program
def early_return(x):
    for row in x:
        if row.sum() > 0:
            return row * 2
    return x


# ---- sizes that depend on values ------------------------------------------------------------------------------------


@program
def nonzero(x):
    places = torch.nonzero(x > 0)
    return places * 2


@program
def masked(x):
    chosen = x[x > 0]
    return chosen.exp()


# ---- side effects ---------------------------------------------------------------------------------------------------


@program
def printed(x):
    y = x + 1
    print("a step")
    return torch.relu(y)


@program
def logged(x):
    y = x + 1
    logging.getLogger("explain").warning("a step")
    return torch.relu(y)


@program
def warned(x):
    y = x + 1
    warnings.warn("a step")
    return torch.relu(y)


@program
def written(x):
    y = x + 1
    with open(os.devnull, "w") as file:
        file.write("a step")
    return torch.relu(y)


@program
def timed(x):
    begin = time.perf_counter()
    y = torch.relu(x)
    return y + (time.perf_counter() - begin) * 0


@program
def drawn(x):
    return x * random.random()


COUNT = 0


@program
def counted(x):
    global COUNT
    COUNT += 1
    return x * 2 + 1


# ---- Python's own constructs ----------------------------------------------------------------------------------------


@program
def generator(x):
    parts = (row * 2 for row in x)
    return sum(parts)


@program
def list_mutation(x):
    steps = []
    for i in range(3):
        steps.append(x + i)
    steps.pop(0)
    return torch.stack(steps)


@program
def dict_mutation(x):
    cache = {"x": x}
    cache.setdefault("y", x * 2)
    cache["x"] = cache["x"] + cache.pop("y")
    return cache["x"]


@program
def closure(x):
    scale = x.mean()

    def scaled(value):
        return value * scale

    return scaled(x) + scaled(x + 1)


@program
def caught(x):
    try:
        y = x + 1
        raise ValueError("expected")
    except ValueError:
        return y * 2


@contextlib.contextmanager
def entered():
    yield 2.0


@program
def context_manager(x):
    with entered() as factor:
        y = x * factor
    return y + 1


# ---- PyTorch's own constructs ---------------------------------------------------------------------------------------


class Double(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2

    @staticmethod
    def backward(context, gradient):
        return gradient * 2


@program
def custom_function(x):
    return Double.apply(x) + 1


@program
def in_place(x):
    y = x.clone()
    y[0] += 1
    y.mul_(2)
    return y.relu_()


@program
def without_gradients(x):
    with torch.no_grad():
        y = x * 2
    return y + x


class Hooked(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)


@program
def forward_hook(x):
    module = Hooked()
    module.register_forward_hook(lambda module, inputs, output: output + 1)
    return module(x)


# ---------------------------------------------------------------------------------------------------------------------


def example():
    return torch.linspace(-1, 2, 12).reshape(3, 4)


def breaks_of(function):
    """Of each break the innermost line in this file, and the first line of the reason."""
    from torch._dynamo import explain

    found = []
    for reason in explain(function)(example()).break_reasons:
        if not reason.graph_break:
            continue
        lines = [frame.lineno for frame in reason.user_stack if frame.filename == __file__]
        found.append([lines[-1] if lines else None, reason.reason.strip().splitlines()[0]])
    return found


def main():
    command, *names = sys.argv[1:]
    if command == "list":
        return print(json.dumps({"torch": torch.__version__, "programs": list(PROGRAMS)}))
    function = PROGRAMS[names[0]]
    if command == "run":
        return function(example())
    if not hasattr(torch, "compile"):
        sys.exit(f"PyTorch {torch.__version__} has no torch._dynamo.explain")
    return print(json.dumps(breaks_of(function)))


if __name__ == "__main__":
    main()
