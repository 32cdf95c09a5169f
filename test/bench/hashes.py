"""The program of scripts/bench hashes: prints the processor's seconds of one run of a case, the least of several.

    hashes.py CASE REPEATS [OPERATIONS]
"""
import sys
import time

import torch
from torch import nn


class Block(nn.Module):
    """A basic block of ResNet-18."""

    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.shortcut = nn.Sequential()
        if stride != 1 or channels_in != channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels_in, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


def resnet18():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    channels_in = 64
    for channels, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(channels_in, channels, stride), Block(channels, channels, 1)]
        channels_in = channels
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)]
    model, x = nn.Sequential(*layers).eval(), torch.randn(1, 3, 224, 224)
    return lambda: model(x)


def lstm():
    """One step of a language model's two layers."""
    model, x = nn.LSTM(512, 512, num_layers=2).eval(), torch.randn(1, 16, 512)
    state = (torch.zeros(2, 16, 512), torch.zeros(2, 16, 512))
    return lambda: model(x, state)


def small(operations):
    x, y = torch.ones(16), torch.ones(16)

    def run():
        t = x
        for _ in range(operations // 2):
            t = (t + y).relu()

    return run


def large():
    """64 MB, which no cache holds, written by one operation."""
    x, result = torch.ones(1 << 24), torch.empty(1 << 24)
    return lambda: torch.mul(x, 2, out=result)


def main():
    case, repeats = sys.argv[1], int(sys.argv[2])
    torch.manual_seed(0)
    torch.set_num_threads(1)
    run = small(int(sys.argv[3])) if case == "small" else {"resnet18": resnet18, "lstm": lstm, "large": large}[case]()
    least = float("inf")
    with torch.no_grad():
        for _ in range(repeats):
            begin = time.process_time()
            run()
            least = min(least, time.process_time() - begin)
    print(least)


if __name__ == "__main__":
    main()
