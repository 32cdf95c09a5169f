"""Writes that other tensors see: through transposed views, from other layouts, and by batch norm's statistics."""
import torch
import torch.nn.functional as F


def transposed(x, y):
    x.t().copy_(y)
    return x.view(2, 6) * 2


def seen_through_strides(x, y):
    x.t().copy_(y)
    return x.as_strided((2, 3), (1, 4), 1) * 2


def other_layout(memory, x):
    memory.copy_(x.t())
    return memory.as_strided((2, 3), (1, 4), 1) * 2


def statistics(x, mean, var):
    F.batch_norm(x, mean, var, training=True)
    return mean * 2


def adopted(x):
    other = torch.zeros(3, 4)
    other.set_(x)
    other[0] = 5
    return x + 1


def through_data(w, x):
    before = x @ w
    w.data[:, 0] = 0
    return before - x @ w


def resized(x):
    y = x * 3
    y.resize_(4)
    return y + 1


def resized_out(x, out):
    torch.add(x, 1, out=out)
    return out.resize_(2, 2) * 2


def made_larger(x):
    y = x * 3
    y.resize_(24)
    return y[:12] + 1


numbers = torch.arange(12.0)
print(transposed(torch.zeros(3, 4), numbers.view(4, 3)).sum().item())
print(seen_through_strides(torch.zeros(3, 4), numbers.view(4, 3)).tolist())
print(other_layout(torch.zeros(3, 4), numbers.view(4, 3)).tolist())
print(statistics(torch.ones(4, 3), torch.zeros(3), torch.ones(3)).tolist())
print(adopted(torch.zeros(3, 4)).sum().item())
print(through_data(torch.ones(4, 2, requires_grad=True), numbers.view(3, 4)).tolist())
print(resized(numbers).tolist(), resized_out(torch.ones(4), torch.zeros(4)).tolist())
print(made_larger(numbers).tolist())
