"""Transformations of functions: vmap, grad, jacrev, functional_call."""
import torch
from torch.func import functional_call, grad, jacrev, vmap


def f(w, x):
    return (w * x).sin().sum()


def per_sample(w, xs):
    return vmap(grad(f), in_dims=(None, 0))(w, xs)


def model(params, net, x):
    return functional_call(net, params, (x,)).pow(2).mean()


def main():
    w = torch.arange(3.0)
    xs = torch.ones(4, 3)
    g = per_sample(w, xs)
    print(g.sum().item())
    net = torch.nn.Linear(3, 2)
    torch.nn.init.constant_(net.weight, 0.5)
    torch.nn.init.zeros_(net.bias)
    params = dict(net.named_parameters())
    gr = grad(model)(params, net, xs)
    print({k: v.sum().item() for k, v in gr.items()})
    print(jacrev(lambda t: t ** 2)(w).diagonal().tolist())


main()
