# ONNX Runtime 1.30.0, CPU: Shrink(x) of double gives inf, expected 6.696929e+299, at all levels of optimization.
#
#   pip install onnxruntime && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x = np.array([6.696928794914171e+299], np.float64)
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
y = session.run(["y"], {"x": x})[0].item()
print(ort.__version__, y, "expected:", 6.696928794914171e+299)
sys.exit(int(not (abs(y - 6.696928794914171e+299) <= 6.696929e+292)))
