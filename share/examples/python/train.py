# Trains a network for three steps and saves it as TorchScript. To see its graph breaks: explain python3 train.py
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.second = torch.nn.Linear(16, 3)

    def forward(self, x):
        h = torch.relu(self.first(x))
        if h.sum() > 100:
            h = h / h.sum()
        return self.second(h)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}: {loss.item():.3f}")
torch.jit.script(net).save("net.pt")
