"""Closures that an optimizer calls, and a parameter that nothing reads."""
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(2, 1)
        self.register_buffer("offset", torch.tensor(0.5))
        self.unused = torch.nn.Parameter(torch.zeros(3))

    def forward(self, x):
        return self.lin(x) + self.offset


def closure_for(model, opt, x, y):
    def closure():
        opt.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        return loss
    return closure


def main():
    torch.manual_seed(1)
    model = Model()
    opt = torch.optim.LBFGS(model.parameters(), max_iter=3)
    x = torch.arange(8.0).reshape(4, 2)
    y = x.sum(1, keepdim=True)
    for epoch in range(2):
        loss = opt.step(closure_for(model, opt, x, y))
        print(f"{epoch}: {loss.item():.3f}")
    sched = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(2):
        def closure():
            sched.zero_grad()
            loss = (model(x) - y).abs().mean()
            loss.backward()
            return loss
        sched.step(closure)


main()
