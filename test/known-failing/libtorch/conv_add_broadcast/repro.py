# PyTorch 1.13.0, CPU: add(conv2d(x, w1[2, 1, 1, 1]), w0[1, 2]) of float[1, 1, 1, 2] in TorchScript, optimized for
# inference, gives 14, expected 15.
#
#   python3 repro.py
import sys

import torch


class Graph(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('w1', torch.tensor([[[[4.0]]], [[[4.0]]]]))
        self.register_buffer('w0', torch.tensor([[2.0, 3.0]]))

    def forward(self, x):
        conv2d = torch.ops.aten.conv2d(x, self.w1)
        return torch.ops.aten.add(conv2d, self.w0)


x = torch.tensor([[[[-3.0, 3.0]]]])

graph = Graph().eval()
expected = graph(x)
scripted = torch.jit.optimize_for_inference(torch.jit.script(graph))
y = scripted(x)
print('TorchScript:', y.tolist(), 'expected, as in eager mode:', expected.tolist())
sys.exit(not torch.allclose(y, expected, 0.0001, 1e-05))
