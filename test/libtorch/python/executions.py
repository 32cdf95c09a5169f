"""Loops inside a function, which is one call of it, and loops around one, which are as many: alike on the stack."""
import threading

import torch
from torch import nn

net = nn.Linear(2, 1)
optimizer = torch.optim.Adam(net.parameters(), 0.1)


def heat(u, times):  # each step begins with a view of what it is given
    for i in range(times):
        inner = u[1:-1]
        inner.add_(u[2:] - inner, alpha=0.25)


def each(tensors):  # of tensors that have nothing to do with each other
    return [t * 2 + 1 for t in tensors]


def halve(tensors):
    for t in tensors:
        t.mul_(0.5)


def fit(x, epochs):
    for epoch in range(epochs):
        loss = ((x * 2) @ net.weight.t()).sum()
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()


def train_step(x, y):  # its weights are those that the last call left
    optimizer.zero_grad(set_to_none=False)
    loss = (net(x) - y).pow(2).mean()
    loss.backward()
    optimizer.step()


def decay(x):  # is given what the last call returned
    return x * 0.5 + 1


def twice(x):
    return x * 2


def grow(h, times):  # what an iteration gives is read by the next one, or returned: all of it are outputs of one graph
    for i in range(times):
        h = h * 2
        s = h.sum()
        if s > 100:
            break
    return s


def worker(x):  # a thread's function is one call, with a loop
    for i in range(3):
        x = torch.tanh(x) + i


def drain(rest, x):  # moves on the iterator of its caller's loop: one call
    for y in rest:
        x = x * 2 + y
    return x


def main():
    u = torch.arange(5.0) * 2
    heat(u, 3)
    x, y = torch.ones(4, 2), torch.zeros(4, 1)
    halve(each([x, y, u]))
    fit(x, 3)
    for epoch in range(4):
        train_step(x, y)
    for i in range(3):
        x = decay(x)
    batches = iter([torch.ones(2), torch.ones(2), torch.ones(2), torch.ones(2)])
    for batch in batches:
        drain(batches, batch)
    grow(y + 1, 3)
    grow(y + 1, 1).item()
    thread = threading.Thread(target=worker, args=(y,))
    thread.start()
    thread.join()
    torch.linalg.matrix_power(torch.eye(2), 5)  # a loop of PyTorch's own
    return x.sum() + sum(map(twice, [u.sum(), y.sum()]))


if __name__ == "__main__":
    print(f"{main().item():.3f}")


def update(x, y):
    net.weight.data.mul_(x.mean()).add_(y.mean())


for x, y in [(torch.ones(2), torch.zeros(2)), (torch.ones(3), torch.ones(3)), (torch.zeros(2), torch.ones(2))]:
    update(x, y)
for i in range(3):
    update(x, y)
print(f"{net.weight.sum().item():.3f}")
