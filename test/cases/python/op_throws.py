# Right: two functions without another operation have a break each, at line 7 and at line 11, where an operation throws: in multiply
# the operation itself, in reshape a composite that calls no other.
import torch


def multiply(x):
    return torch.mm(x, x)


def reshape(x):
    return x.reshape(7)


for function in (multiply, reshape):
    try:
        function(torch.ones(4, 3))
    except RuntimeError:
        pass
