# ONNX Runtime 1.30.0, CPU: BatchNormalization(Transpose(MatMul(x))) gives 0.1380386, expected 0.03304362, from
# ORT_ENABLE_BASIC on, by MatMul_BatchNormalization_Fusion.
# Right with optimization.disable_specified_optimizers = MatMul_BatchNormalization_Fusion.
#
#   pip install onnxruntime && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x = np.array([[1.53125, -0.28125], [-1.90625, 1.875]], np.float32)
y = {}
for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC"):
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
    y[level] = session.run(["y"], {"x": x})[0].ravel().tolist()
expected = [0.35798043, 0.033043623, 0.7538253, 0.10032606]
wrong = lambda v: any(not (abs(a - e) <= 8.538253e-05) for a, e in zip(v, expected))
print(ort.__version__, y, "expected:", expected)
sys.exit(2 if wrong(y["ORT_DISABLE_ALL"]) else int(wrong(y["ORT_ENABLE_BASIC"])))
