# PyTorch 1.13.0, CPU: div(add(mul(x, 1), mul(x, 1)), 2) of bool[1] in TorchScript gives 0.5, expected 1, where x =
# true.
#
#   python3 repro.py
import sys

import torch


def graph(x):
    mul = torch.ops.aten.mul(x, 1)
    add = torch.ops.aten.add(mul, mul)
    return torch.ops.aten.div(add, 2)


x = torch.tensor([True])

expected = graph(x)
scripted = torch.jit.script(graph)
for _ in range(2):
    y = scripted(x)
print('eager, as expected:', expected.tolist(), 'TorchScript:', y.tolist())
sys.exit(not torch.allclose(y, expected, 0.0001, 1e-05, equal_nan=True))
