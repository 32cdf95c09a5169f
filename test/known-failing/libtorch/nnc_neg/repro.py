# PyTorch 1.13.0, CPU: reciprocal(neg(x)) of float[1] in TorchScript with the fuser NNC gives inf, expected -inf,
# where x = 0.
#
#   python3 repro.py
import sys

import torch

torch._C._jit_override_can_fuse_on_cpu(True)
torch._C._jit_set_te_must_use_llvm_cpu(False)


def graph(x):
    neg = torch.ops.aten.neg(x)
    return torch.ops.aten.reciprocal(neg)


x = torch.tensor([0.0])

expected = graph(x)
scripted = torch.jit.script(graph)
for _ in range(2):
    y = scripted(x)
print('TorchScript:', y.tolist(), 'expected, as in eager mode:', expected.tolist())
sys.exit(not torch.allclose(y, expected, 0.0001, 1e-05))
