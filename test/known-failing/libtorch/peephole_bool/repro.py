# PyTorch 1.13.0, CPU: add(mul(x, 1), mul(x, 1)) of bool[1] in TorchScript gives bool, expected int64.
#
#   python3 repro.py
import sys

import torch


def graph(x):
    mul = torch.ops.aten.mul(x, 1)
    return torch.ops.aten.add(mul, mul)


x = torch.tensor([True])

expected = graph(x)
scripted = torch.jit.script(graph)
y = scripted(x)
print('TorchScript:', y.dtype, 'expected, as in eager mode:', expected.dtype)
sys.exit(y.dtype != expected.dtype)
