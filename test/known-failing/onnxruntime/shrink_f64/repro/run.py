# ONNX Runtime 1.30.0, CPU: Shrink(x) of double[1] gives inf, expected 1e+300, where x = 1e+300.
#
#   pip install onnxruntime==1.30.0 && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x = np.array([1e+300], np.float64)
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
y = session.run(["y"], {"x": x})[0].item()
print(ort.__version__, y, "expected:", 1e+300)
sys.exit(int(not (abs(y - 1e+300) <= 1e+293)))
