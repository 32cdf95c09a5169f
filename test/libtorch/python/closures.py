# Module's call as PyTorch has it from 2.6 on: an inner function uses `self`, which lies in another cell in each call.
import torch

SOURCE = """
kept = []
def _call_impl(self, *args):
    def inner():
        return self.forward(*args)
    kept.append(inner)
    return inner()
"""
scope = {}
exec(compile(SOURCE, torch.nn.modules.module.__file__, "exec"), scope)
torch.nn.Module.__call__ = scope["_call_impl"]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)

    def forward(self, x):
        return torch.relu(self.layer(x))


torch.manual_seed(0)
net = Net()
for step in range(4):
    net(torch.full((1, 3), float(step)))
