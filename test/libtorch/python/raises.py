"""Ends by an exception of the program's."""
import torch


def grow(x):
    for _ in range(9):
        x = x * 1.5
        if x.max() > 3:
            raise ValueError(f"too large: {x.max().item()}")
    return x


print("before")
grow(torch.ones(4))
