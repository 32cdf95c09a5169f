"""A training loop: batch norm, dropout, batches that two worker processes load, an optimizer with state."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.fc = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Linear(4 * 6 * 6, 10)

    def forward(self, x):
        x = torch.relu(self.bn(self.conv(x)))
        return self.fc(nn.functional.dropout(x, 0.25, self.training).flatten(1))


def step(net, optimizer, images, labels):
    optimizer.zero_grad(set_to_none=False)
    loss = nn.functional.cross_entropy(net(images), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(1)
    data = TensorDataset(torch.randn(24, 1, 8, 8), torch.arange(24) % 10)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for images, labels in DataLoader(data, batch_size=8, num_workers=2):
        print(f"{step(net, optimizer, images, labels):.4f}")
    net.eval()
    with torch.no_grad():
        print(net(data.tensors[0][:2]).argmax(1).tolist())


if __name__ == "__main__":  # processes that are not forked import this file
    main()
