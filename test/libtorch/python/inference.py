"""A network with a branch on a value, prints, and values that Python reads."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.register_buffer("scale", torch.full((n,), 0.5))

    def forward(self, x):
        return torch.relu(self.fc(x)) * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(8), Block(8))
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        h = self.blocks(x)
        if h.sum() > 100:
            h = h / 2
        print("the first:", h[0, :2])
        return self.head(h).softmax(-1)


def predict(net, x):
    return net(x).argmax(-1).tolist()


def main():
    torch.manual_seed(0)
    net = Net()
    for _ in range(3):
        print(predict(net, torch.randn(4, 8)))
    y = net(torch.ones(2, 8)).detach().numpy()
    print(y.shape, f"{net(torch.ones(1, 8)).max().item():.3f}")


if __name__ == "__main__":
    main()
