# Right: scale is compiled again because n changes, and store because slot changes. The loop reads the variable row.
import torch


def scale(x, n):
    a, b = x * 1, x + 1
    a[0].mul_(2)
    b[0].mul_(n)
    return (a * b).sum()


def store(ring, slot, x):
    ring[slot] = x
    return ring.sum()


def main():
    x, ring = torch.ones(2, 3), torch.zeros(2, 3)
    for n in (4, 5):
        scale(x, n)
    for slot in range(2):
        store(ring, slot, x[0])
    for row in torch.ones(4, 3).unbind(0):
        row += row.new_ones(3)


main()
