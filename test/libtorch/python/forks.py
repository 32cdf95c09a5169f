"""A scripted module that forks and waits, and what the program does after it."""
import torch


class Fork(torch.nn.Module):
    def branch(self, x):
        y = x.sin()
        return y + 1

    def forward(self, x):
        # Not x itself: the pool's thread may be the last to let it go, when Python has ended already and stops the thread.
        future = torch.jit.fork(self.branch, x.clone())
        y = x.cos()
        return y + torch.jit.wait(future)


class Other(torch.nn.Module):
    def forward(self, x):
        return x.exp()


def after(x):
    return x.tanh() * 2


def main():
    fork, other = torch.jit.script(Fork()), torch.jit.script(Other())
    x = torch.arange(4.0)
    y = fork(x)
    z = after(y)
    w = other(z)
    print("%.4f" % (w.sum() / 3))


main()
