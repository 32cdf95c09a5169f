"""Calls of a module from several lines, one execution each; parameters and buffers of which a view is read first.
Calls whose first operation is given no tensor: a loop in one of them, and several from one line."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
        self.scale = nn.Parameter(torch.empty(2))
        nn.init.constant_(self.scale, 0.5)
        self.register_buffer("table", torch.tensor([[1.0, 2.0], [3.0, 4.0]]))

    def forward(self, x, i):
        y = self.table[i] + x @ self.weight.t()
        if y.sum() > 100:
            y = y * 2
        return torch.relu(y) * self.scale.view(1, -1)


def box(corners, x):
    return (corners[:, 1:] - corners[:, :1]) * x + corners[:, :1]


def smooth(x, times):
    for i in range(times):
        step = torch.full((2,), 0.5)
        x = x.sin() * step
    return x


def cell(x, h):
    forget = torch.full((2,), 0.25)
    return x.tanh() + h * forget


def main():
    net = Net()
    x = torch.arange(6.0).view(2, 3)
    a = net(x, 0)
    b = net(x * 2, 1)
    for i in range(2):
        b = b + net(x, i)
    return a + b


with torch.no_grad():
    print(main().tolist())
    print(box(torch.tensor([[1.0, 2.0], [3.0, 5.0]]), torch.ones(2, 1)).tolist())
    print(smooth(torch.tensor([1.0, 2.0]), 3).tolist())
    h = torch.zeros(2)
    for x in torch.arange(6.0).view(3, 2):
        h = cell(x, h)
    print(h.tolist())
