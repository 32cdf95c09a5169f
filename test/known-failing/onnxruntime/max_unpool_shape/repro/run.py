# ONNX Runtime 1.30.0, CPU: MaxUnpool(x0, x1) gives 1, expected 0, at all levels of optimization.
#
#   pip install onnxruntime && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x0 = np.array([[[[1, 1], [1, 1]]]], np.float32)
x1 = np.array([[[[5, 5], [5, 5]]]], np.int64)
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
y = session.run(["y"], {"x0": x0, "x1": x1})[0].flat[5].item()
print(ort.__version__, y, "expected:", 0)
sys.exit(int(not (abs(y - 0) <= 1e-05)))
