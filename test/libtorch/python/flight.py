"""A training loop whose loss becomes NaN after some hundred steps."""
import torch


def loss(weight, x):
    rest = 1 - (x * weight).sum()
    return torch.log(rest)


def train(steps):
    weight = torch.full((4,), 0.1, requires_grad=True)
    x = torch.ones(4)
    total = 0.0
    for _ in range(steps):
        value = loss(weight, x)
        total += value.item()
        value.backward()
        with torch.no_grad():
            weight -= 1e-4 * weight.grad
            weight.grad = None
    return total / steps


print("loss", train(600))
