# ONNX Runtime 1.30.0, CPU: BatchNormalization<training_mode=1>(x0, x1, x1, x1, x1) at opset 14 gives 0.8999939,
# expected 1, where x0 = 1, x1 = 1.
#
#   pip install onnxruntime==1.30.0 && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x0 = np.array([[[[1]]]], np.float32)
x1 = np.array([1], np.float32)
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
y = session.run(["y"], {"x0": x0, "x1": x1})[0].item()
print(ort.__version__, y, "expected:", 1)
sys.exit(int(not (abs(y - 1) <= 0.00011)))
