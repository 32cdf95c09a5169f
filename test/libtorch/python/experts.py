"""Modules that torch.jit.fork runs on threads: each call is a call, whichever thread ran it."""
from typing import List

import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return torch.relu(self.linear(x)) * 2


class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList([Expert() for _ in range(3)])

    def forward(self, x):
        x = x.clone()  # see forks.py
        futures: List[torch.jit.Future[torch.Tensor]] = []
        for expert in self.experts:
            futures.append(torch.jit.fork(expert, x))
        y = torch.zeros_like(x)
        for future in futures:
            y = y + torch.jit.wait(future)
        return y


def main():
    torch.manual_seed(3)
    mix = torch.jit.script(Mix())
    with torch.no_grad():
        for i in range(4):
            print("%.3f" % mix(torch.full((2, 3), float(i))).sum())


main()
