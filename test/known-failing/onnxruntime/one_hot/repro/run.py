# ONNX Runtime 1.30.0, CPU: OneHot(x, depth=[1], values=[0, 1]) of float[1] gives 0, expected 1, where x = 0.25.
#
#   pip install onnxruntime==1.30.0 && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x = np.array([0.25], np.float32)
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
y = session.run(["y"], {"x": x})[0].item()
print(ort.__version__, y, "expected:", 1)
sys.exit(int(y != 1))
