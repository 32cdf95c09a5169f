# ONNX Runtime 1.30.0, CPU: Scan<num_scan_inputs=1, body=(x0, x1) -> (x0, Mul(x1, x0))>(x0, x1) of int64[2] x0,
# int64[3, 2] x1 gives other values in each run, expected 1.
#
#   pip install onnxruntime==1.30.0 && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x0 = np.array([1, 1], np.int64)
x1 = np.array([[1, 1], [1, 1], [1, 1]], np.int64)
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
y = session.run(["y"], {"x0": x0, "x1": x1})[0].ravel().tolist()
expected = [1, 1]
wrong = lambda v: any(a != e for a, e in zip(v, expected))
print(ort.__version__, y, "expected:", expected)
sys.exit(int(wrong(y)))
