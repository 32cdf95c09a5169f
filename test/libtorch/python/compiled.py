"""A module and a function that torch.compile was given: compiled.py BACKEND."""
import sys

import torch

BACKEND = sys.argv[1]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(4, 8)
        self.b = torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


def scaled(y):
    return y * 2 + 1


def main():
    torch.manual_seed(0)
    net = Net()
    fast = torch.compile(net, backend=BACKEND)
    for n in (3, 3, 5):
        x = torch.ones(n, 4)
        y = fast(x)
        z = scaled(y)
        print([round(v, 3) for v in z.mean(0).tolist()])

    @torch.compile(backend=BACKEND)
    def step(a, b):
        c = torch.sin(a) + b
        if c.sum() > 0:
            return c * 2
        return c - 1
    print(float(step(torch.ones(4), torch.ones(4)).sum()))


main()
