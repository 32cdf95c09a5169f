"""Two training steps of a small network, with the number of threads as the argument."""
import sys

import torch
from torch import nn


def step(model, optimizer, x, y):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def main():
    torch.manual_seed(0)
    torch.set_num_threads(int(sys.argv[1]))
    model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
                          nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x, y = torch.randn(32, 3, 64, 64), torch.arange(32) % 10
    for _ in range(2):
        loss = step(model, optimizer, x, y)
    print(loss.item())


if __name__ == "__main__":
    main()
