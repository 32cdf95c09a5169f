"""Optimizers that work on lists of tensors: each step is a few ops of lists, in place and not."""
import torch
from torch import nn, optim


def step(net, optimizer, x):
    optimizer.zero_grad(set_to_none=False)
    net(x).square().mean().backward()
    optimizer.step()


def main():
    for kind, options in [
        (optim.SGD, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
        (optim.Adam, {"amsgrad": True}),
        (optim.AdamW, {}),
        (optim.RMSprop, {"centered": True}),
        (optim.Adagrad, {}),
    ]:
        torch.manual_seed(1)
        net, x = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), torch.ones(5, 3)
        optimizer = kind(net.parameters(), lr=0.01, foreach=True, **options)
        for _ in range(2):
            step(net, optimizer, x)
        with torch.no_grad():
            print(f"{kind.__name__} {net(x).sum().item():.4f}")


main()
