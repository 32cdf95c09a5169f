# PyTorch 1.13.0, CPU: _softmax_backward_data(grad_output, output, dim=1, input_dtype=f32) of float[2, 3] gives 1,
# expected 0.5, where output[2, 3] has strides [1, 2].
#
#   python3 repro.py
import sys

import torch

grad_output = torch.tensor([[-4.0, 4.0, 4.0], [0.0, 4.0, 8.0]])
output = torch.tensor([[0.25, 0.5], [0.25, 0.25], [0.5, 0.25]]).t()

y = torch.ops.aten._softmax_backward_data(grad_output, output, 1, torch.float32)

expected = torch.tensor([[-1.5, 0.5, 1.0], [-1.5, 0.25, 1.25]])
print('y:', y.tolist(), 'expected:', expected.tolist())
sys.exit(not torch.allclose(y, expected, 0.0001, 1e-05))
