# Right: step writes to all 4 parameters (13 elements), which it reaches through data.
import torch
from torch import nn


def step(net, lr):
    for p in net.parameters():
        p.data.sub_(lr * p.grad)


def main():
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    for _ in range(2):
        net.zero_grad()
        net(torch.ones(4, 2)).sum().backward()
        step(net, 0.1)


main()
