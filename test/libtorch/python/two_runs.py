"""Computes results that depend on the arguments: threads, flush, learning-rate, step, random."""
import sys

import torch

options = sys.argv[1:]


def total(x):
    return (x * 0.1).sum()


def tiny(x):
    return (x * x).sum()


def noise(generator):
    drawn = torch.rand(4, generator=generator)
    return (drawn + 1).sum()


def train(steps, learning_rate):
    torch.manual_seed(0)
    weight = torch.randn(3, 3, requires_grad=True)
    for _ in range(steps):
        loss = (weight @ weight).sum()
        loss.backward()
        with torch.no_grad():
            weight -= learning_rate * weight.grad
            weight.grad = None
    return weight.sum()


def main():
    torch.set_num_threads(2 if "threads" in options else 1)
    torch.set_flush_denormal("flush" in options)
    generator = torch.Generator()
    generator.manual_seed(1 if "random" in options else 0)
    unread = torch.rand(2, generator=generator) * 2
    results = [
        total(torch.linspace(0, 1, 1 << 20)),
        tiny(torch.full((4,), 1e-20)),
        noise(generator),
        train(3 if "step" in options else 2, 0.25 if "learning-rate" in options else 0.125),
    ]
    print(len([result.item() for result in results]), "results,", unread.dim(), "dimension")


if __name__ == "__main__":
    main()
