"""A function with gradients of its own, hooks, modules that share a parameter, and an exception that the program catches."""
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = torch.nn.Linear(3, 3, bias=False)
        self.dec = torch.nn.Linear(3, 3, bias=False)
        self.dec.weight = self.enc.weight
        self.bn = torch.nn.BatchNorm1d(3)
        self.calls = 0

    def forward(self, x, *, depth=1):
        self.calls += 1
        for _ in range(depth):
            x = torch.relu(self.enc(x))
        return self.dec(self.bn(x))


def train(net, opt, x):
    opt.zero_grad(set_to_none=True)
    loss = Square.apply(net(x, depth=2)).mean()
    loss.backward()
    opt.step()
    return loss.detach()


def main():
    torch.manual_seed(0)
    net = Tied()
    seen = []
    net.bn.register_forward_hook(lambda m, i, o: seen.append(o.mean().detach()))
    opt = torch.optim.AdamW(net.parameters(), lr=0.1)
    x = torch.arange(12.0).reshape(4, 3)
    for _ in range(3):
        loss = train(net, opt, x)
    print(round(loss.item(), 4), len(seen))
    net.eval()
    with torch.inference_mode():
        same = net(x, depth=1)
        print(torch.equal(same, net(x)))
    try:
        net(torch.ones(4, 5))
    except RuntimeError as error:
        print("refused", type(error).__name__)
    print([round(v, 3) for v in net(x).sum(0).tolist()])


main()
