# PyTorch 1.13.0, CPU: remainder(abs(x), 67108864) of float[1] in TorchScript with the fuser NNC gives 0, expected 1,
# where x = 1.
#
#   python3 repro.py
import sys

import torch

torch._C._jit_override_can_fuse_on_cpu(True)
torch._C._jit_set_te_must_use_llvm_cpu(False)


def graph(x, w0):
    abs = torch.ops.aten.abs(x)
    return torch.ops.aten.remainder(abs, w0)


x = torch.tensor([1.0])
w0 = torch.tensor([67108864.0])

expected = graph(x, w0)
scripted = torch.jit.script(graph)
for _ in range(2):
    y = scripted(x, w0)
print('TorchScript:', y.tolist(), 'expected, as in eager mode:', expected.tolist())
sys.exit(not torch.allclose(y, expected, 0.0001, 1e-05))
