# PyTorch 1.13.0, CPU: native_layer_norm_backward(grad_out, input, normalized_shape=[4], mean, rstd,
# output_mask=[true, false, false]) gives 0, expected -0.25, where mean[2, 1] has strides [2, 1], rstd[2, 1] has
# strides [2, 1].
#
#   python3 repro.py
import sys

import torch

grad_out = torch.tensor([[-3.0, 3.0, 3.0, -1.0], [1.0, 2.0, 0.0, 4.0]])
input = torch.tensor([[1.0, 1.0, 3.0, 3.0], [-3.0, -3.0, 1.0, 1.0]])
mean = torch.zeros(3).as_strided((2, 1), (2, 1)).copy_(torch.tensor([[2.0], [-1.0]]))
rstd = torch.zeros(3).as_strided((2, 1), (2, 1)).copy_(torch.tensor([[1.0], [0.5]]))

y = torch.ops.aten.native_layer_norm_backward(grad_out, input, [4], mean, rstd, None, None,
    [True, False, False])[0]

expected = torch.tensor([[-3.0, 3.0, 2.0, -2.0], [-0.25, 0.25, -1.0, 1.0]])
print('y:', y.tolist(), 'expected:', expected.tolist())
sys.exit(not torch.allclose(y, expected, 0.0001, 1e-05))
