# ONNX Runtime 1.30.0, CPU: BatchNormalization(Transpose(MatMul(x, w1[2, 2])), scale=[2, 3], [2, 3], input_mean=[2,
# 3], input_var=[2, 3]) of float[2, 2] gives 14.72789, expected 16.85638, from ORT_ENABLE_BASIC on, by
# MatMul_BatchNormalization_Fusion.
# Right with optimization.disable_specified_optimizers = MatMul_BatchNormalization_Fusion.
#
#   pip install onnxruntime==1.30.0 && python3 run.py
import sys

import numpy as np
import onnxruntime as ort

x = np.array([[-3, 3], [3, -1]], np.float32)
y = {}
for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC"):
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    session = ort.InferenceSession("model.onnx", options, providers=["CPUExecutionProvider"])
    y[level] = session.run(["y"], {"x": x})[0].ravel().tolist()
expected = [-13.55631, 16.856384, -0.8284199, 11.660239]
wrong = lambda v: any(not (abs(a - e) <= 0.0017) for a, e in zip(v, expected))
print(ort.__version__, y, "expected:", expected)
sys.exit(2 if wrong(y["ORT_DISABLE_ALL"]) else int(wrong(y["ORT_ENABLE_BASIC"])))
