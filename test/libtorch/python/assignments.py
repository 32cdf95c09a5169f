"""Elements that are assigned, numbers that are changed in place, and the gradients of a distance and of a norm over
groups."""
import torch
from torch import nn


def assigned(x):
    x = x * 2
    x[:, 0] = 5
    x[0, 1:] = torch.tensor(0.5)
    mask = torch.zeros(x.shape, dtype=torch.bool)
    mask[0] = True
    return torch.where(mask, -x, x)


def in_place(n, x):
    n = n * 3
    n <<= 2
    n >>= 1
    n //= 4
    n.gcd_(n + 6).lcm_(n * 2)
    y = x * 3
    y.round_(decimals=1).heaviside_(x)
    y.put_(torch.tensor([0, 3]), torch.tensor([7.0, 8.0]))
    low, high = torch.aminmax(y)
    return n + y.view(torch.int32), high - low


def distance(norm, x, target):
    return nn.functional.l1_loss(norm(x), target)


def main():
    torch.manual_seed(2)
    norm, x = nn.GroupNorm(2, 4), torch.randn(3, 4)
    loss = distance(norm, x, assigned(x))
    loss.backward()
    bits, width = in_place(torch.arange(4), torch.randn(4))
    print(bits.tolist(), width.item())
    print(f"{loss.item():.4f} {norm.weight.grad.sum().item():.4f}")


main()
