"""Elements that are assigned, and the gradients of a distance and of a norm over groups."""
import torch
from torch import nn


def assigned(x):
    x = x * 2
    x[:, 0] = 5
    x[0, 1:] = torch.tensor(0.5)
    mask = torch.zeros(x.shape, dtype=torch.bool)
    mask[0] = True
    return torch.where(mask, -x, x)


def distance(norm, x, target):
    return nn.functional.l1_loss(norm(x), target)


def main():
    torch.manual_seed(2)
    norm, x = nn.GroupNorm(2, 4), torch.randn(3, 4)
    loss = distance(norm, x, assigned(x))
    loss.backward()
    print(f"{loss.item():.4f} {norm.weight.grad.sum().item():.4f}")


main()
