"""Saves a model in each of the ways that TorchScript has into the folder that it is given."""
import sys

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(4), Block(4)])
        self.norm = nn.LayerNorm(4)
        self.register_buffer("shift", torch.ones(4))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.norm(x) + self.shift


folder = sys.argv[1]
torch.manual_seed(1)
net = Net().eval()
torch.jit.script(net).save(folder + "/scripted.pt")
traced = torch.jit.trace(net, torch.randn(2, 4))
traced.save(folder + "/traced.pt")
torch.jit.freeze(torch.jit.script(net)).save(folder + "/frozen.pt")
torch.save(net.state_dict(), folder + "/weights.pt")
