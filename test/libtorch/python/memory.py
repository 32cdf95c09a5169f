"""Writes that other tensors see: through transposed views, from other layouts, to several outputs and parts of complex
numbers, and by batch norm's statistics. A view of what is expanded."""
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


def expanded(x):
    return x.transpose(0, 1).view(6, 4) * 2


def part_of_complex(x):
    y = torch.view_as_complex(torch.stack([x, x + 1], -1))
    y.imag.mul_(2)
    return y.abs()


def several_out(x, values, order):
    torch.sort(x * -1, out=(values, order))
    torch.max(values.view(3, 4), 0, out=(torch.empty(0), torch.empty(0, dtype=torch.long)))
    return values[order]


numbers = torch.arange(12.0)
print(transposed(torch.zeros(3, 4), numbers.view(4, 3)).sum().item())
print(seen_through_strides(torch.zeros(3, 4), numbers.view(4, 3)).tolist())
print(other_layout(torch.zeros(3, 4), numbers.view(4, 3)).tolist())
print(statistics(torch.ones(4, 3), torch.zeros(3), torch.ones(3)).tolist())
print(adopted(torch.zeros(3, 4)).sum().item())
print(through_data(torch.ones(4, 2, requires_grad=True), numbers.view(3, 4)).tolist())
print(resized(numbers).tolist(), resized_out(torch.ones(4), torch.zeros(4)).tolist())
print(made_larger(numbers).tolist())
print(expanded(torch.ones(()).expand(2, 3, 4)).sum().item(), part_of_complex(numbers).sum().item())
print(several_out(numbers, torch.zeros(12), torch.zeros(12, dtype=torch.long)).tolist())
