# Results whose sizes are data, of other sizes in each call.
import torch


def f(x):
    y = x * 2
    some = torch.masked_select(y, y > 0)
    return y.nonzero().float().sum() + some.sum() + torch.unique(y).sum()


for last in range(3):
    print(f(torch.tensor([1.0, -2.0, float(last), 0.0])).item())
