# Right: f's graph before the break has two outputs, what f returns and the condition. g has one output: x + 1 is dropped.
import torch


def f(x):
    y = torch.relu(x) + 1
    if y.sum() > 1000:
        y = y * 2
    return y


def g(x):
    x + 1
    return x * 2


f(torch.ones(3))
g(torch.ones(3))
